import type { JsonObject } from "../../core/json.ts";
import { permissionsSchema } from "../../core/permissions.ts";
import { annotationNames } from "../../core/tool.ts";
import { scriptLanguages, wasmLanguages } from "./tool-draft.ts";

const text = { type: "string", minLength: 1 };
const texts = { type: "array", items: text };
const schemaText = "JSON Schema of an object";

/** The schema of an object with these properties and no others. */
export function closed(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Any JSON, said so that providers take it who want one type for each schema. */
export const anyJson: JsonObject = {
  anyOf: [
    { type: "string" },
    { type: "number" },
    { type: "boolean" },
    { type: "object", additionalProperties: true },
    { type: "array" },
    { type: "null" },
  ],
};

/** JSON Schemas of what every draft says, by part. Descriptions are for a model. */
export const headProperties: JsonObject = {
  title: { ...text, description: "A name for people" },
  description: { ...text, description: "What the tool does and when to use it; a model chooses by this text" },
  input: {
    type: "object",
    additionalProperties: true,
    description: `${schemaText}: the parameters, e.g. {"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`,
  },
  annotations: {
    ...closed(Object.fromEntries(annotationNames.map((name) => [name, { type: "boolean" }]))),
    description:
      "readOnly: changes nothing; idempotent: may be run twice; destructive; openWorld: reaches other machines; parallelSafe: the order of calls does not matter",
  },
  permissions: {
    ...permissionsSchema,
    description:
      'What it may touch; nothing by default, not even the network. read/write: paths ("./data"), network: hosts ("api.example.com"), env: variables, run: programs, sockets: "private" for Unix sockets of its own. What the policy does not grant waits for a person',
  },
  limits: {
    ...closed({
      limitMs: { type: "integer", minimum: 1 },
      maxConcurrent: { type: "integer", minimum: 1 },
      retries: { type: "integer", minimum: 0, maximum: 10 },
      rate: closed(
        {
          calls: { type: "integer", minimum: 1 },
          inMs: { type: "integer", minimum: 1 },
          burst: { type: "integer", minimum: 1 },
        },
        ["calls", "inMs"],
      ),
    }),
    description: "limitMs: how long one call may take",
  },
  needsApproval: { type: "boolean", description: "A person must agree to every call" },
  examples: {
    type: "array",
    items: closed({ description: text, input: { type: "object", additionalProperties: true }, output: anyJson }, [
      "input",
    ]),
    description:
      "At least one. Each is run in the sandbox before the tool is live. With output, exactly this must come; without it, the call must succeed",
  },
};

/** The parts of a draft that is code. */
export const codeProperties: JsonObject = {
  language: {
    type: "string",
    enum: [...scriptLanguages, ...wasmLanguages],
    description: "wasm-… is compiled to WebAssembly",
  },
  code: {
    type: "string",
    minLength: 1,
    description:
      "The whole program. It reads ONE JSON object, the input, from standard input and prints the output; a failure is a non-zero exit code with the reason on stderr. (wasm-javascript: export default (input) => output)",
  },
  files: {
    type: "object",
    additionalProperties: { type: "string" },
    description: "More files beside the program, by path",
  },
  output: {
    type: "object",
    additionalProperties: true,
    description:
      "JSON Schema of the output. With it the program must print one JSON value; without it the output is the text that it prints",
  },
  dependencies: {
    ...closed({ python: texts, npm: texts, cargo: texts }),
    description: 'Packages: {"python": ["requests>=2"], "npm": ["lodash@^4"]}',
  },
  uses: { ...texts, description: "Addresses of the tools that the code calls; a person agrees to them first" },
};

/** The parts of a draft that is a pipeline. */
export const pipelineProperties: JsonObject = {
  steps: {
    type: "array",
    items: { type: "object", additionalProperties: true },
    minItems: 1,
    maxItems: 200,
    description:
      'Each {"id": "a", "tool": "address", "args": {…}}, with optional if, forEach, after, continueOnError. Values may be references: "$input.x", "$a.field" (the output of step a), "$prev", "$item" inside forEach; in text "${a.field}"',
  },
  result: { ...anyJson, description: "The output, made of references like args; by default the last step's output" },
};

const name = { type: "string", description: "Letters, digits, _ - and ." };
const required = ["name", "description", "examples"];

/** The JSON Schema of a tool that is code. */
export const codeDraftSchema = closed({ name, ...headProperties, ...codeProperties }, [
  ...required,
  "language",
  "code",
]);

const shared: JsonObject = { type: "boolean", description: "For every user; a person must agree" };

/** The parts of a draft that is a tool of its own. */
export const toolProperties: JsonObject = { ...headProperties, shared };

/** The JSON Schema of a tool of its own that is code. */
export const toolDraftSchema = closed({ name, ...toolProperties, ...codeProperties }, [
  ...required,
  "language",
  "code",
]);

/** The JSON Schema of a tool that is a pipeline. */
export const pipelineDraftSchema = closed({ name, ...toolProperties, ...pipelineProperties }, [...required, "steps"]);

/** The parts of a draft that is a skill. */
export const skillProperties: JsonObject = {
  name,
  description: { ...text, description: "What the skill is for and when to open it; a model chooses by this text" },
  instructions: { ...text, description: "Markdown: what to do when the skill is open" },
  version: {
    ...text,
    description: "Three numbers, if it is newer than all that were; by default it follows from what changed",
  },
  tools: {
    type: "array",
    items: codeDraftSchema,
    maxItems: 50,
    description: "Tools of its own, as create_tool takes them; they exist while the skill is open",
  },
  uses: { ...texts, description: "Addresses of other tools that it uses" },
  shared,
  files: {
    type: "object",
    additionalProperties: { type: "string" },
    description: "More files, by path: references/x.md",
  },
};

/** The parts that a draft of a skill must have. */
export const skillRequired: readonly string[] = ["name", "description", "instructions"];

/** The JSON Schema of a skill. */
export const skillDraftSchema = closed(skillProperties, skillRequired);
