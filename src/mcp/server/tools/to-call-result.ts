import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

import { renderWrittenFiles, type WrittenFile } from "../../../core/call-files.ts";
import { cleanJson, toHonestText, toVisibleText } from "../../../core/hidden-characters.ts";
import type { JsonValue } from "../../../core/json.ts";
import { contentKey } from "../../../core/mcp-source.ts";
import type { CappedOutput, OkOutcome, ToolOutcome } from "../../../core/outcome.ts";
import { innerSchemas, isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { McpGeneration } from "../client.ts";
import { toFileUri } from "../resources/output-resources.ts";
import { toKitbagUri } from "../resources/kitbag-uri.ts";

/**
 * Makes the answer of `tools/call`. A failure is an answer too (`isError`): the model reads what was wrong and what to do.
 *
 * Text is for models, and holds nothing that a reader does not see. `structuredContent` is for programs: only tags and what turns text
 * around are taken out of it.
 *
 * An output that was too large for a tool with an output schema is an error as well: its head does not fit the schema, and clients
 * check.
 */
export function toCallResult(outcome: ToolOutcome, form: StructuredForm): CallToolResult {
  const result = toResult(outcome, form);
  const { files = [] } = outcome;
  return files.length === 0 ? result : { ...result, content: [...result.content, ...toFileBlocks(files)] };
}

/** What a call wrote: a text that names all of it, and a link to each file that is kept. */
function toFileBlocks(files: readonly WrittenFile[]): ContentBlock[] {
  const links = files.flatMap((file): ContentBlock[] => {
    const uri = toFileUri(file);
    if (uri === undefined) return [];
    return [{ type: "resource_link", uri, name: toVisibleText(file.path), size: file.bytes }];
  });
  return [{ type: "text", text: toVisibleText(renderWrittenFiles(files)) }, ...links];
}

function toResult(outcome: ToolOutcome, form: StructuredForm): CallToolResult {
  if (outcome.status === "failed") return toErrorResult(outcome.error.message);
  if (outcome.capped !== undefined) return toCappedResult(outcome, outcome.capped, form);
  const { output } = outcome;
  const blocks = form === "none" ? toContentBlocks(output) : undefined;
  if (blocks !== undefined) return { content: cleanJson(blocks, toVisibleText) };
  const content: ContentBlock[] = [{ type: "text", text: toText(output) }];
  return form === "none"
    ? { content }
    : { content, structuredContent: toStructured(cleanJson(output, toHonestText), form) };
}

/** An answer that says what went wrong. */
export function toErrorResult(message: string): CallToolResult {
  return { content: [{ type: "text", text: toVisibleText(message) }], isError: true };
}

/** An output as text that a model reads: as it is, or as JSON, without invisible characters. */
export function toText(output: JsonValue): string {
  return typeof output === "string" ? toVisibleText(output) : JSON.stringify(cleanJson(output, toVisibleText));
}

function toCappedResult({ output }: OkOutcome, { handle, bytes }: CappedOutput, form: StructuredForm): CallToolResult {
  const link: ContentBlock = {
    type: "resource_link",
    uri: toKitbagUri("outputs", handle),
    name: `output ${handle}`,
    description: `The whole output, ${bytes} bytes`,
  };
  return { content: [{ type: "text", text: toText(output) }, link], ...(form !== "none" && { isError: true }) };
}

type Fields = Readonly<Record<string, JsonValue | undefined>>;

const isText = (value: unknown): value is string => typeof value === "string";
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u;
const isBase64 = (value: unknown): value is string => isText(value) && base64.test(value);

/** What each kind of block must have; what it may have beside that is the client's to read. */
const checks: Readonly<Record<string, (block: Fields) => boolean>> = {
  text: ({ text }) => isText(text),
  image: ({ data, mimeType }) => isBase64(data) && isText(mimeType),
  audio: ({ data, mimeType }) => isBase64(data) && isText(mimeType),
  resource_link: ({ uri, name }) => isText(uri) && isText(name),
  resource: ({ resource }) =>
    isFields(resource) && isText(resource["uri"]) && (isText(resource["text"]) || isBase64(resource["blob"])),
};

/**
 * The content blocks in an output, if it is `{ "$content": [ … ] }` and nothing beside it: text, images, audio, links and embedded
 * resources, which are handed to the client as they are. One wrong block makes it an ordinary output, which is shown as JSON, so that
 * nothing is lost.
 */
export function toContentBlocks(output: JsonValue): ContentBlock[] | undefined {
  if (!isFields(output)) return undefined;
  const keys = Object.keys(output);
  const blocks = output[contentKey];
  if (keys.length !== 1 || !Array.isArray(blocks)) return undefined;
  return blocks.every(isBlock) ? blocks : undefined;
}

function isBlock(block: JsonValue): boolean {
  if (!isFields(block) || !isText(block["type"])) return false;
  return Object.hasOwn(checks, block["type"]) && checks[block["type"]]?.(block) === true;
}

function isFields(value: JsonValue | undefined): value is Readonly<Record<string, JsonValue>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * How the output of a tool goes into `structuredContent`: as it is, or as `{ result: … }`, because the 2025 generation knows objects
 * only. Not at all if the tool does not say what it gives, or its schema cannot be put into another.
 */
export type StructuredForm = "plain" | "wrapped" | "none";

/** Says how the output of a tool with this schema is structured. */
export function findStructuredForm(schema: JsonSchema | undefined, generation: McpGeneration): StructuredForm {
  if (schema === undefined) return "none";
  if (generation === "2026" || schema["type"] === "object") return "plain";
  return hasReference(schema) ? "none" : "wrapped";
}

/** The schema of what {@link toStructured} gives. */
export function toStructuredSchema(schema: JsonSchema, form: StructuredForm): JsonSchema | undefined {
  if (form === "none") return undefined;
  return form === "plain" ? schema : { type: "object", properties: { result: schema }, required: ["result"] };
}

/** The `structuredContent` for an output. */
function toStructured(output: JsonValue, form: "plain" | "wrapped"): JsonValue {
  return form === "plain" ? output : { result: output };
}

/** A reference counts from the root: inside another schema it would mean something else. */
function hasReference(schema: JsonSchema): boolean {
  if ("$ref" in schema || "$dynamicRef" in schema) return true;
  for (const [, inner] of innerSchemas(schema)) if (isSchemaObject(inner) && hasReference(inner)) return true;
  return false;
}
