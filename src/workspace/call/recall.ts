import type { ErrorCode } from "../../core/errors.ts";
import { cloneJson, copyJson, maxJsonDepth, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, OkOutcome, Recalled, ToolOutcome } from "../../core/outcome.ts";
import type { ToolCache } from "../../core/tool.ts";
import { describeThrown } from "../describe-thrown.ts";
import { type SharedRun, toCacheKey, type FoundOutput } from "../recall/output-cache.ts";
import { isNear, type SimilarText, toSimilarText } from "../recall/similar-outputs.ts";
import { claimOnce, type OnceOutcome, type OnceTicket } from "../recall/once.ts";
import { createLeaseWatch } from "../../platform/lease.ts";
import { toolDigest } from "../registry/tool-digest.ts";
import type { Call } from "./call.ts";
import { isLimited } from "./authority.ts";
import { type Next, type Phase, raceStop, sleepIn, redactFailure } from "./phase.ts";
import { mayRunAgain } from "./try-again.ts";

/** Answers without running the tool if that is allowed and the outcome is known: by its key, or from the cache. */
export const recall: Phase = (call, next) => {
  const { cache } = call.entry.tool;
  const run =
    cache === undefined || bringsValues(call) || call.named.length > 0 ? next : () => recallCached(call, cache, next);
  return call.options.idempotencyKey === undefined ? run() : recallOnce(call, call.options.idempotencyKey, run);
};

/** Whether the tool gets values that came with the call: they may decide the output, and no key of a cache knows them. */
function bringsValues({ entry, root }: Call): boolean {
  const { injected } = root.options;
  return injected !== undefined && entry.tool.inject.some((name) => Object.hasOwn(injected, name));
}

const pollMs = 50;

async function recallOnce(call: Call, key: string, run: Next): Promise<ToolOutcome> {
  const { address, entry, host, limitMs } = call;
  const subject = { address, user: call.user, key, input: call.checked as JsonValue };
  const watch = createLeaseWatch();
  try {
    for (;;) {
      const { keyMs } = host.limits;
      const claim = await claimOnce(host.kv, subject, { limitMs, keyMs, watch, mayRunAgain: mayRunAgain(entry.tool) });
      switch (claim.status) {
        case "run":
          return await runOnce(call, claim.ticket, run);
        case "done":
          return recalledBy(call, claim.outcome);
        case "uncertain":
          return call.fail("call-uncertain", { tool: address, key });
        case "mismatch": {
          const expected = "a key that was not used with another input";
          return call.fail("option-invalid", { option: "idempotencyKey", found: "one that was", expected });
        }
        case "wait": {
          const waited = await sleepIn(call, pollMs);
          if (!waited.ok) return { status: "failed", error: waited.failure };
        }
      }
    }
  } catch (cause) {
    return call.fail("store-failed", { reason: describeThrown(cause), ran: call.ran });
  }
}

async function runOnce(call: Call, ticket: OnceTicket, run: Next): Promise<ToolOutcome> {
  const outcome = await run();
  const isOpen = outcome.status === "failed" && (!call.ran || mayRunAgain(call.entry.tool));
  if (isOpen) await ticket.giveUp();
  else await ticket.finish(toKept(call, outcome));
  return outcome;
}

/** A larger output does not fit into a value of the store. Who asks for it again hears that, and it is not run again. */
const maxOnceBytes = 31 * 1024 * 1024;

/** What is kept is what the caller gets: without secrets. */
function toKept(call: Call, outcome: ToolOutcome): OnceOutcome {
  const { redactor, address } = call;
  const { status } = outcome;
  if (status === "ok" && call.outputBytes > maxOnceBytes) {
    return call.fail("output-too-large", { tool: address, limitBytes: maxOnceBytes });
  }
  const kept = status === "ok" ? { status, output: outcome.output } : { status, error: outcome.error };
  return redactor === undefined ? kept : ({ ...redactor.value(kept), status } as OnceOutcome);
}

function recalledBy(call: Call, outcome: OnceOutcome): ToolOutcome {
  if (outcome.status === "failed") return outcome;
  const bytes = Buffer.byteLength(JSON.stringify(outcome.output));
  return recalledFrom(call, "key", { output: outcome.output, bytes });
}

async function recallCached(call: Call, cache: ToolCache, next: Next): Promise<ToolOutcome> {
  const similar = toSimilarText(cache, call.checked as JsonValue);
  const key = keyOf(call, cache, similar);
  if (typeof key !== "string") return key;
  const { sharedRuns } = call.host;
  let found: FoundOutput;
  try {
    found = await call.host.cache.find(key);
  } catch (cause) {
    return call.fail("store-failed", { reason: describeThrown(cause), ran: false });
  }
  if ("kept" in found) return recallKept(call, found.kept, similar, next);
  const { generation } = found;
  // Who comes after something was forgotten does not want what was begun before.
  const sharedKey = `${generation}:${key}:${similar?.text ?? ""}`;
  if (isInside(call, sharedKey)) return next();
  for (let run = sharedRuns.get(sharedKey); run !== undefined; run = sharedRuns.get(sharedKey)) {
    const ended = await raceStop(call, run);
    if (!ended.ok) return { status: "failed", error: ended.failure };
    const shared = shareWith(call, ended.value);
    if (shared !== undefined) return shared;
  }
  const run = runAndKeep(call, { key, cache, generation, said: similar?.text }, next);
  sharedRuns.set(sharedKey, run);
  sharing.set(call, sharedKey);
  try {
    return (await run).outcome;
  } finally {
    sharedRuns.delete(sharedKey);
  }
}

/** What calls run for others too, by the key under which they are shared. */
const sharing = new WeakMap<Call, string>();

/** Whether the call is inside the one that it would wait for: that would wait for it in turn. */
function isInside({ parent }: Call, sharedKey: string): boolean {
  return parent !== undefined && (sharing.get(parent) === sharedKey || isInside(parent, sharedKey));
}

/** Answers with what is kept, if it is for the same words or, by the embedder, for words that say the same. */
async function recallKept(
  call: Call,
  kept: Extract<FoundOutput, { kept: unknown }>["kept"],
  similar: SimilarText | undefined,
  next: Next,
): Promise<ToolOutcome> {
  const { said } = kept;
  if (similar === undefined || said === undefined || said === similar.text) return recalledFrom(call, "cache", kept);
  const { embedder } = call.host;
  const isSame = embedder !== undefined && (await isNear(embedder, [said, similar.text], similar.threshold));
  return isSame ? recalledFrom(call, "similar", kept) : next();
}

function keyOf(call: Call, { key, scope }: ToolCache, similar: SimilarText | undefined): string | FailedOutcome {
  const { address, entry, checked } = call;
  const isForAll = scope === "everybody";
  const user = isForAll ? undefined : call.user;
  // What a workspace injects may decide the output, and another one that shares the store may inject something else.
  const workspace = isForAll || entry.tool.inject.length === 0 ? undefined : call.host.cache.id;
  try {
    const input = similar === undefined ? checked : similar.input;
    const given = key === undefined ? input : key(cloneJson(input as JsonObject));
    const copy = copyJson(given, { maxBytes: call.limit("maxInputBytes"), maxDepth: maxJsonDepth });
    if (copy.ok) return toCacheKey({ address, digest: toolDigest(entry.tool), user, workspace, key: copy.value });
    return call.fail("tool-failed", { tool: address, reason: "the key of its cache is no JSON" });
  } catch (cause) {
    return call.fail("tool-failed", { tool: address, reason: `the key of its cache failed: ${describeThrown(cause)}` });
  }
}

/** Under which key an output is kept, and for which text, if that may be said in other words. */
interface Keeping {
  readonly key: string;
  readonly cache: ToolCache;
  readonly generation: number;
  readonly said: string | undefined;
}

async function runAndKeep(call: Call, { key, cache, generation, said }: Keeping, next: Next): Promise<SharedRun> {
  const outcome = await next();
  if (outcome.status === "failed")
    return { outcome: redactFailure(call, outcome), bytes: 0, isOwn: isOwn(call, outcome) };
  const output = call.redactor === undefined ? outcome.output : call.redactor.value(outcome.output);
  // One with a secret in it is not kept, and who waits for it gets it without: only this call knows the secrets.
  if (output !== outcome.output) {
    call.outputBytes = Buffer.byteLength(JSON.stringify(output));
    return { outcome: { ...outcome, output }, bytes: call.outputBytes, isOwn: false };
  }
  try {
    const { version } = call.entry.tool;
    await call.host.cache.keep(key, { output, bytes: call.outputBytes, said }, { ...cache, version, generation });
    return { outcome, bytes: call.outputBytes, isOwn: false };
  } catch (cause) {
    const outcomeUnkept = call.fail("store-failed", { reason: describeThrown(cause), ran: true });
    return { outcome: outcomeUnkept, bytes: 0, isOwn: false };
  }
}

/** Failures of a call that was cut short, or that not everybody may make: they say nothing about another one. */
const ownFailures: ReadonlySet<string> = new Set<ErrorCode>([
  "call-cancelled",
  "call-timeout",
  "session-closed",
  "tool-unavailable",
  "tool-undeclared",
  "tool-reserved",
  "caller-read-only",
  "author-denied",
]);

/** A caller who may not call everything may fail inside the tool where others do not. */
function isOwn(call: Call, { error }: FailedOutcome): boolean {
  return isLimited(call) || ownFailures.has(error.code);
}

/** The outcome of another call, if this one may have it. */
function shareWith(call: Call, { outcome, bytes, isOwn: isItsOwn }: SharedRun): ToolOutcome | undefined {
  if (outcome.status === "ok") return recalledFrom(call, "shared", { output: cloneJson(outcome.output), bytes });
  return isItsOwn ? undefined : outcome;
}

function recalledFrom(
  call: Call,
  recalled: Recalled,
  { output, bytes }: { readonly output: JsonValue; readonly bytes: number },
): OkOutcome {
  call.outputBytes = bytes;
  call.emit({ type: "call-recalled", call: call.id, from: recalled });
  const { coerced } = call;
  return { status: "ok", output, recalled, ...(coerced.length > 0 && { coerced }) };
}
