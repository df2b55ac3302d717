import { hash } from "node:crypto";

import { toCanonicalJson } from "../../core/canonical-json.ts";
import { isKitbagError, type Failure } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore, WriteOptions } from "../../core/store.ts";

/** How a call ended, as it is kept for its key. */
export type OnceOutcome =
  | { readonly status: "ok"; readonly output: JsonValue }
  | { readonly status: "failed"; readonly error: Failure };

/** One use of a tool that must happen once. */
export interface OnceSubject {
  readonly address: string;
  /** Who asks: the keys of one user mean nothing to another. */
  readonly user: string | undefined;
  readonly key: string;
  /** As it was checked: the same key with another input is a mistake. */
  readonly input: JsonValue;
}

/** What is known of a use: somebody runs it until a time, or how it ended. */
type OnceRecord =
  | { readonly status: "running"; readonly input: string; readonly until: number }
  | { readonly status: "done"; readonly input: string; readonly outcome: OnceOutcome };

/** What there is to do about a use. */
export type OnceClaim =
  | { readonly status: "run"; readonly ticket: OnceTicket }
  | { readonly status: "done"; readonly outcome: OnceOutcome }
  /** Somebody runs it now. */
  | { readonly status: "wait" }
  /** It was running when its process died. */
  | { readonly status: "uncertain" }
  /** The key was used with another input. */
  | { readonly status: "mismatch" };

/** The right to run a use; it ends with one of these. */
export interface OnceTicket {
  /** Keeps how it ended. */
  finish(outcome: OnceOutcome): Promise<void>;
  /** Nothing happened, or it may happen again: the key is as good as new. */
  giveUp(): Promise<void>;
}

/** How a use is claimed. */
export interface OnceOptions {
  /** By then it is over, unless the process died. */
  readonly until: number;
  /** Whether it may be run again after a crash. */
  readonly mayRunAgain: boolean;
  readonly now: number;
  /** How long it is known after it is over. */
  readonly keyMs: number;
}

/** Claims a use: exactly one of all processes that share the store gets it. */
export async function claimOnce(kv: KeyValueStore, subject: OnceSubject, options: OnceOptions): Promise<OnceClaim> {
  const place = toPlace(subject);
  const input = hash("sha256", toCanonicalJson(subject.input));
  const found = await kv.get(place);
  if (found !== undefined) {
    const record = found.value as unknown as OnceRecord;
    if (record.input !== input) return { status: "mismatch" };
    if (record.status === "done") return { status: "done", outcome: record.outcome };
    if (record.until > options.now) return { status: "wait" };
    if (!options.mayRunAgain) return { status: "uncertain" };
  }
  const running: OnceRecord = { status: "running", input, until: options.until };
  try {
    const { until, now, keyMs } = options;
    const leftMs = until - now + keyMs;
    const version = await kv.set(place, { ...running }, { ifVersion: found?.version ?? 0, ...toExpiry(leftMs) });
    return { status: "run", ticket: toTicket(kv, { place, input, version, keyMs }) };
  } catch (cause) {
    // Somebody else was faster, and runs it.
    if (isKitbagError(cause, "store-conflict")) return { status: "wait" };
    throw cause;
  }
}

/** Lets a use that ended with a failure happen again, for somebody who knows that it failed and wants it all the same. */
export async function reopenOnce(kv: KeyValueStore, subject: Omit<OnceSubject, "input">): Promise<void> {
  const place = toPlace(subject);
  const found = await kv.get(place);
  if (found === undefined) return;
  const record = found.value as unknown as OnceRecord;
  if (record.status !== "done" || record.outcome.status === "ok") return;
  try {
    await kv.delete(place, { ifVersion: found.version });
  } catch (cause) {
    // Somebody else was faster, and may run it now.
    if (!isKitbagError(cause, "store-conflict")) throw cause;
  }
}

/** The longest part of a store's key is the user's; a key may hold anything, so it is not written out. */
function toPlace({ address, user, key }: Omit<OnceSubject, "input">): string {
  return `once:${address}:${hash("sha256", toCanonicalJson([user ?? null, key]))}`;
}

/** Whoever keeps something longer keeps it for ever. */
const longestMs = 1e14;

function toExpiry(durationMs: number): Pick<WriteOptions, "expiresInMs"> {
  return durationMs < longestMs ? { expiresInMs: Math.ceil(durationMs) } : {};
}

/** Where a use is kept, and what is there. */
interface OncePlace {
  readonly place: string;
  readonly input: string;
  readonly version: number;
  readonly keyMs: number;
}

function toTicket(kv: KeyValueStore, { place, input, version, keyMs }: OncePlace): OnceTicket {
  return {
    async finish(outcome) {
      const done = { status: "done", input, outcome: outcome as unknown as JsonValue };
      // Whoever took it over because this process seemed dead decides now.
      await kv.set(place, done, { ifVersion: version, ...toExpiry(keyMs) });
    },
    async giveUp() {
      await kv.delete(place, { ifVersion: version });
    },
  };
}
