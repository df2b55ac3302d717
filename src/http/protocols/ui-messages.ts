import { KitbagError } from "../../core/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { toImagePart } from "../../models/images/to-image-part.ts";
import type { ModelMessage } from "../../models/model.ts";

/** What a person decided about a call, in the page that shows the chat. */
export interface PageDecision {
  readonly approval: string;
  readonly decision: "approve" | "deny";
  readonly reason?: string;
}

/**
 * Makes messages for a model of the messages of `useChat`. What tools answered earlier is in them as the page has it.
 *
 * @throws {KitbagError} `request-refused` if a message is malformed, or has a file that is not in the request itself.
 */
export async function fromUiMessages(messages: readonly JsonValue[]): Promise<readonly ModelMessage[]> {
  const read = await Promise.all(messages.map((message, index) => fromUiMessage(message, index)));
  return read.flat();
}

/** The decisions in the last message, about calls that waited for approval. */
export function findDecisions(messages: readonly JsonValue[]): readonly PageDecision[] {
  const last = messages.at(-1);
  if (!isRecord(last) || last["role"] !== "assistant") return [];
  return partsOf(last, messages.length - 1).flatMap((part) => {
    const { state, approval } = part;
    if (state !== "approval-responded" || !isRecord(approval) || typeof approval["id"] !== "string") return [];
    const reason = approval["reason"];
    return {
      approval: approval["id"],
      decision: approval["approved"] === true ? "approve" : "deny",
      ...(typeof reason === "string" && { reason }),
    };
  });
}

async function fromUiMessage(message: JsonValue, index: number): Promise<readonly ModelMessage[]> {
  if (!isRecord(message)) throw refuse(`messages[${index}] must be an object`);
  const parts = partsOf(message, index);
  const { role } = message;
  if (role === "assistant") return fromAssistant(parts);
  if (role === "user") return [{ role, content: (await Promise.all(parts.map(toUserPart))).flat() }];
  throw refuse(`messages[${index}].role must be "user" or "assistant"`);
}

type UserContent = Extract<ModelMessage, { readonly role: "user" }>["content"];

async function toUserPart(part: JsonObject): Promise<UserContent> {
  if (part["type"] === "text") return [{ type: "text", text: textOf(part) }];
  if (part["type"] !== "file") return [];
  const { url, mediaType } = part;
  // The service fetches nothing that a page names.
  if (typeof url !== "string" || !url.startsWith("data:"))
    throw refuse("a file must be a data URL, so that it is in the request");
  if (typeof mediaType === "string" && mediaType.startsWith("image/")) return [await toImagePart(url)];
  throw refuse("only pictures can be files of a message");
}

/** An answer with its calls, and what the tools said: a call without an outcome is left out. */
function fromAssistant(parts: readonly JsonObject[]): readonly ModelMessage[] {
  const messages: ModelMessage[] = [];
  for (const part of parts) {
    if (part["type"] === "text" && textOf(part) !== "")
      messages.push({ role: "assistant", content: [{ type: "text", text: textOf(part) }] });
    const { toolCallId, state, input = {}, output, errorText } = part;
    if (typeof toolCallId !== "string" || (state !== "output-available" && state !== "output-error")) continue;
    const toolName = nameOf(part);
    const value =
      state === "output-error" ? textOf({ text: errorText ?? "The call failed" }) : JSON.stringify(output ?? null);
    messages.push(
      { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input }] },
      { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }] },
    );
  }
  return messages;
}

function nameOf({ type, toolName }: JsonObject): string {
  if (typeof toolName === "string") return toolName;
  return typeof type === "string" ? type.replace(/^tool-/u, "") : "tool";
}

function partsOf({ parts }: JsonObject, index: number): readonly JsonObject[] {
  if (Array.isArray(parts) && parts.every((part): part is JsonObject => isRecord(part))) return parts;
  throw refuse(`messages[${index}].parts must be a list of objects`);
}

function textOf({ text }: JsonObject): string {
  return typeof text === "string" ? text : "";
}

function refuse(reason: string): KitbagError<"request-refused"> {
  return new KitbagError("request-refused", { status: 422, reason });
}
