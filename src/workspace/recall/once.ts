import { hash } from "node:crypto";

import { toCanonicalJson, type JsonValue } from "../../core/json.ts";
import { isKitbagError, type Failure } from "../../core/errors.ts";
import type { KeyValueStore, VersionedValue, WriteOptions } from "../../core/store.ts";
import { leaseMs, takeLease, type Lease, type LeaseWatch } from "../../platform/lease.ts";

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

/** What is known of a use: that it has begun, or how it ended. The process that runs it holds a lease too, which ends when it dies. */
type OnceRecord =
  | { readonly status: "running"; readonly input: string }
  | { readonly status: "done"; readonly input: string; readonly outcome: OnceOutcome };

/** What there is to do about a use. */
export type OnceClaim =
  | { readonly status: "run"; readonly ticket: OnceTicket }
  | { readonly status: "done"; readonly outcome: OnceOutcome }
  /** It is running now. */
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
  /** Whether it may be run again after a crash. */
  readonly mayRunAgain: boolean;
  /** How long it takes at most. */
  readonly limitMs: number;
  /** How long it is known after it is over. */
  readonly keyMs: number;
  /** What the waiting call has seen of the lease. */
  readonly watch: LeaseWatch;
}

/** Claims a use: exactly one of all processes that share the store gets it. */
export async function claimOnce(kv: KeyValueStore, subject: OnceSubject, options: OnceOptions): Promise<OnceClaim> {
  const place = toPlace(subject);
  const input = hash("sha256", toCanonicalJson(subject.input));
  const known = answerFor(await kv.get(place), input);
  if (known !== undefined) return known;
  const leaseKey = `lease:${place}`;
  const held = await kv.get(leaseKey);
  if (held !== undefined && !options.watch.isDead(leaseKey, held.version)) return { status: "wait" };
  const lease = await takeLease(kv, leaseKey, held?.version);
  if (lease === undefined) return { status: "wait" };
  const claim = await claimLeased({ kv, place, input, lease }, options).catch(async (cause: unknown) => {
    await lease.end();
    throw cause;
  });
  if (claim.status !== "run") await lease.end();
  return claim;
}

/** Decides on a use whose lease this process holds. */
async function claimLeased(use: LeasedUse, { mayRunAgain, limitMs, keyMs }: OnceOptions): Promise<OnceClaim> {
  const { kv, place, input } = use;
  // Looked at again: it may have ended just before the lease did.
  const found = await kv.get(place);
  const known = answerFor(found, input);
  if (known !== undefined) return known;
  if (found !== undefined && !mayRunAgain) return { status: "uncertain" };
  const options = { ifVersion: found?.version ?? 0, ...toExpiry(limitMs + leaseMs + keyMs) };
  const version = await kv.set(place, { status: "running", input }, options).catch(async (cause: unknown) => {
    await takeBack(kv, place, found?.version ?? 0).catch(ignore);
    throw cause;
  });
  return { status: "run", ticket: toTicket(use, version, keyMs) };
}

/** Takes away what may have been written although the store said that it failed: nothing has begun. */
async function takeBack(kv: KeyValueStore, place: string, before: number): Promise<void> {
  const found = await kv.get(place);
  if (found !== undefined && found.version !== before) await kv.delete(place, { ifVersion: found.version });
}

/** What a record answers without a look at who runs it. */
function answerFor(found: VersionedValue | undefined, input: string): OnceClaim | undefined {
  if (found === undefined) return undefined;
  const record = found.value as unknown as OnceRecord;
  if (record.input !== input) return { status: "mismatch" };
  return record.status === "done" ? { status: "done", outcome: record.outcome } : undefined;
}

/** Lets a use that ended with a failure happen again, for a caller who knows that it failed. */
export async function reopenOnce(kv: KeyValueStore, subject: Omit<OnceSubject, "input">): Promise<void> {
  const place = toPlace(subject);
  const found = await kv.get(place);
  if (found === undefined) return;
  const record = found.value as unknown as OnceRecord;
  if (record.status !== "done" || record.outcome.status === "ok") return;
  try {
    await kv.delete(place, { ifVersion: found.version });
  } catch (cause) {
    // Another process was faster, and may run it now.
    if (!isKitbagError(cause, "store-conflict")) throw cause;
  }
}

/** The longest part of a store's key is the user's; a key may hold anything, so it is not written out. */
function toPlace({ address, user, key }: Omit<OnceSubject, "input">): string {
  return `once:${address}:${hash("sha256", toCanonicalJson([user ?? null, key]))}`;
}

/** What is kept for longer is kept for ever. */
const longestMs = 1e14;

function toExpiry(durationMs: number): Pick<WriteOptions, "expiresInMs"> {
  return durationMs < longestMs ? { expiresInMs: Math.ceil(durationMs) } : {};
}

/** A use that only this process can begin. */
interface LeasedUse {
  readonly kv: KeyValueStore;
  readonly place: string;
  readonly input: string;
  readonly lease: Lease;
}

function toTicket({ kv, place, input, lease }: LeasedUse, version: number, keyMs: number): OnceTicket {
  return {
    async finish(outcome) {
      const done = { status: "done", input, outcome: outcome as unknown as JsonValue };
      const write = (ifVersion: number): Promise<unknown> => kv.set(place, done, { ifVersion, ...toExpiry(keyMs) });
      try {
        // The record expired while an approval was pending: no other process has begun the use.
        await write(version).catch((cause: unknown) => {
          unlessTaken(cause);
          return write(0).catch(unlessTaken);
        });
      } finally {
        // The outcome is there: no call has to wait until the lease is given back.
        void lease.end();
      }
    },
    async giveUp() {
      try {
        await kv.delete(place, { ifVersion: version }).catch(unlessTaken);
      } finally {
        await lease.end();
      }
    },
  };
}

/** A process that took the use over because this one seemed dead decides what is known of it: that is no failure here. */
function unlessTaken(cause: unknown): void {
  if (!isKitbagError(cause, "store-conflict")) throw cause;
}

function ignore(): void {}
