import { randomBytes } from "node:crypto";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolState } from "../../core/tool-state.ts";
import type { Tool } from "../../core/tool.ts";
import { checkSkillDraft } from "../drafts/check-draft.ts";
import { closed, anyJson, codeProperties, headProperties } from "../drafts/draft-schema.ts";
import { defaultPolicy } from "../forge-parts.ts";
import type { Forge, SkillAnswer } from "../forge-interface.ts";
import { anyObject, toOutput } from "../tools/to-output.ts";
import {
  describeParts,
  findMissing,
  toSkillDraft,
  type PartProblem,
  type SkillParts,
  type SkillStep,
  takeParts,
  type GivenParts,
} from "./skill-parts.ts";

/** How long an unfinished skill is kept: a week. */
const expiresInMs = 7 * 24 * 60 * 60 * 1000;

const next: Readonly<Record<SkillStep, string>> = {
  purpose: 'Say in "purpose" what the skill does and when to use it, in one or two sentences: a model chooses by them',
  name: 'Give it a "name": lower-case words with dashes between them',
  instructions: 'Write "instructions" in Markdown: what to do, in which order, how to tell that it is done',
  tools: 'Give "tools" for steps that a program does better than words, as create_tool takes them; [] for no tools',
  permissions:
    'Say in "permissions" what each tool must reach, by its name: {"my-tool": {"read": ["./data"]}}; {} if they reach nothing',
  examples: 'Give "examples" for each tool, by its name: {"my-tool": [{"input": {…}, "output": …}]}',
  checks: 'Everything is there. Look at "understood"; give a part again to change it, or set "action": "live"',
  live: "It is live",
};

const record = { type: "object", additionalProperties: true };

const input = closed({
  id: {
    type: "string",
    minLength: 1,
    maxLength: 64,
    description: "From the first answer; without it a new one begins",
  },
  action: {
    type: "string",
    enum: ["show", "live", "drop"],
    description: "show: tells where it stands; live: makes the skill; drop: throws it away",
  },
  purpose: { type: "string" },
  name: { type: "string" },
  instructions: { type: "string" },
  tools: {
    type: "array",
    maxItems: 50,
    items: closed({ name: { type: "string" }, ...headProperties, ...codeProperties }, [
      "name",
      "description",
      "language",
      "code",
    ]),
  },
  uses: { type: "array", items: { type: "string" }, description: "Addresses of other tools that it uses" },
  permissions: { ...record, additionalProperties: record },
  examples: {
    ...record,
    additionalProperties: {
      type: "array",
      items: closed({ description: { type: "string" }, input: record, output: anyJson }, ["input"]),
    },
  },
});

interface StepInput extends GivenParts {
  readonly id?: string;
  readonly action?: "show" | "live" | "drop";
}

/** What is kept of a skill that is being made. */
interface Kept {
  readonly parts: SkillParts;
  /** Once it is live. */
  readonly live?: JsonObject;
  /** It waits for a person. */
  readonly waits?: boolean;
}

/**
 * Makes the tool that makes a skill step by step. What was said is kept in the tool's state, by an id that cannot be guessed, so
 * any caller with the id can continue: in another client, and after a restart if the workspace's store outlives it.
 */
export function createStepTool(forge: Forge): Tool {
  return defineTool({
    name: "create_skill_step",
    title: "Create a skill, step by step",
    description:
      'Makes a skill in steps: purpose, name, instructions, tools, permissions, examples, checks, live. Begin with {"purpose": "…"}; every answer has the "id" to go on with, what was understood, what is wrong, what is missing and what comes next. Give any part again to go back and change it. It is kept for a week. {"id": "…", "action": "live"} makes the skill through the same gate as create_skill.',
    input,
    output: anyObject,
    limits: { limitMs: 600_000 },
    async run(given, { state, signal, call }): Promise<JsonObject> {
      const { id: asked, action, ...parts } = given as unknown as StepInput;
      const id = asked ?? randomBytes(12).toString("hex");
      if (action === "drop") return { id, dropped: await state.delete(id) };
      const taken = forge.workspace.getSkills().map(({ skill }) => skill.name);
      const { kept, problems } = await takeStep(state, { id, isNew: asked === undefined, given: parts, taken });
      if (kept.live !== undefined) return { id, step: "live", ...kept.live, next: next.live };
      const { name } = kept.parts;
      // A person may have agreed since.
      if (kept.waits === true && name !== undefined && taken.includes(name)) {
        return { id, step: "live", status: "live", name, path: `.kitbag/skills/${name}`, next: next.live };
      }
      if (action !== "live") return toAnswer(id, kept.parts, problems);
      const wrong = [...problems, ...findWrong(kept.parts)];
      if (wrong.length > 0) return toAnswer(id, kept.parts, wrong);
      const answer = await forge.createSkill(toSkillDraft(kept.parts), { signal, call });
      if (answer.status === "refused") return toAnswer(id, kept.parts, toProblems(answer));
      if (answer.status === "waiting") {
        await state.set(id, { parts: kept.parts, waits: true } as unknown as JsonValue, { expiresInMs });
        const { id: approval, ...told } = toOutput(answer);
        return { id, step: "live", ...told, approval } as JsonObject;
      }
      const live = answer as unknown as JsonObject;
      await state.set(id, { parts: kept.parts, live } as unknown as JsonValue, { expiresInMs });
      return { id, step: "live", ...live, next: next.live };
    },
  });
}

interface Step {
  readonly id: string;
  readonly isNew: boolean;
  readonly given: GivenParts;
  readonly taken: readonly string[];
}

/** Two at once do not lose what the other said: each is taken into what is there then. */
async function takeStep(
  state: ToolState,
  { id, isNew, given, taken }: Step,
): Promise<{ readonly kept: Kept; readonly problems: readonly PartProblem[] }> {
  let problems: readonly PartProblem[] = [];
  const kept = await state.update(
    id,
    (value) => {
      if (value === undefined && !isNew) throw unknownId(id);
      const before = (value ?? { parts: {} }) as unknown as Kept;
      if (before.live !== undefined) return value;
      const next = takeParts(before.parts, given, taken);
      problems = next.problems;
      // What waits is what was said before.
      const waits = before.waits === true && Object.keys(given).length === 0;
      return { parts: next.parts, ...(waits && { waits }) } as unknown as JsonValue;
    },
    { expiresInMs },
  );
  return { kept: kept as unknown as Kept, problems };
}

function unknownId(id: string): KitbagError {
  const expected = 'an id that an answer told within the last week; leave it out and give "purpose" to begin anew';
  return new KitbagError("input-invalid", {
    tool: "create_skill_step",
    problems: [{ path: "id", expected, found: JSON.stringify(id.slice(0, 64)) }],
  });
}

function findWrong(parts: SkillParts): readonly PartProblem[] {
  const missing = findMissing(parts);
  if (missing.length > 0) return missing.map((part) => ({ part, message: `${part}: it is missing` }));
  const checked = checkSkillDraft(toSkillDraft(parts), defaultPolicy);
  return checked.ok ? [] : checked.diagnostics.map(({ message }) => ({ part: "checks", message }));
}

const partOf: Readonly<Record<string, SkillStep>> = {
  "name-taken": "name",
  "name-invalid": "name",
  "approval-denied": "permissions",
  "example-failed": "examples",
};

function toProblems({ diagnostics }: Extract<SkillAnswer, { status: "refused" }>): readonly PartProblem[] {
  return diagnostics.map(({ code, message, cure }) => ({
    part: partOf[code] ?? "tools",
    message: cure === undefined ? message : `${message}; ${cure}`,
  }));
}

function toAnswer(id: string, parts: SkillParts, problems: readonly PartProblem[]): JsonObject {
  const missing = findMissing(parts);
  const step = problems[0]?.part ?? missing[0] ?? "checks";
  return {
    id,
    step,
    understood: describeParts(parts),
    problems: problems as unknown as JsonValue,
    missing,
    next: problems.length > 0 ? `Repair what "problems" says, and go on with the same id. ${next[step]}` : next[step],
  };
}
