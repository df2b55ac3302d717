import type { CallToolResult } from "@modelcontextprotocol/client";

import { KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { toContentOutput } from "../../core/mcp-code.ts";

const longestReason = 2000;

/**
 * Makes the output of a call of what the server answered: the structured content if there is some, else the text, else the blocks
 * themselves as `{ $content: [ … ] }`.
 *
 * @throws {KitbagError} `tool-failed` if the server says that the call failed.
 */
export function toOutput(tool: string, { isError, structuredContent, content }: CallToolResult): unknown {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (isError === true) {
    const reason = texts.join("\n").trim().slice(0, longestReason);
    throw new KitbagError("tool-failed", { tool, reason: reason === "" ? "the server does not say why" : reason });
  }
  if (structuredContent !== undefined) return structuredContent;
  if (texts.length < content.length) return toContentOutput(content as unknown as JsonValue[]);
  return texts.join("\n\n");
}
