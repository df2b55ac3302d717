import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Tool } from "../../core/tool.ts";
import { isThereFor } from "../../core/scopes.ts";
import type {
  ChangeOptions,
  ExampleResult,
  Forge,
  ForgeAnswer,
  SkillAnswer,
  UpdateOptions,
} from "../forge-interface.ts";
import { adviseExample, toReasons } from "../creation/answer.ts";
import { checkSeen, type Ownership } from "../owners.ts";
import { anyObject, expectedVersion, toolName, toOutput } from "./to-output.ts";
import { closed } from "../drafts/draft-schema.ts";

interface VersionInput {
  readonly name: string;
  readonly version?: string;
  readonly expectedVersion?: string;
  readonly undo?: boolean;
}

const version = { type: "string", description: "Such as 1.2.0; by default the live one" };

const eitherName = { ...toolName, description: "The name of a tool or a skill that was made here" };

/** Makes the tools that look at versions, and go back and forth between them. */
export function createVersionTools(forge: Forge): readonly Tool[] {
  return [testTool(forge), listVersions(forge), rollbackTool(forge), deleteTool(forge), deleteSkill(forge)];
}

function testTool(forge: Forge): Tool {
  return defineTool({
    name: "test_tool",
    title: "Test a tool",
    description:
      "Runs the examples of a tool that was made here in the sandbox and tells what came of each. Fails if one does not pass.",
    input: closed({ name: toolName, version }, ["name"]),
    output: anyObject,
    limits: { limitMs: 600_000 },
    async run(given, { signal, call, availableTools }) {
      const { name, version: which } = given as unknown as VersionInput;
      const known = availableTools().map(({ address }) => address);
      // Examples are calls of it: who may not call it has no such tool.
      if (forge.workspace.isToolAvailable(name) && !known.includes(name)) {
        throw new KitbagError("tool-not-found", {
          tool: name,
          nearest: nearestNames(name, known),
          count: known.length,
        });
      }
      const report = await forge.testTool(name, { signal, call, ...(which !== undefined && { version: which }) });
      const failed = report.examples.filter((one) => !one.passed);
      if (failed.length > 0) {
        const head = `${failed.length} of ${report.examples.length} examples did not pass`;
        throw new KitbagError("draft-refused", { name, reasons: [head, ...failed.map(adviseExample)] });
      }
      return { ...report, examples: report.examples.map(toShort) };
    },
  });
}

function toShort({ index, passed, durationMs }: ExampleResult): JsonObject {
  return { index, passed, durationMs };
}

function listVersions(forge: Forge): Tool {
  return defineTool({
    name: "list_versions",
    title: "List versions",
    description:
      "Tells every version of a tool or a skill that was made here, the oldest first, which one is live, what happened to it, and the draft of one version with its code. Tools of a skill have the versions of the skill. Without a name it lists the tools and skills that were made here.",
    input: closed({ name: eitherName, version: { ...version, description: "Tells the draft of this one" } }),
    output: anyObject,
    annotations: { readOnly: true, idempotent: true },
    async run(given, { user }): Promise<JsonObject> {
      const { name, version: which } = given as unknown as Partial<VersionInput>;
      const { workspace } = forge;
      const isSeen = (made: Ownership): boolean => user === undefined || isThereFor(made, workspace.ownerOf(user));
      const [tools, skills] = [forge.listTools(), forge.listSkills()];
      if (name === undefined)
        return { tools: tools.filter(isSeen), skills: skills.filter(isSeen) } as unknown as JsonObject;
      const skill = findSkill(forge, name);
      if (skill !== undefined) {
        const { owner, shared } = skills.find((one) => one.name === skill) ?? {};
        checkSeen(workspace, { kind: "skill", name: skill, owner, shared }, user);
        return describeSkill(forge, skill, which);
      }
      const { owner, shared } = tools.find((one) => one.name === name) ?? {};
      checkSeen(workspace, { kind: "tool", name, owner, shared }, user);
      const [versions, history] = await Promise.all([forge.listVersions(name), forge.history(name)]);
      const draft = await forge.readDraft(name, which);
      return { name, versions, history, draft } as unknown as JsonObject;
    },
  });
}

/** The skill that a name means, itself or of one of its tools, if it was made here; a tool that was made here goes before it. */
function findSkill(forge: Forge, name: string): string | undefined {
  if (forge.listTools().some((tool) => tool.name === name)) return undefined;
  const [owner] = name.split("/", 1);
  return forge.listSkills().find((skill) => skill.name === owner)?.name;
}

async function describeSkill(forge: Forge, name: string, which: string | undefined): Promise<JsonObject> {
  const [versions, history] = await Promise.all([forge.listSkillVersions(name), forge.skillHistory(name)]);
  const draft = await forge.readSkillDraft(name, which);
  return { name, versions, history, ...(draft !== undefined && { draft }) } as unknown as JsonObject;
}

function rollbackTool(forge: Forge): Tool {
  return defineTool({
    name: "rollback_tool",
    title: "Roll back a tool",
    description:
      "Makes an earlier version of a tool, or of a skill with all its tools, the live one again. Nothing is lost: the version of now stays, too.",
    input: closed({ name: eitherName, version: { type: "string", description: "Such as 1.0.0" }, expectedVersion }, [
      "name",
      "version",
    ]),
    output: anyObject,
    annotations: { idempotent: true },
    async run(given, { call }) {
      const { name, version: which = "", expectedVersion: expected } = given as unknown as VersionInput;
      const options = { call, ...(expected !== undefined && { expectedVersion: expected }) };
      const skill = findSkill(forge, name);
      if (skill === undefined) return toOutput(await forge.rollbackTool(name, which, options));
      if (skill === name) return toOutput(await forge.rollbackSkill(skill, which, options));
      const reason = `the tools of a skill share its version; roll back all of it, with the name ${JSON.stringify(skill)}`;
      throw new KitbagError("draft-refused", { name, reasons: [reason] });
    },
  });
}

function deleteTool(forge: Forge): Tool {
  return defineDeletion({
    name: "delete_tool",
    title: "Delete a tool",
    does: "Takes a tool that was made here out.",
    named: toolName,
    remove: forge.deleteTool,
    restore: forge.restoreTool,
    list: forge.listTools,
  });
}

function deleteSkill(forge: Forge): Tool {
  return defineDeletion({
    name: "delete_skill",
    title: "Delete a skill",
    does: "Takes a skill that was made here out, with its tools.",
    named: { ...toolName, description: "The name of a skill that was made here" },
    remove: forge.deleteSkill,
    restore: forge.restoreSkill,
    list: forge.listSkills,
  });
}

/** A deletion that can be undone. */
interface Deletion {
  readonly name: string;
  readonly title: string;
  readonly does: string;
  readonly named: JsonObject;
  readonly remove: (name: string, options: UpdateOptions) => Promise<object>;
  readonly restore: (name: string, options: ChangeOptions) => Promise<ForgeAnswer | SkillAnswer>;
  readonly list: () => Made;
}

function defineDeletion({ name: tool, title, does, named, remove, restore, list }: Deletion): Tool {
  return defineTool({
    name: tool,
    title,
    description: `${does} It can be undone: the same call with "undo": true brings it back.`,
    input: closed({ name: named, expectedVersion, undo: { type: "boolean", description: "Brings it back instead" } }, [
      "name",
    ]),
    output: anyObject,
    annotations: { destructive: true, idempotent: false },
    async run(given, { call }): Promise<JsonObject> {
      const { name, undo, expectedVersion: expected } = given as unknown as VersionInput;
      if (undo === true) return toRestored(await restore(name, { call }), list());
      const deleted = await remove(name, { call, ...(expected !== undefined && { expectedVersion: expected }) });
      return { status: "deleted", ...deleted, undo: `${tool} {"name": ${JSON.stringify(name)}, "undo": true}` };
    },
  });
}

/** Tools or skills that were made here. */
type Made = readonly { readonly name: string; readonly status: string; readonly version?: string }[];

/** A tool that is not trusted is back as it was: it does not run, and that is no failure. */
function toRestored(answer: ForgeAnswer | SkillAnswer, all: Made): JsonObject {
  const back = all.find(({ name, status }) => name === answer.name && status === "untrusted");
  if (answer.status !== "refused" || back === undefined) return toOutput(answer);
  const { name, version = "" } = back;
  return { status: "restored", name, version, note: toReasons(answer.diagnostics).join("\n") };
}
