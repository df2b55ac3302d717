import { KitbagError } from "../../../core/errors.ts";
import { showValue, type JsonValue } from "../../../core/json.ts";
import type { Store, VersionedValue } from "../../../core/store.ts";
import type { ModelMessage } from "../../../models/model.ts";
import { fromKeptMessage, toKeptMessage } from "../../log/kept-files.ts";
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

/** The conversation that a value is. */
export function fromValue({ value }: VersionedValue): KeptConversation {
  return value as unknown as KeptConversation;
}

/** Reads what a run added. What is gone added nothing. */
export async function readPart({ kv }: Pick<Store, "kv">, id: string, part: string): Promise<KeptPart> {
  const found = await kv.get(toPartKey(id, part));
  const kept = (found?.value ?? { messages: [], skills: [] }) as unknown as KeptPart;
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
