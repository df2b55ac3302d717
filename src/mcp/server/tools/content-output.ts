import type { ContentBlock } from "@modelcontextprotocol/server";

import type { JsonValue } from "../../../core/json.ts";
import { contentKey } from "../../../core/mcp-source.ts";

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
