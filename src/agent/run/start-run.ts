import { describeCause, isKitbagError, toFailure, type Failure } from "../../core/errors.ts";
import { toCostRows } from "../cost/cost-table.ts";
import type { RunUsage } from "../cost/run-usage.ts";
import type { AgentEvent } from "../events.ts";
import type { RunOptions } from "../agent-options.ts";
import type { AgentRun } from "../agent-run.ts";
import type { RunResult } from "../run-result.ts";
import { callHook } from "./call-hook.ts";
import { createEventFeed } from "./event-feed.ts";
import type { RunEnd } from "./run-end.ts";
import { runLoop } from "./run-loop.ts";
import type { RunStart } from "./run-start.ts";
import type { RunState } from "./run-state.ts";

const nothingUsed: RunUsage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
};

/** Starts a run; `prepare` makes what it works with. Never throws. */
export function startRun(id: string, options: RunOptions, prepare: (start: RunStart) => Promise<RunState>): AgentRun {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const feed = createEventFeed(options.onEvent);
  const steering: string[] = [];
  let run: RunState | undefined;

  async function work(): Promise<RunResult> {
    // Whoever asks for the events in this turn gets the first one too.
    await Promise.resolve();
    const { signal } = options;
    if (signal?.aborted === true) stop();
    signal?.addEventListener("abort", stop);
    try {
      run = await prepare({ id, options, feed, signal: controller.signal });
      run.steering.push(...steering);
      return await close(run, await runLoop(run));
    } catch (cause) {
      return await fail(id, run, cause);
    } finally {
      signal?.removeEventListener("abort", stop);
      feed.end();
      await run?.parts.session.close();
    }
  }

  const result = work();
  return {
    id,
    result,
    get cost() {
      return run === undefined ? 0 : run.parts.counter.cost();
    },
    get usage() {
      return run?.parts.counter.usage() ?? nothingUsed;
    },
    breakdown: () => toCostRows(run?.questions ?? []),
    stop,
    steer: (text) => void (run?.steering ?? steering).push(text),
    [Symbol.asyncIterator]: (): AsyncIterator<AgentEvent, undefined> => feed.iterate(),
  };
}

/** Writes down how a run ended. */
async function close(run: RunState, end: RunEnd): Promise<RunResult> {
  const { log, hooks, feed } = run.parts;
  const result = toResult(run, end);
  if (end.status === "paused") await log.pause();
  // Who stopped it may go on with it; who lost it may not write.
  else if (end.status === "stopped" && (end.reason === "cancelled" || end.reason === "lost")) await log.close();
  else await log.end(result);
  if (hooks.onRunEnd !== undefined) await callHook("onRunEnd", () => hooks.onRunEnd?.(result));
  if (feed.isHeard()) feed.tell({ type: "task-end", run: run.id, result });
  return result;
}

function toResult(run: RunState, end: RunEnd): RunResult {
  const { counter } = run.parts;
  return {
    run: run.id,
    text: run.text,
    ...end,
    ...(end.status === "paused" && { approvals: run.waiting }),
    steps: run.step,
    usage: counter.usage(),
    cost: counter.cost(),
    messages: run.messages,
  };
}

/** Something threw: the model, a hook, the store, or Kitbag itself. */
async function fail(id: string, run: RunState | undefined, cause: unknown): Promise<RunResult> {
  if (run === undefined) {
    const error = toError(cause, id);
    return { status: "failed", run: id, text: "", error, steps: 0, usage: nothingUsed, cost: 0, messages: [] };
  }
  if (run.parts.signal.aborted) return closeQuietly(run, { status: "stopped", reason: "cancelled" });
  if (isKitbagError(cause, "lease-lost")) return closeQuietly(run, { status: "stopped", reason: "lost" });
  return closeQuietly(run, { status: "failed", error: toError(cause, run.parts.modelName) });
}

/** The result of what went wrong is the result, also if that cannot be written down: then the run can be resumed. */
async function closeQuietly(run: RunState, end: RunEnd): Promise<RunResult> {
  try {
    return await close(run, end);
  } catch {
    await run.parts.log.close()?.catch(() => undefined);
    const result = toResult(run, end);
    run.tell({ type: "task-end", run: run.id, result });
    return result;
  }
}

function toError(cause: unknown, model: string): Failure {
  if (isKitbagError(cause)) return cause.toJSON();
  return toFailure("model-failed", { model, reason: describeCause(cause) });
}
