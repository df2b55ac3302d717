import { KitbagError } from "../../core/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { toImagePart } from "../../models/images/to-image-part.ts";
import type { ModelMessage } from "../../models/model.ts";

/** A run as the protocols of OpenAI tell of it. */
export interface EndedRun {
  readonly run: string;
  readonly status: string;
  readonly text: string;
  readonly usage: JsonValue;
  readonly error?: { readonly message: string };
  readonly approvals?: readonly string[];
}

type UserContent = Extract<ModelMessage, { readonly role: "user" }>["content"];

/**
 * Makes messages for a model of the messages that a client of OpenAI sends. What the client gives as `system` or `developer` is a message of
 * the user: the agent's own instructions stay what they are.
 *
 * @throws {KitbagError} `request-refused` if a message is malformed, or has a picture that is not in the request itself.
 */
export async function fromOpenAiMessages(messages: readonly JsonValue[]): Promise<readonly ModelMessage[]> {
  const read = await Promise.all(messages.map((message, index) => fromMessage(message, `messages[${index}]`)));
  return read.filter((message) => message !== undefined);
}

async function fromMessage(message: JsonValue, place: string): Promise<ModelMessage | undefined> {
  if (!isRecord(message)) throw refuse(`${place} must be an object`);
  const { role, content } = message;
  if (role === "assistant") {
    const text = typeof content === "string" ? content : (await toContent(content ?? [], place)).map(textOf).join("");
    return text === "" ? undefined : { role, content: [{ type: "text", text }] };
  }
  if (role === "user" || role === "system" || role === "developer")
    return { role: "user", content: await toContent(content ?? "", place) };
  throw refuse(`${place}.role must be "user", "assistant", "system" or "developer"`);
}

async function toContent(content: JsonValue, place: string): Promise<UserContent> {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw refuse(`${place}.content must be a text or a list of parts`);
  return Promise.all((content as readonly JsonValue[]).map((part) => toPart(part, place)));
}

async function toPart(part: JsonValue, place: string): Promise<UserContent[number]> {
  const { text, image_url: image } = isRecord(part) ? part : {};
  if (typeof text === "string") return { type: "text", text };
  const url = isRecord(image) ? image["url"] : image;
  // The service fetches nothing that a client names.
  if (typeof url === "string" && url.startsWith("data:")) return toImagePart(url);
  throw refuse(`${place}.content must have texts, and pictures as data URLs`);
}

function textOf(part: UserContent[number]): string {
  return part.type === "text" ? part.text : "";
}

/** The client's own tools cannot be called: the agent has its own. */
export function refuseTools(tools: JsonValue | undefined): void {
  if (tools === undefined || (Array.isArray(tools) && tools.length === 0)) return;
  throw refuse("the agent has tools of its own and calls them itself; leave out tools");
}

/** The text of an answer; where the run waits for a person, what it waits for. */
export function answerOf({ status, text, error, approvals = [] }: EndedRun): string {
  if (status === "failed" || status === "stopped" || status === "refused")
    throw refuse(`the run was ${status}: ${error?.message ?? "its log says why"}`);
  if (status !== "paused") return text;
  return `${text === "" ? "" : `${text}\n\n`}Waiting for approval of ${approvals.join(", ")}`;
}

/** Tokens in the words of OpenAI. */
export function toTokens(usage: JsonValue): { readonly input: number; readonly output: number } {
  const { inputTokens, outputTokens } = (usage ?? {}) as JsonObject;
  return { input: Number(inputTokens ?? 0), output: Number(outputTokens ?? 0) };
}

function refuse(reason: string): KitbagError<"request-refused"> {
  return new KitbagError("request-refused", { status: 422, reason });
}
