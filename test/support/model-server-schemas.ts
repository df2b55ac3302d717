import { toList, toObject, toText, type Wire } from "./model-server-wire.ts";
import {
  findAnthropicProblem,
  findGoogleSchemaProblem,
  findGrammarProblem,
  findStrictProblem,
} from "./schema-refusals.ts";

/** What a server that copies OpenAI can do for an answer that must be JSON. */
export type OutputSupport =
  /** Schemas, by the rules of OpenAI. */
  | "schema"
  /** Schemas, of which it makes a grammar, as llama.cpp does. */
  | "grammar"
  /** `json_object` alone, as DeepSeek. */
  | "json"
  /** It does not know `response_format`. */
  | "none"
  /** It takes everything and obeys nothing. */
  | "ignored";

/** What a request says about the form of its answer. */
export interface AskedOutput {
  /** How the answer is held to the schema: by a strict mode, a loose one, a grammar, a tool; by a mode for JSON; or by nothing. */
  readonly way: "strict" | "loose" | "tool" | "json" | "prompt";
  readonly schema: Wire | undefined;
}

const nothing: AskedOutput = { way: "prompt", schema: undefined };

const readChat = (body: Wire): AskedOutput => {
  const format = toObject(body["response_format"]);
  return readFormat({ ...format, ...toObject(format["json_schema"]) });
};

/** Packages that have no other way make a tool of this name. */
const readTool = (tools: readonly Wire[], schemaOf: (tool: Wire) => unknown): AskedOutput => {
  const tool = tools.find(({ name }) => name === "json");
  return tool === undefined ? nothing : { way: "tool", schema: toObject(schemaOf(tool)) };
};

const readers: Readonly<Record<string, (body: Wire) => AskedOutput>> = {
  "openai-responses": (body) => readFormat(toObject(toObject(body["text"])["format"])),
  "openai-chat": readChat,
  "openai-compatible": readChat,
  anthropic(body) {
    const { schema } = toObject(toObject(body["output_config"])["format"]);
    if (schema !== undefined) return { way: "strict", schema: toObject(schema) };
    return readTool(toList(body["tools"]), (tool) => tool["input_schema"]);
  },
  ollama({ format }) {
    if (format === "json") return { way: "json", schema: undefined };
    return format === undefined ? nothing : { way: "strict", schema: toObject(format) };
  },
  google(body) {
    const { responseMimeType, responseJsonSchema } = toObject(body["generationConfig"]);
    if (responseJsonSchema !== undefined) return { way: "strict", schema: toObject(responseJsonSchema) };
    if (responseMimeType === "application/json") return { way: "json", schema: undefined };
    const declared = toList(body["tools"]).flatMap(({ functionDeclarations }) => toList(functionDeclarations));
    return readTool(declared, (tool) => tool["parameters"] ?? tool["parametersJsonSchema"]);
  },
};

/** The form of the answer that a request asks for. */
export function readOutput(dialect: string, body: Wire): AskedOutput {
  return readers[dialect]?.(body) ?? nothing;
}

function readFormat({ type, strict, schema }: Wire): AskedOutput {
  if (type === "json_schema") return { way: strict === true ? "strict" : "loose", schema: toObject(schema) };
  return { way: type === "json_object" ? "json" : "prompt", schema: undefined };
}

/** Says what a provider would refuse a request for because of the form of its answer, as its documentation says. */
export function findOutputProblem(dialect: string, body: Wire, support: OutputSupport): string | undefined {
  const { way, schema = {} } = readOutput(dialect, body);
  switch (dialect) {
    case "anthropic":
      return way === "strict"
        ? findAnthropicProblem(schema)
        : way === "tool"
          ? findToolProblem(body, schema)
          : undefined;
    case "google":
      return findGoogleProblem(body, way, schema);
    case "ollama":
      return way === "strict" ? findGrammarProblem(schema) : undefined;
    case "openai-compatible":
      return findCompatibleProblem(body, way, schema, support);
    default:
      return findOpenAIProblem(body, way, schema);
  }
}

function findOpenAIProblem(body: Wire, way: AskedOutput["way"], schema: Wire): string | undefined {
  if (way === "json" && !/json/iu.test(JSON.stringify(body["messages"] ?? body["input"]))) {
    return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  }
  if (way !== "strict" && way !== "loose") return undefined;
  const start = "Invalid schema for response_format 'response': ";
  if (schema["type"] !== "object")
    return `${start}schema must be a JSON Schema of 'type: "object"', got 'type: "${toText(schema["type"])}"'.`;
  if (way === "loose") return undefined;
  if (schema["anyOf"] !== undefined) return `${start}schema must not have 'anyOf' at the top level.`;
  const problem = findStrictProblem(schema);
  return problem === undefined ? undefined : start + problem;
}

/** Anthropic, "Tool use": the schema of a tool is one of an object, and thoughts do not go with a forced tool. */
function findToolProblem(body: Wire, schema: Wire): string | undefined {
  if (schema["type"] !== "object") return "tools.0.custom.input_schema.type: Input should be 'object'";
  const thinks = toObject(body["thinking"])["type"] === "enabled";
  const isForced = ["any", "tool"].includes(toText(toObject(body["tool_choice"])["type"]));
  return thinks && isForced ? "Thinking may not be enabled when tool_choice forces tool use." : undefined;
}

/** Google: older models take no form of the answer together with tools. */
function findGoogleProblem(body: Wire, way: AskedOutput["way"], schema: Wire): string | undefined {
  const isOld = /gemini-[12]/u.test(toText(body["model"]));
  const hasTools = toList(body["tools"]).some(({ functionDeclarations }) => functionDeclarations !== undefined);
  if ((way === "strict" || way === "json") && isOld && hasTools) {
    return "Function calling with a response mime type: 'application/json' is unsupported";
  }
  return way === "strict" ? findGoogleSchemaProblem(schema) : undefined;
}

function findCompatibleProblem(
  body: Wire,
  way: AskedOutput["way"],
  schema: Wire,
  support: OutputSupport,
): string | undefined {
  const isAsked = body["response_format"] !== undefined;
  switch (support) {
    case "schema":
      return findOpenAIProblem(body, way, schema);
    case "grammar":
      return way === "strict" || way === "loose" ? findGrammarProblem(schema) : undefined;
    case "json":
      if (way === "strict" || way === "loose") return "This response_format type is unavailable now";
      return findOpenAIProblem(body, way, schema);
    case "none":
      return isAsked ? "body.response_format: Extra inputs are not permitted" : undefined;
    case "ignored":
      return undefined;
  }
}
