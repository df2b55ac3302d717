import { setTimeout as sleep } from "node:timers/promises";

import { backOffMs, longestTimerMs } from "../../core/async.ts";
import { KitbagError, type ErrorCode, type Failure, type Problem } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { Tool, TypedTool } from "../../core/tool.ts";
import { composeTool, mayRunAgain, type CompositionDefinition } from "./compose-tool.ts";
import { toPart, type Part } from "./part.ts";
import { takeOutput } from "./run-plan.ts";

/** How often and how soon {@link retry} tries again. */
export interface RetryOptions extends Partial<CompositionDefinition> {
  /** How often the tool is called at the most. @default 3 */
  readonly attempts?: number;
  /** The longest wait before the second call; it doubles with each further one. @default 200 */
  readonly backoffMs?: number;
  /** The longest wait of all. @default 10000 */
  readonly maxBackoffMs?: number;
  /** Tells whether a failure may pass. @default all but those that would be the same again */
  readonly retryIf?: (failure: Failure) => boolean;
}

/** Failures that another call with the same input cannot change. */
const finalCodes: ReadonlySet<string> = new Set<ErrorCode>([
  "address-invalid",
  "approval-denied",
  "approval-failed",
  "approval-missing",
  "budget-spent",
  "call-cancelled",
  "call-cycle",
  "call-depth",
  "injection-missing",
  "input-invalid",
  "option-invalid",
  "output-too-large",
  "pipeline-invalid",
  "runtime-missing",
  "schema-invalid",
  "store-closed",
  "tool-ambiguous",
  "tool-foreign",
  "tool-invalid",
  "tool-not-found",
  "tool-unavailable",
  "version-not-found",
]);

/**
 * Makes a tool that calls a tool again when it fails, after a while that grows and is never quite the same.
 *
 * Only for a tool that may be run again: one that is `idempotent` or `readOnly`. A failure that cannot change (a wrong input, a
 * denied approval) is not tried again, and neither is anything once the call is cancelled or its time is up. Name and
 * description are the tool's own unless you give others.
 *
 * @throws {KitbagError} `tool-invalid` if the tool may not be run again, or an option is wrong.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, retry } from "kitbag";
 *
 * let calls = 0;
 * const flaky = defineTool({
 *   name: "flaky",
 *   description: "Fails the first time",
 *   annotations: { readOnly: true },
 *   run() {
 *     calls += 1;
 *     if (calls === 1) throw new Error("not yet");
 *     return "done";
 *   },
 * });
 * const steady = retry(flaky, { attempts: 3, backoffMs: 10 });
 * const outcome = await createWorkspace({ tools: [steady] }).call(steady, {});
 * console.assert(outcome.status === "ok" && outcome.output === "done" && calls === 2);
 * ```
 */
export function retry<Input, Output>(
  tool: TypedTool<Input, Output>,
  options: RetryOptions = {},
): TypedTool<Input, Output> {
  const { attempts = 3, backoffMs = 200, maxBackoffMs = 10_000, retryIf = mayPass, ...definition } = options;
  const part = checkRetry(tool, { attempts, backoffMs, maxBackoffMs, retryIf });
  const { name, description, inputSchema, outputSchema } = { ...part.tool, ...definition };
  return composeTool({
    definition: { ...definition, name, description },
    parts: [part],
    input: inputSchema,
    output: outputSchema,
    problems: [],
    async run(input, context) {
      for (let attempt = 1; ; attempt++) {
        context.signal.throwIfAborted();
        const outcome = await context.call<unknown, unknown>(part.tool, input);
        const isLast = attempt >= attempts || outcome.status === "ok" || !retryIf(outcome.error);
        if (isLast) return takeOutput(outcome, { tool: name, step: `attempt ${attempt} of ${attempts}` });
        context.progress({ message: `attempt ${attempt} failed`, done: attempt, total: attempts });
        const waitMs = backOffMs(attempt, { firstMs: backoffMs, maxMs: maxBackoffMs });
        await sleep(waitMs, undefined, { signal: context.signal }).catch(() => context.signal.throwIfAborted());
      }
    },
  });
}

function mayPass(failure: Failure): boolean {
  return !finalCodes.has(failure.code === "step-failed" ? failure.details.code : failure.code);
}

type RetryNumbers = Required<Pick<RetryOptions, "attempts" | "backoffMs" | "maxBackoffMs" | "retryIf">>;

function checkRetry(tool: Tool, numbers: RetryNumbers): Part {
  const problems = checkNumbers(numbers);
  const part = toPart(tool, "tool", problems);
  if (part !== undefined && !mayRunAgain(part.tool.annotations)) {
    const expected = `a tool that may be run again: annotate ${part.tool.name} with idempotent or readOnly if that is true`;
    problems.push({ path: "tool", expected, found: "one that may do its work twice" });
  }
  if (part !== undefined && problems.length === 0) return part;
  throw new KitbagError("tool-invalid", { tool: part?.tool.name ?? "retry", problems });
}

const mostAttempts = 100;

function checkNumbers({ attempts, backoffMs, maxBackoffMs, retryIf }: RetryNumbers): Problem[] {
  const problems: Problem[] = [];
  const expect = (right: boolean, path: string, expected: string, found: unknown): void => {
    if (!right) problems.push({ path, expected, found: showValue(found) });
  };
  const isCount = Number.isSafeInteger(attempts) && attempts >= 1 && attempts <= mostAttempts;
  expect(isCount, "attempts", `a whole number from 1 to ${mostAttempts}`, attempts);
  expect(isWait(backoffMs), "backoffMs", `a number from 0 to ${longestTimerMs}`, backoffMs);
  expect(isWait(maxBackoffMs), "maxBackoffMs", `a number from 0 to ${longestTimerMs}`, maxBackoffMs);
  expect(typeof retryIf === "function", "retryIf", "a function", retryIf);
  return problems;
}

function isWait(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= longestTimerMs;
}
