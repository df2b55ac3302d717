import { backOffMs } from "../../core/async.ts";
import type { ErrorCode } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Breakers } from "../failures/retry-policy.ts";
import { toolDigest } from "../registry/tool-digest.ts";
import type { Call } from "./call.ts";
import { toRecordedScopes } from "./authority.ts";
import { type Next, type Phase, raceStop, sleepIn, redactFailure } from "./phase.ts";

/** Tries a tool again that may be run again, watches whether it is broken, and keeps calls that failed for good. */
export const tryAgain: Phase = (call, next) => {
  const { breakers, retries, keepsFailed } = call.host;
  const run = breakers === undefined ? next : () => watch(call, breakers, next);
  const times = call.entry.tool.limits.retries ?? retries.times;
  const mayTry = times > 0 && mayRunAgain(call.entry.tool);
  if (!mayTry && !keepsFailed) return run();
  return tryAndKeep(call, mayTry ? times : 0, run);
};

async function watch(call: Call, breakers: Breakers, run: Next): Promise<ToolOutcome> {
  const { entry, id, address: tool } = call;
  const outcome = await breakers.run({
    entry,
    run,
    isFault: (failed) => isFaultOf(call, failed),
    wait: async (trial) => {
      const race = await raceStop(call, trial);
      return race.ok ? undefined : { status: "failed", error: race.failure };
    },
    onBroken: (facts) => call.emit({ type: "tool-broken", call: id, tool, ...facts }),
    onMended: () => call.emit({ type: "tool-mended", call: id, tool }),
  });
  // It broke while this call waited.
  return outcome ?? call.fail("tool-broken", { tool, retryAfterMs: breakers.openMs });
}

/** Whether the tool is to blame: not if it was not reached, nor if the caller gave it less time than it has. */
function isFaultOf(call: Call, outcome: FailedOutcome): boolean {
  if (!call.ran || !isFault(outcome)) return false;
  const usualMs = call.entry.tool.limits.limitMs ?? call.limit("limitMs");
  return outcome.error.code !== "call-timeout" || call.limitMs >= usualMs;
}

/** Whether a tool may be run again: the one rule for retries, recovery and replay. */
export function mayRunAgain({ annotations }: Call["entry"]["tool"]): boolean {
  return annotations.idempotent === true || annotations.readOnly === true;
}

async function tryAndKeep(call: Call, times: number, run: Next): Promise<ToolOutcome> {
  const { retries } = call.host;
  let outcome = await run();
  for (let left = times; left > 0 && isWorthATry(call, outcome); left--) {
    const waited = await sleepIn(call, backOffMs(call.attempts, { firstMs: retries.minMs, maxMs: retries.maxMs }));
    if (!waited.ok || isBroken(call)) break;
    call.attempts += 1;
    call.emit({ type: "call-retry", call: call.id, attempt: call.attempts });
    const again = await run();
    // The tool was not reached: what it said itself is why the call failed.
    if (isBrokenOutcome(again)) break;
    outcome = again;
  }
  const isKept = call.host.keepsFailed && call.parent === undefined;
  return isKept && isFault(outcome) ? keepFailed(call, outcome) : outcome;
}

function isWorthATry(call: Call, outcome: ToolOutcome): boolean {
  return mayPass(outcome) && call.stopped === undefined && !isBroken(call);
}

/** Whether the tool is taken out, also by this very call. */
function isBroken({ host, entry }: Call): boolean {
  return host.registry.brokenUntil(entry) !== undefined;
}

function isBrokenOutcome(outcome: ToolOutcome): boolean {
  return outcome.status === "failed" && outcome.error.code === "tool-broken";
}

async function keepFailed(call: Call, outcome: FailedOutcome): Promise<FailedOutcome> {
  const { host, redactor, user, options } = call;
  const given = call.checked as JsonValue;
  const input = redactor === undefined ? given : redactor.value(given);
  const { idempotencyKey: key } = options;
  // Without its secrets it would be another key.
  const isKeyKept = key !== undefined && (redactor === undefined || redactor.text(key) === key);
  const { error } = redactFailure(call, outcome);
  const time = Date.now();
  const id = `${time.toString(36)}-${call.id}`;
  try {
    const { keepLetter } = await import("../failures/dead-letters.ts");
    await keepLetter(host.kv, {
      id,
      tool: call.address,
      digest: toolDigest(call.entry.tool),
      input,
      isRedacted: input !== given,
      ...(user !== undefined && { user }),
      scopes: toRecordedScopes(call),
      ...(isKeyKept && { idempotencyKey: key }),
      // The input is needed as it is to make the call again; the error is not.
      error: host.recordRedactor === undefined ? error : host.recordRedactor.value(error),
      attempts: call.attempts,
      time,
    });
    call.emit({ type: "call-kept", call: call.id, letter: id });
    return outcome;
  } catch (cause) {
    const reason = `${describeThrown(cause)}; so the failed call is not kept: ${outcome.error.message}`;
    return call.fail("store-failed", { reason, ran: true });
  }
}

/** Failures that another try may not have. */
const passing: ReadonlySet<ErrorCode> = new Set(["tool-failed", "script-failed", "sandbox-failed"]);

/** Failures that say something about the tool, and not about who called it. */
const faults: ReadonlySet<ErrorCode> = new Set([
  ...passing,
  "call-timeout",
  "memory-exceeded",
  "output-flooded",
  "output-invalid",
  "output-too-large",
  "interpreter-missing",
]);

/** Tells whether it is worth while to try once more. */
function mayPass(outcome: ToolOutcome): boolean {
  return outcome.status === "failed" && passing.has(outcome.error.code);
}

/** Tells whether the tool is to blame. */
function isFault(outcome: ToolOutcome): outcome is FailedOutcome {
  return outcome.status === "failed" && faults.has(outcome.error.code);
}
