import { isKitbagError, KitbagError } from "../../../core/errors.ts";
import { type JsonValue, showValue } from "../../../core/json.ts";
import type { Store } from "../../../core/store.ts";
import type { ModelMessage } from "../../../models/model.ts";
import type { RunResult } from "../../run-result.ts";
import { cutHead, partsOf, textOfMessage } from "../message-text.ts";
import { fromValue, type KeptConversation, readPart, toKey, toPartKey, writePart } from "./kept-conversation.ts";

/** What a run added to a conversation. */
export interface SavedRun {
  readonly run: string;
  readonly status: RunResult["status"];
  readonly messages: readonly ModelMessage[];
  readonly skills: readonly string[];
  /** What the model sees of the whole conversation now, if earlier messages were left out. */
  readonly view: readonly ModelMessage[] | undefined;
}

/**
 * A conversation that a run is a part of.
 *
 * **Contract**: `save` may be called again for the same run: it is then kept as it is now, in the last place. Runs that go on at the
 * same time do not see each other, and are all kept, in the order in which they ended.
 */
export interface OpenConversation {
  readonly id: string;
  /** What was said before, as a model is to see it. */
  readonly messages: readonly ModelMessage[];
  /** Skills that were open at the end. */
  readonly skills: readonly string[];
  save(saved: SavedRun): Promise<void>;
}

/**
 * Opens a conversation; one with an unknown id is new.
 *
 * @throws {KitbagError} `option-invalid` without a store or with an invalid id; `conversation-damaged`, and what the store throws.
 */
export async function openConversation(given: Store | undefined, id: string): Promise<OpenConversation> {
  const store = needStore(given);
  const found = await store.kv.get(toKey(id));
  const { runs } = found === undefined ? { runs: [] } : fromValue(id, found);
  // What a model saw of everything up to then takes the place of everything up to then.
  const start = Math.max(
    0,
    runs.findLastIndex(({ hasView }) => hasView),
  );
  const parts = await Promise.all(runs.slice(start).map(({ part }) => readPart(store, id, part)));
  return {
    id,
    messages: separateCalls(parts.flatMap(({ view, messages }) => closeCalls(view ?? messages))),
    skills: parts.at(-1)?.skills ?? [],
    save: (saved) => save(store, { id, saved, seen: found?.version ?? 0 }),
  };
}

/**
 * Opens a conversation for a resumed run: its earlier messages are in its journal.
 *
 * @throws {KitbagError} `option-invalid` without a store or with an invalid id.
 */
export function rejoinConversation(given: Store | undefined, id: string): OpenConversation {
  const store = needStore(given);
  toKey(id);
  return { id, messages: [], skills: [], save: (saved) => save(store, { id, saved, seen: undefined }) };
}

function needStore(store: Store | undefined): Store {
  if (store !== undefined) return store;
  const expected = "a store, such as sqliteStore(), because a conversation is kept there";
  throw new KitbagError("option-invalid", { option: "store", found: showValue(undefined), expected });
}

interface Saving {
  readonly id: string;
  readonly saved: SavedRun;
  /** Which version of the conversation the run has seen, if that is known. */
  readonly seen: number | undefined;
}

async function save(store: Store, { id, saved, seen }: Saving): Promise<void> {
  const part = crypto.randomUUID();
  const key = toPartKey(id, part);
  for (;;) {
    const found = await store.kv.get(toKey(id));
    const version = found?.version ?? 0;
    // If another run has ended since this one began, the view of this run is incomplete.
    const view = version === seen ? saved.view : undefined;
    const { messages, skills } = saved;
    // Written before the conversation names it, so that no reader finds a missing part.
    await writePart(store, key, { messages, skills, ...(view && { view }) });
    const before = found && fromValue(id, found);
    const next = addRun(before, saved, { part, hasView: view !== undefined });
    try {
      await store.kv.set(toKey(id), next as unknown as JsonValue, { ifVersion: version });
    } catch (cause) {
      if (isKitbagError(cause, "store-conflict")) continue;
      throw cause;
    }
    const old = before?.runs.find(({ run }) => run === saved.run);
    if (old !== undefined) await store.kv.delete(toPartKey(id, old.part));
    return;
  }
}

const longestTitle = 80;

function addRun(
  before: KeptConversation | undefined,
  { run, status, messages }: SavedRun,
  where: { readonly part: string; readonly hasView: boolean },
): KeptConversation {
  const time = Date.now();
  const others = before?.runs.filter((one) => one.run !== run) ?? [];
  return {
    title: before?.title ?? toTitle(messages),
    startedAt: before?.startedAt ?? time,
    time,
    runs: [...others, { run, status, messages: messages.length, ...where }],
  };
}

function toTitle(messages: readonly ModelMessage[]): string {
  const first = messages.find((message) => message.role === "user" && textOfMessage(message).trim() !== "");
  return first === undefined
    ? ""
    : cutHead(textOfMessage(first).toWellFormed().replace(/\s+/gu, " ").trim(), longestTitle);
}

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

const noResult = "The outcome of this call is unknown: the run was stopped, or waits for an approval of it.";

/** The messages of a stopped or paused run, with results added for its last calls: providers refuse calls without results. */
export function closeCalls(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const start = messages.findLastIndex(({ role }) => role === "assistant");
  const answer = messages[start];
  const behind = messages.slice(start + 1);
  if (answer === undefined || !behind.every((message): message is ToolMessage => message.role === "tool")) {
    return messages;
  }
  const known = new Set(behind.flatMap((message) => partsOf(message)).map(({ toolCallId }) => toolCallId));
  const open = partsOf(answer).filter(
    ({ type, toolCallId, providerExecuted }) =>
      type === "tool-call" && providerExecuted !== true && !known.has(toolCallId),
  );
  if (open.length === 0) return messages;
  const results = open.map(({ toolCallId = "", toolName = "" }) => ({
    type: "tool-result" as const,
    toolCallId,
    toolName,
    output: { type: "error-text" as const, value: noResult },
  }));
  const content = [...behind.flatMap((message) => message.content), ...results];
  return [...messages.slice(0, start + 1), { role: "tool", content }];
}

type Parts = Exclude<ModelMessage["content"], string>;

/**
 * Messages of several runs, in which no two calls share an id: concurrent runs do not know each other's ids, and small models count
 * from the beginning in every run. Without duplicates, the same array.
 */
function separateCalls(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const used = new Set<string>();
  let renamed: ReadonlyMap<string, string> = new Map();
  return messages.map((message) => {
    if (message.role === "assistant") {
      renamed = rename(message.content, used);
      for (const id of idsOf(message.content)) used.add(renamed.get(id) ?? id);
    }
    const isTouched = renamed.size > 0 && (message.role === "assistant" || message.role === "tool");
    return isTouched ? ({ ...message, content: withIds(message.content, renamed) } as ModelMessage) : message;
  });
}

/** New ids for those calls of an answer whose ids are used already. */
function rename(content: Parts, used: ReadonlySet<string>): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  for (const id of idsOf(content)) {
    let fresh = id;
    for (let count = 2; used.has(fresh); count++) fresh = `${id}-${count}`;
    if (fresh !== id) renamed.set(id, fresh);
  }
  return renamed;
}

function idsOf(content: Parts): readonly string[] {
  return content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
}

function withIds(content: Parts, renamed: ReadonlyMap<string, string>): readonly unknown[] {
  return content.map((part) => {
    const id = part.type === "tool-call" || part.type === "tool-result" ? renamed.get(part.toolCallId) : undefined;
    return id === undefined ? part : { ...part, toolCallId: id };
  });
}
