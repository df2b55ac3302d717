import { errorCodes, isKitbagError, toFailure, type Failure } from "../../core/errors.ts";
import { isObject, copyJson, maxJsonDepth, showValue, type JsonCopy } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Call } from "./call.ts";
import type { Middleware } from "./middleware.ts";
import type { Next, Phase } from "./phase.ts";

/** Makes a phase out of a user's middleware: holds it to its contract, and the call to what it answers. */
export function guard(middleware: Middleware): Phase {
  return async (call, next) => {
    const inner = createInner(call, next);
    const outcome = await answerOf(call, middleware, inner);
    await inner.close();
    return outcome;
  };
}

/** What is inside a middleware: it may be run once, and not after the middleware has answered. */
interface Inner {
  readonly next: () => Promise<ToolOutcome>;
  /** The outcome, once it is there. */
  outcome(): ToolOutcome | undefined;
  /** Stops what the middleware did not wait for, and waits until it is over. */
  close(): Promise<void>;
}

function createInner(call: Call, next: Next): Inner {
  let running: Promise<ToolOutcome> | undefined;
  let outcome: ToolOutcome | undefined;
  let isClosed = false;

  async function run(): Promise<ToolOutcome> {
    try {
      outcome = await next();
    } catch (cause) {
      outcome = call.fail("call-crashed", { tool: call.address, reason: describeThrown(cause) });
    }
    return outcome;
  }

  return {
    next() {
      if (running !== undefined || isClosed) return refuse(isClosed ? "after it had answered" : "more than once");
      running = run();
      return running;
    },
    outcome: () => outcome,
    async close() {
      isClosed = true;
      if (running === undefined || outcome !== undefined) return;
      const reason = "a middleware answered without waiting for it";
      call.stop(toFailure("call-cancelled", { tool: call.address, reason }));
      await running;
    },
  };
}

function refuse(when: string): Promise<never> {
  const refused = Promise.reject(new Error(`it called next ${when}`));
  // A middleware that does not look at the answer must not take the process down.
  refused.catch(() => {});
  return refused;
}

async function answerOf(call: Call, middleware: Middleware, inner: Inner): Promise<ToolOutcome> {
  try {
    const answer: unknown = await middleware(call, inner.next);
    const outcome = inner.outcome();
    return outcome !== undefined && answer === outcome ? outcome : toOutcome(call, answer);
  } catch (cause) {
    const reason = isKitbagError(cause, "middleware-failed") ? cause.details.reason : describeThrown(cause);
    return call.fail("middleware-failed", { tool: call.address, reason });
  }
}

/**
 * Takes what a middleware or a guard made itself: it is held to the same as what a tool makes.
 *
 * @throws {TypeError} if it is no outcome, or none that may be handed over.
 */
export function toOutcome(call: Call, answer: unknown): ToolOutcome {
  const { status, output, error } = (isObject(answer) ? answer : {}) as Record<string, unknown>;
  if (status === "failed" && isFailure(error)) return { status, error };
  if (status !== "ok" || output === undefined) {
    throw new TypeError(`it answered ${showValue(answer)}, not an outcome`);
  }
  const maxBytes = call.limit("maxKeptBytes");
  const copy = copyJson(output, { maxBytes, maxDepth: maxJsonDepth });
  if (!copy.ok) throw new TypeError(`it answered an output with ${describeCopy(copy)}`);
  call.outputBytes = copy.bytes;
  return { status, output: copy.value, ...(call.coerced.length > 0 && { coerced: call.coerced }) };
}

function isFailure(error: unknown): error is Failure {
  if (!isObject(error)) return false;
  const { code, message, details } = error as Partial<Failure>;
  const isKnown = code !== undefined && errorCodes.includes(code);
  return isKnown && typeof message === "string" && copyJson(details, { maxBytes: 65_536, maxDepth: maxJsonDepth }).ok;
}

function describeCopy(copy: Extract<JsonCopy, { ok: false }>): string {
  return copy.reason === "too-large"
    ? "more than is kept"
    : `${copy.problem.found} at ${copy.problem.path || "its root"}`;
}
