import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import {
  codeProperties,
  pipelineDraftSchema,
  pipelineProperties,
  skillProperties,
  skillRequired,
  toolDraftSchema,
  toolProperties,
} from "../drafts/draft-schema.ts";
import type { Forge } from "../forge-interface.ts";
import type { CodeDraft, PipelineDraft, SkillDraft, ToolChanges } from "../tool-draft.ts";
import { anyObject, closed, expectedVersion, toolName, toOutput } from "./to-output.ts";

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
export function createDraftTools(forge: Forge): readonly Tool[] {
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
