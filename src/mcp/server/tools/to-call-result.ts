import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

import { cleanJson, toHonestText, toVisibleText } from "../../../core/hidden-characters.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { CappedOutput, OkOutcome, ToolOutcome } from "../../../core/outcome.ts";
import { toKitbagUri } from "../resources/kitbag-uri.ts";
import { toContentBlocks } from "./content-output.ts";
import { toStructured, type StructuredForm } from "./structured-output.ts";

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

/** An output as text that a model reads: as it is, or as JSON, without what nobody sees. */
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
