import type { JsonObject } from "../../core/json.ts";
import type { Skill } from "../../core/skill.ts";
import type { CallOptions } from "../call/call-options.ts";
import { describeSkill } from "../skills/describe-skill.ts";
import { renderInstructions } from "../skills/render-instructions.ts";
import { createDispatchTool, done, failed, type DispatchTool } from "./dispatch-tool.ts";
import { toDeclaration, type DispatchView } from "./dispatch-view.ts";
import { firstLine } from "./tool-dispatch.ts";

const readOnly = { readOnly: true, idempotent: true } as const;
const ofSkill = { name: { type: "string", minLength: 1, description: "The name of the skill" } } as const;

const listProperties = {
  offset: { type: "integer", minimum: 0, default: 0, description: "Where to go on: next of the answer before" },
} as const;

/** Makes the tool that lists skills. */
export function listSkills(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "list_skills",
    description:
      "Lists all skills: instructions and tools for one kind of work each. Open one with activate_skill before such work.",
    properties: listProperties,
    annotations: readOnly,
    run(input) {
      const offset = input["offset"] as number;
      const all = view.skills();
      const open = new Set(view.session.getActiveSkills());
      const next = offset + pageLength;
      const skills = all.slice(offset, next).map((skill) => ({
        name: skill.name,
        description: firstLine(describeSkill(skill)),
        open: open.has(skill.name),
      }));
      return done({ skills, ...(next < all.length && { next, count: all.length }) });
    },
  });
}

/** So many skills are listed at once. */
const pageLength = 50;

/** So many files are listed with a skill. */
const mostFiles = 200;

/** Makes the tool that reads a skill without opening it. */
export function readSkill(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "read_skill",
    description:
      "Reads a skill without opening it: its instructions, its tools and its files. To do what it says, open it with activate_skill.",
    properties: ofSkill,
    required: ["name"],
    annotations: readOnly,
    run(input) {
      const skill = view.findReadable(nameIn(input));
      const files = skill.folder?.files ?? [];
      return done({
        name: skill.name,
        description: skill.description,
        open: view.isOpen(skill.name),
        // Reading runs nothing: commands in the text stay as they are written.
        instructions: renderInstructions(skill, (address) => view.getTool(address)?.wireName, ""),
        tools: skill.tools.map((tool) => ({ name: tool.name, description: firstLine(tool.description) })),
        files: files.slice(0, mostFiles).map(({ path, bytes }) => ({ path, bytes })),
        ...(files.length > mostFiles && { moreFiles: files.length - mostFiles }),
      });
    },
  });
}

/** Makes the tool that opens a skill. */
export function activateSkill(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "activate_skill",
    description:
      "Opens a skill and answers with its instructions; its tools can be called from now on. Do it as soon as the work is what the skill is for.",
    properties: ofSkill,
    required: ["name"],
    annotations: { idempotent: true },
    run: (input, context) => activate(view, view.findSkill(nameIn(input)), context),
  });
}

async function activate(
  { session }: DispatchView,
  skill: Skill,
  context: CallOptions,
): ReturnType<DispatchTool["run"]> {
  const { signal, user, approve, approveIfNobody, refuse, scopes, onEvent } = context;
  const outcome = await session.activateSkill(skill.name, signal === undefined ? {} : { signal });
  if (outcome.status === "failed") return failed(outcome.error);
  const { opened, closed, warnings } = outcome;
  const owners = new Set([skill.name, ...opened]);
  const tools = session.getActiveSkillTools().filter((entry) => owners.has(entry.owner));
  const instructions = await session.invokeSkill(skill.name, "", {
    ...(signal !== undefined && { signal }),
    ...(user !== undefined && { user }),
    ...(approve !== undefined && { approve }),
    ...(approveIfNobody !== undefined && { approveIfNobody }),
    ...(refuse !== undefined && { refuse }),
    ...(scopes !== undefined && { scopes }),
    ...(onEvent !== undefined && { onEvent }),
  });
  return done({
    instructions,
    tools: tools.map(toDeclaration),
    opened,
    closed,
    ...(warnings.length > 0 && { warnings: warnings.map(({ message }) => message) }),
  });
}

/** Makes the tool that closes a skill. */
export function deactivateSkill(view: DispatchView): DispatchTool {
  return createDispatchTool({
    name: "deactivate_skill",
    description: "Closes a skill that is no longer needed; its tools cannot be called any more.",
    properties: ofSkill,
    required: ["name"],
    annotations: { idempotent: true },
    async run(input, { signal }) {
      const skill = view.findSkill(nameIn(input));
      const outcome = await view.session.deactivateSkill(skill.name, signal === undefined ? {} : { signal });
      if (outcome.status === "failed") return failed(outcome.error);
      const { closed, warnings } = outcome;
      return done({ closed, ...(warnings.length > 0 && { warnings: warnings.map(({ message }) => message) }) });
    },
  });
}

function nameIn(input: JsonObject): string {
  return input["name"] as string;
}
