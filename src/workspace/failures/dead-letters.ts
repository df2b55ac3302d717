import { type Failure, isKitbagError, KitbagError } from "../../core/errors.ts";
import type { CallEvent } from "../../core/events.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { redactValue } from "../../core/redaction/redact.ts";
import type { ScopesOf } from "../../core/scopes.ts";
import type { KeyValueStore, Store } from "../../core/store.ts";
import type { ToolAuthor } from "../../core/tool.ts";
import type { CallOptions } from "../call/call-options.ts";
import { toPastUser } from "../call/authority.ts";
import { takeLease } from "../../platform/lease.ts";
import { reopenOnce } from "../recall/once.ts";

/** A call that failed for good, with all that is needed to make it again. */
export interface DeadLetter {
  readonly id: string;
  /** The address of the tool. */
  readonly tool: string;
  /** The version that failed, by what it is made of. */
  readonly digest: string;
  readonly input: JsonValue;
  /** Whether secrets were taken out of the input: then it must be given again. */
  readonly isRedacted: boolean;
  readonly user?: string;
  /** What the user could call when it failed. @default every tool */
  readonly scopes?: ToolAuthor["scopes"];
  readonly idempotencyKey?: string;
  /** Without what looks like a secret or like personal data, unless records are kept as they are. */
  readonly error: Failure;
  /** How often it was tried, with those of the letters before that it comes from. */
  readonly attempts: number;
  /** When it failed, in milliseconds since 1970. */
  readonly time: number;
}

/** What may be said when a dead letter is tried again. */
export interface RetryDeadOptions extends Omit<CallOptions, "user" | "scopes" | "refuse"> {
  /** In the place of its input. */
  readonly input?: unknown;
  /** The scopes that its user has now. @default those of when it failed */
  readonly scopesOf?: ScopesOf;
}

/** Calls that failed for good. */
export interface DeadLetters {
  /** The oldest first. */
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly DeadLetter[]>;
  /** @throws {KitbagError} `dead-letter-missing` */
  get(id: string): Promise<DeadLetter>;
  /**
   * Makes the call again, as the same user, with that user's current scopes, and with the same key. On success the letter is removed;
   * otherwise it holds the new error. Of all processes that share the store, only one at a time retries a letter.
   *
   * @throws {KitbagError} `dead-letter-missing`; `dead-letter-busy` if another caller retries it now; `option-invalid` if its input was
   * redacted and no other input is given; `user-unknown` if the current scopes of its user are unknown.
   */
  retry(workspace: Caller, id: string, options?: RetryDeadOptions): Promise<ToolOutcome>;
  /** Answers whether there was one. */
  drop(id: string): Promise<boolean>;
}

/** Who can make a call. */
interface Caller {
  call(tool: string, input?: unknown, options?: CallOptions): Promise<ToolOutcome>;
}

const prefix = "dead:";

/**
 * Opens the calls that failed for good and are kept in `store`: those of workspaces that were made with `keepFailed`.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, memoryStore, openDeadLetters } from "kitbag";
 *
 * let isDown = true;
 * const send = defineTool({
 *   name: "send",
 *   description: "Sends a message",
 *   run: () => {
 *     if (isDown) throw new Error("the line is down");
 *   },
 * });
 * const store = memoryStore();
 * const workspace = createWorkspace({ tools: [send], store, keepFailed: true });
 * await workspace.call("send");
 *
 * const dead = openDeadLetters(store);
 * const [letter] = await dead.list();
 * isDown = false;
 * const outcome = await dead.retry(workspace, letter?.id ?? "");
 * console.assert(outcome.status === "ok" && (await dead.list()).length === 0);
 * ```
 */
export function openDeadLetters({ kv }: Pick<Store, "kv">): DeadLetters {
  async function find(id: string): Promise<{ readonly letter: DeadLetter; readonly version: number }> {
    const found = await kv.get(prefix + id);
    if (found === undefined) throw new KitbagError("dead-letter-missing", { id });
    return { letter: found.value as unknown as DeadLetter, version: found.version };
  }

  return {
    get: async (id) => (await find(id)).letter,
    async list({ after = "", limit = 1000 } = {}) {
      const found = await kv.list({ prefix, after: prefix + after, limit });
      return found.map(([, { value }]) => value as unknown as DeadLetter);
    },
    retry: (workspace, id, options = {}) =>
      withLetter(kv, id, async () => {
        const { letter, version } = await find(id);
        return makeAgain({ kv, workspace, letter, version }, options);
      }),
    async drop(id) {
      return kv.delete(prefix + id);
    },
  };
}

/** A letter that only this caller tries now. */
interface OwnLetter {
  readonly kv: Store["kv"];
  readonly workspace: Caller;
  readonly letter: DeadLetter;
  readonly version: number;
}

async function makeAgain(
  { kv, workspace, letter, version }: OwnLetter,
  { input, scopesOf, ...options }: RetryDeadOptions,
): Promise<ToolOutcome> {
  if (letter.isRedacted && input === undefined) {
    const expected = "the input, because secrets were taken out of the one that is kept";
    throw new KitbagError("option-invalid", { option: "input", found: "nothing", expected });
  }
  const { id, tool, idempotencyKey } = letter;
  let next: string | undefined;
  const onEvent = (event: CallEvent): void => {
    if (event.type === "call-kept") next = event.letter;
    options.onEvent?.(event);
  };
  const again: CallOptions = {
    // With another input it is another use of the tool.
    ...(idempotencyKey !== undefined && input === undefined && { idempotencyKey }),
    ...options,
    // Last: who makes the call again gives it no rights of their own.
    ...toPastUser(letter, scopesOf),
    onEvent,
  };
  const { idempotencyKey: key } = again;
  if (key !== undefined) await reopenOnce(kv, { address: tool, user: again.user, key });
  const outcome = await workspace.call(tool, input ?? letter.input, again);
  if (outcome.status === "failed" && next === undefined) {
    const error = redactValue(outcome.error);
    await replaceLetter(kv, version, { ...letter, error, attempts: letter.attempts + 1 });
    return outcome;
  }
  if (next !== undefined) await addAttempts(kv, next, letter.attempts);
  await kv.delete(prefix + id);
  return outcome;
}

/** Keeps a letter under its id. */
export async function keepLetter(kv: Store["kv"], letter: DeadLetter): Promise<void> {
  await kv.set(prefix + letter.id, { ...letter } as unknown as JsonObject);
}

/** Counts the tries of the letter before to those of the one that took its place. */
async function addAttempts(kv: Store["kv"], id: string, attempts: number): Promise<void> {
  const found = await kv.get(prefix + id);
  if (found === undefined) return;
  const letter = found.value as unknown as DeadLetter;
  await replaceLetter(kv, found.version, { ...letter, attempts: letter.attempts + attempts });
}

async function replaceLetter(kv: Store["kv"], ifVersion: number, letter: DeadLetter): Promise<void> {
  try {
    await kv.set(prefix + letter.id, { ...letter } as unknown as JsonObject, { ifVersion });
  } catch (cause) {
    // It was dropped or tried elsewhere: it must not come back.
    if (!isKitbagError(cause, "store-conflict")) throw cause;
  }
}

/**
 * Runs `work` while no other caller, here or in another process, does so for the same letter.
 *
 * @throws {KitbagError} `dead-letter-busy` if another one does.
 */
async function withLetter<Answer>(kv: KeyValueStore, id: string, work: () => Promise<Answer>): Promise<Answer> {
  const lease = await takeLease(kv, `dead-claim:${id}`);
  if (lease === undefined) throw new KitbagError("dead-letter-busy", { id });
  try {
    return await work();
  } finally {
    await lease.end();
  }
}
