import { defineTool, toMetaTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolState } from "../../core/tool-state.ts";
import type { Tool } from "../../core/tool.ts";
import { findLimitedCaller } from "../../workspace/call/authority.ts";
import {
  closed,
  anyJson,
  codeProperties,
  pipelineDraftSchema,
  pipelineProperties,
  skillProperties,
  skillRequired,
  toolDraftSchema,
  toolProperties,
} from "../drafts/draft-schema.ts";
import type { Forge } from "../forge-interface.ts";
import { anyObject, expectedVersion, toolName, toOutput } from "./to-output.ts";
import { createVersionTools } from "./version-tools.ts";
import type { CodeDraft, PipelineDraft, SkillDraft, ToolChanges } from "../drafts/tool-draft.ts";

/**
 * Makes the tools with which a model makes tools: `create_tool`, `update_tool`, `test_tool`, `list_versions`, `rollback_tool`,
 * `delete_tool`, `create_pipeline`, `create_skill`, `delete_skill` and `tool_state`. Add them to the forge's workspace. A draft that
 * does not pass is a failed outcome that says what to change.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createWorkspace } from "kitbag";
 * import { createForgeTools, openForge } from "kitbag/forge";
 *
 * const workspace = createWorkspace();
 * const directory = mkdtempSync(join(tmpdir(), "forge-"));
 * const forge = await openForge({ workspace, directory, home: join(directory, "home") });
 * for (const tool of createForgeTools(forge)) workspace.add(tool);
 *
 * const outcome = await workspace.call("create_tool", { name: "../x", description: "?", language: "bash", code: "ls", examples: [] });
 * console.assert(outcome.status === "failed" && outcome.error.code === "draft-refused");
 * await forge.close();
 * ```
 */
export function createForgeTools(forge: Forge): readonly Tool[] {
  return [...createDraftTools(forge), ...createVersionTools(forge), createStateTool(forge)].map(toMetaTool);
}

interface StateInput {
  readonly action: "get" | "set" | "list" | "delete";
  readonly tool: string;
  readonly key?: string;
  readonly value?: JsonValue;
  readonly prefix?: string;
  readonly after?: string;
}

/** Makes the tool that looks at what tools keep from one call to the next. */
function createStateTool(forge: Forge): Tool {
  return defineTool({
    name: "tool_state",
    title: "State of a tool",
    description:
      "Gets, sets, lists or deletes what a tool keeps from one call to the next (in Python: import kitbag; kitbag.state.get(key)). Values are JSON.",
    input: closed(
      {
        action: { type: "string", enum: ["get", "set", "list", "delete"] },
        tool: { type: "string", minLength: 1, description: "The address of the tool" },
        key: { type: "string", minLength: 1, description: "Needed but for list" },
        value: { ...anyJson, description: "What to set: any JSON" },
        prefix: { type: "string", description: "For list: only keys that begin so" },
        after: { type: "string", description: "For list: only keys after this one" },
      },
      ["action", "tool"],
    ),
    output: anyObject,
    async run(given, { call, user }): Promise<JsonObject> {
      const input = given as unknown as StateInput;
      const state = forge.state(input.tool, { user });
      const found = forge.workspace.getTool(input.tool);
      // What a tool keeps is part of what it does: a caller who may not call the tool may not look at it, nor change it.
      const failure = found && findLimitedCaller(call)?.refuse(found);
      if (failure !== undefined) throw new KitbagError(failure.code, failure.details);
      return useState(state, input);
    },
  });
}

async function useState(state: ToolState, input: StateInput): Promise<JsonObject> {
  const { action, key, value, prefix = "", after = "" } = input;
  if (action === "list") {
    const entries = await state.list(prefix, { after });
    return { entries: entries.map((entry) => ({ key: entry.key, value: entry.value })) };
  }
  if (key === undefined) throw missing("key", action);
  if (action === "set") {
    if (value === undefined) throw missing("value", action);
    return { key, version: await state.set(key, value) };
  }
  if (action === "delete") return { key, deleted: await state.delete(key) };
  const found = await state.get(key);
  return found === undefined ? { key, found: false } : { key, found: true, value: found };
}

function missing(part: string, action: string): KitbagError {
  const problems = [{ path: part, expected: `a ${part} to ${action}`, found: "nothing" }];
  return new KitbagError("input-invalid", { tool: "tool_state", problems });
}

/** Building and trying a draft may take long: compilers, packages, many examples. */
const limits = { limitMs: 600_000 };

const createDescription = `Makes a new tool out of code. It is built and its examples are run in a sandbox; only if all pass it is live at once, as a tool of its own. Otherwise nothing is kept and the failure says what to change.
The program reads one JSON object from standard input and prints its output. A whole Python tool:
{"name": "count-words", "description": "Counts the words of a text", "language": "python",
 "code": "import json, sys\\narguments = json.load(sys.stdin)\\nprint(json.dumps({\\"words\\": len(arguments[\\"text\\"].split())}))",
 "input": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
 "output": {"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]},
 "annotations": {"readOnly": true},
 "examples": [{"input": {"text": "one two"}, "output": {"words": 2}}]}
Without "output" the result is the text that it prints. It has no network, no files and no environment unless "permissions" say so.`;

const updateDescription = `Makes the next version of a tool that was made here: give only what changes; null takes a part away. The same checks hold as for create_tool. The version number follows from what changed, recorded calls are made again and differences are told. Earlier versions stay callable (call_tool with "version") and rollback_tool brings one back.`;

/** Makes the tools that make and change tools. */
function createDraftTools(forge: Forge): readonly Tool[] {
  return [createTool(forge), updateTool(forge), createPipeline(forge), createSkill(forge)];
}

function createTool(forge: Forge): Tool {
  return defineTool({
    name: "create_tool",
    title: "Create a tool",
    description: createDescription,
    input: toolDraftSchema,
    output: anyObject,
    limits,
    run: async (draft, { signal, call }) =>
      toOutput(await forge.createTool(draft as unknown as CodeDraft, { signal, call })),
  });
}

function updateTool(forge: Forge): Tool {
  const parts = { ...toolProperties, ...codeProperties, ...pipelineProperties };
  return defineTool({
    name: "update_tool",
    title: "Change a tool",
    description: updateDescription,
    input: closed({ name: toolName, changes: { ...closed(toOptional(parts)), minProperties: 1 }, expectedVersion }, [
      "name",
      "changes",
    ]),
    output: anyObject,
    limits,
    async run(given, { signal, call }) {
      const { name, changes, expectedVersion: expected } = given as unknown as UpdateInput;
      const options = { signal, call, ...(expected !== undefined && { expectedVersion: expected }) };
      return toOutput(await forge.updateTool(name, changes, options));
    },
  });
}

interface UpdateInput {
  readonly name: string;
  readonly changes: ToolChanges;
  readonly expectedVersion?: string;
}

/** Each part may be there, or be taken away. What is in it is checked with the whole draft. */
function toOptional(parts: JsonObject): JsonObject {
  const open = Object.entries(parts).map(([name, schema]) => {
    const { type, description, enum: values } = schema as JsonObject;
    // Anything may be null already.
    if (type === undefined) return [name, schema];
    const words = description === undefined ? {} : { description };
    const part = {
      type,
      ...(values !== undefined && { enum: values }),
      ...(type === "object" && { additionalProperties: true }),
    };
    return [name, { anyOf: [part, { type: "null" }], ...words }];
  });
  return Object.fromEntries(open) as JsonObject;
}

function createPipeline(forge: Forge): Tool {
  return defineTool({
    name: "create_pipeline",
    title: "Create a pipeline",
    description: `Makes a tool out of calls of other tools, which must be there; steps that do not need each other run at the same time. Example: {"name": "report", "description": "Counts and shouts", "steps": [{"id": "count", "tool": "count-words", "args": {"text": "$input.text"}}], "result": {"text": "There are \${count.words} words"}, "examples": [{"input": {"text": "a b"}}]}. Its examples are run before it is live.`,
    input: pipelineDraftSchema,
    output: anyObject,
    limits,
    run: async (draft, { signal, call }) =>
      toOutput(await forge.createPipeline(draft as unknown as PipelineDraft, { signal, call })),
  });
}

function createSkill(forge: Forge): Tool {
  return defineTool({
    name: "create_skill",
    title: "Create a skill",
    description:
      'Makes a skill: instructions for a kind of work, with tools of its own that exist while it is open. It is checked and its tools\' examples are run first; then activate_skill opens it. If its tools ask for permissions that the policy does not grant, it waits for a person. With "replace": true it is the next version of a skill that was made here: give the whole draft (list_versions tells that of now). Earlier versions of its tools stay callable (call_tool with "version"), and rollback_tool brings one back.',
    input: closed({ ...skillProperties, replace, expectedVersion }, skillRequired),
    output: anyObject,
    limits,
    async run(given, { signal, call }) {
      const { replace: isNext, expectedVersion: expected, ...draft } = given as unknown as SkillInput;
      const options = {
        signal,
        call,
        ...(isNext !== undefined && { replace: isNext }),
        ...(expected !== undefined && { expectedVersion: expected }),
      };
      return toOutput(await forge.createSkill(draft, options));
    },
  });
}

const replace: JsonObject = { type: "boolean", description: "Makes the next version of the skill of this name" };

interface SkillInput extends SkillDraft {
  readonly replace?: boolean;
  readonly expectedVersion?: string;
}
