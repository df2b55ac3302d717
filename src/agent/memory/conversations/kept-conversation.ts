import { KitbagError } from "../../../core/errors.ts";
import { showValue, type JsonValue } from "../../../core/json.ts";
import type { Store, VersionedValue } from "../../../core/store.ts";
import type { ModelMessage } from "../../../models/model.ts";
import { fromKeptMessage, toKeptMessage } from "../../log/run-log.ts";
import type { RunResult } from "../../run-result.ts";

/** A conversation, as it is kept under `conversation:<id>`: which runs it has, in the order in which they ended. */
export interface KeptConversation {
  /** The beginning of what was asked first. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly time: number;
  readonly runs: readonly KeptRun[];
}

/** A run of a conversation. */
export interface KeptRun {
  readonly run: string;
  readonly status: RunResult["status"];
  /** How many messages it added. */
  readonly messages: number;
  /** Where its messages are. */
  readonly part: string;
  /** Whether there is also what the model saw of the whole conversation at its end. */
  readonly hasView: boolean;
}

/** What a run added, as it is kept under `conversation-part:<id>:<part>`. */
export interface KeptPart {
  readonly messages: readonly ModelMessage[];
  /** Skills that were open at its end. */
  readonly skills: readonly string[];
  /** What the model saw of the whole conversation at its end, if earlier messages had been left out. */
  readonly view?: readonly ModelMessage[];
}

/** What the keys of all conversations begin with. */
export const conversationPrefix = "conversation:";

/** The key of a conversation. @throws {KitbagError} `option-invalid` if it is no id. */
export function toKey(id: string): string {
  if (typeof id !== "string" || id === "") {
    throw new KitbagError("option-invalid", { option: "conversation", found: showValue(id), expected: "a name" });
  }
  return `${conversationPrefix}${id}`;
}

/** The key of a part; without one, what the keys of all parts begin with. */
export function toPartKey(id: string, part = ""): string {
  return `conversation-part:${id}:${part}`;
}

/** Reads a stored value as a conversation. @throws {KitbagError} `conversation-damaged` */
export function fromValue(id: string, { value }: VersionedValue): KeptConversation {
  if (!isConversation(value)) throw damaged(id, '"runs" must be an array');
  return value as unknown as KeptConversation;
}

/** Tells whether a value is a conversation, as it is kept. */
export function isConversation(value: unknown): boolean {
  const { title, startedAt, time, runs } = toFacts(value);
  const isKept = typeof title === "string" && typeof startedAt === "number" && typeof time === "number";
  return isKept && Array.isArray(runs) && runs.every(isRun);
}

function isRun(value: unknown): boolean {
  const { run, part, messages } = toFacts(value);
  return typeof run === "string" && typeof part === "string" && typeof messages === "number";
}

function isMessage(value: unknown): boolean {
  const { role, content } = toFacts(value);
  if (role === "system") return typeof content === "string";
  return (
    roles.has(role) && Array.isArray(content) && content.every((part) => typeof part === "object" && part !== null)
  );
}

const roles: ReadonlySet<unknown> = new Set<ModelMessage["role"]>(["user", "assistant", "tool"]);

function toFacts(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function damaged(conversation: string, reason: string): KitbagError {
  return new KitbagError("conversation-damaged", { conversation, reason });
}

/** Reads what a run added. What is gone added nothing. @throws {KitbagError} `conversation-damaged` */
export async function readPart({ kv }: Pick<Store, "kv">, id: string, part: string): Promise<KeptPart> {
  const found = await kv.get(toPartKey(id, part));
  const kept = (found === undefined ? nothing : found.value) as unknown as KeptPart;
  const { messages, skills, view = [] } = toFacts(kept);
  const isThere = [messages, skills, view].every(Array.isArray);
  if (!isThere || ![...kept.messages, ...(kept.view ?? [])].every(isMessage)) {
    throw damaged(id, "one of its messages is malformed");
  }
  return fromKept(kept);
}

const nothing: KeptPart = { messages: [], skills: [] };

function fromKept(kept: KeptPart): KeptPart {
  const { messages, view } = kept;
  return { ...kept, messages: messages.map(fromKeptMessage), ...(view && { view: view.map(fromKeptMessage) }) };
}

/** Writes what a run added. */
export async function writePart({ kv }: Pick<Store, "kv">, key: string, kept: KeptPart): Promise<void> {
  const { messages, view } = kept;
  const value = { ...kept, messages: messages.map(toKeptMessage), ...(view && { view: view.map(toKeptMessage) }) };
  // What is not there in JSON is not kept either.
  await kv.set(key, JSON.parse(JSON.stringify(value)) as JsonValue);
}
