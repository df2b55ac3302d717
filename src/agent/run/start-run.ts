import { describeCause, isKitbagError, toFailure, type Failure } from "../../core/errors.ts";
import { toCostRows } from "../cost/cost-table.ts";
import type { RunUsage } from "../cost/run-usage.ts";
import type { AgentEvent } from "../events.ts";
import type { RunOptions } from "../agent-options.ts";
import type { AgentRun } from "../agent-run.ts";
import type { RunResult } from "../run-result.ts";
import type { AgentTelemetry } from "../telemetry/agent-telemetry.ts";
import { saveRun } from "../memory/conversations/save-run.ts";
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

/** A run from before it is prepared until it is over. */
interface Job {
  readonly start: RunStart;
  readonly stop: () => void;
  /** What somebody said before it was prepared. */
  readonly steering: string[];
  run: RunState | undefined;
}

/** Starts a run; `prepare` makes what it works with. Never throws. */
export function startRun(
  id: string,
  options: RunOptions,
  telemetry: AgentTelemetry,
  prepare: (start: RunStart) => Promise<RunState>,
): AgentRun {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const feed = createEventFeed(toListener(options));
  const start = { id, options, feed, signal: controller.signal };
  const job: Job = { start, stop, steering: [], run: undefined };
  const result = work(job, telemetry, prepare);
  return {
    id,
    result,
    get cost() {
      return job.run === undefined ? 0 : job.run.parts.counter.cost();
    },
    get usage() {
      return job.run?.parts.counter.usage() ?? nothingUsed;
    },
    breakdown: () => toCostRows(job.run?.questions ?? []),
    stop,
    steer: (text) => void (job.run?.steering ?? job.steering).push(text),
    [Symbol.asyncIterator]: (): AsyncIterator<AgentEvent, undefined> => feed.iterate(),
  };
}

async function work(
  job: Job,
  telemetry: AgentTelemetry,
  prepare: (start: RunStart) => Promise<RunState>,
): Promise<RunResult> {
  // Whoever asks for the events in this turn gets the first one too.
  await Promise.resolve();
  const { id, options, feed } = job.start;
  const { signal } = options;
  if (signal?.aborted === true) job.stop();
  signal?.addEventListener("abort", job.stop);
  // Who cannot be told what happens does not keep it from happening.
  const trace = telemetry.isOn() ? await telemetry.start(id, options).catch(() => undefined) : undefined;
  let result: RunResult;
  try {
    job.run = await prepare(trace === undefined ? job.start : { ...job.start, trace });
    job.run.steering.push(...job.steering);
    result = await close(job.run, await runLoop(job.run));
  } catch (cause) {
    result = await fail(id, job.run, cause);
  } finally {
    signal?.removeEventListener("abort", job.stop);
    feed.end();
    await job.run?.parts.session.close();
  }
  trace?.end(result);
  return result;
}

function toListener({ onEvent, onText }: RunOptions): RunOptions["onEvent"] {
  if (onText === undefined) return onEvent;
  return (event) => {
    onEvent?.(event);
    if (event.type === "text-delta") onText(event.text);
  };
}

/** Writes down how a run ended. */
async function close(run: RunState, end: RunEnd): Promise<RunResult> {
  const { log, hooks, feed } = run.parts;
  const result = toResult(run, end);
  // Before the run has ended: if this process dies in between, whoever resumes the run keeps it again.
  if (run.parts.conversation !== undefined && result.reason !== "lost") await saveRun(run, end.status);
  if (end.status === "paused") await log.pause();
  // Who stopped it may go on with it; who lost it may not write.
  else if (end.status === "stopped" && (end.reason === "cancelled" || end.reason === "lost")) await log.close();
  else await log.end(result);
  if (hooks.onRunEnd !== undefined) await callHook("onRunEnd", () => hooks.onRunEnd?.(result));
  if (feed.isHeard()) feed.tell({ type: "task-end", run: run.id, result });
  return result;
}

function toResult(run: RunState, end: RunEnd): RunResult {
  const { counter, session } = run.parts;
  return {
    run: run.id,
    text: run.text,
    ...end,
    ...(end.status === "paused" && { approvals: run.waiting }),
    steps: run.step,
    usage: counter.usage(),
    cost: counter.cost(),
    skills: session.getActiveSkills(),
    messages: run.messages,
  };
}

/** Something threw: the model, a hook, the store, or Kitbag itself. */
async function fail(id: string, run: RunState | undefined, cause: unknown): Promise<RunResult> {
  if (run === undefined) {
    const error = toError(cause, id);
    const nothing = { text: "", steps: 0, usage: nothingUsed, cost: 0, skills: [], messages: [] };
    return { status: "failed", run: id, error, ...nothing };
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
