import { KitbagError } from "../../core/errors.ts";
import { operation, type OperationContext } from "../operation.ts";
import { listOf, skillShape, toSkillSummary } from "../shapes.ts";

const opened = {
  type: "object",
  properties: {
    open: { type: "array", items: { type: "string" }, description: "The skills that are open in the session now" },
  },
  required: ["open"],
} as const;

/** Skills: which there are, what they say, and which are open in the caller's session. */
export const skillOperations = {
  "skills.list": operation("skills.list", {
    summary: "Lists the skills, and which of them are open in your session.",
    answer: listOf("Skills by name", skillShape),
    handle: ({ session }) => ({
      items: session
        .getSkills()
        .map(({ skill, active }) => toSkillSummary(skill, active))
        .toSorted((left, right) => (left.name < right.name ? -1 : 1)),
    }),
  }),
  "skills.get": operation("skills.get", {
    summary: "Reads a skill with its instructions and files.",
    answer: {
      type: "object",
      properties: {
        ...skillShape.properties,
        instructions: { type: "string" },
        files: {
          type: "array",
          items: {
            type: "object",
            properties: { path: { type: "string" }, bytes: { type: "integer" } },
            required: ["path", "bytes"],
          },
        },
      },
      required: [...skillShape.required, "instructions", "files"],
    },
    handle({ session }, { name }) {
      const state = session.getSkills().find(({ skill }) => skill.name === name);
      if (state === undefined) throw missingSkill(name);
      return {
        ...toSkillSummary(state.skill, state.active),
        // As it is written: reading runs no command of the text.
        instructions: state.skill.instructions,
        files: (state.skill.folder?.files ?? []).map(({ path, bytes }) => ({ path, bytes })),
      };
    },
  }),
  "skills.open": operation("skills.open", {
    summary: "Opens a skill in your session: its tools can be called from now on.",
    answer: opened,
    async handle(context, { name }) {
      const outcome = await context.session.activateSkill(name);
      if (outcome.status === "failed") throw new KitbagError(outcome.error.code, outcome.error.details);
      return toOpen(context);
    },
  }),
  "skills.close": operation("skills.close", {
    summary: "Closes a skill in your session.",
    answer: opened,
    async handle(context, { name }) {
      const outcome = await context.session.deactivateSkill(name);
      if (outcome.status === "failed") throw new KitbagError(outcome.error.code, outcome.error.details);
      return toOpen(context);
    },
  }),
} as const;

function toOpen({ session }: OperationContext): { readonly open: readonly string[] } {
  return { open: [...session.getActiveSkills()] };
}

function missingSkill(skill: string): KitbagError<"skill-not-found"> {
  return new KitbagError("skill-not-found", { skill, nearest: [], count: 0 });
}
