import { longestTimerMs } from "../../core/async.ts";
import { describeCause, type Failure, isKitbagError, toFailure } from "../../core/errors.ts";
import type { RunOptions } from "../agent-options.ts";
import type { AgentRun } from "../agent-run.ts";
import { nothingUsed } from "../cost/usage-counter.ts";
import type { LongTermMemory } from "../memory/long-term/long-term-memory.ts";
import type { RunResult } from "../run-result.ts";
import type { AgentTelemetry } from "../telemetry/agent-telemetry.ts";
import { callHook } from "./call-hook.ts";
import { createEventFeed } from "./event-feed.ts";
import { canGoOn, type RunEnd, timeIsUp, toStopReason } from "./run-end.ts";
import { runLoop } from "./run-loop.ts";
import { keepSteering } from "./say.ts";
import type { RunStart, RunState } from "./run-state.ts";
import { type Job, StartedRun } from "./started-run.ts";
import { untilStopped } from "./until-stopped.ts";

/** How long a run that was stopped waits for what its end must do: hooks, and skills that are closed. */
const graceMs = 1000;

const nothingSaid = { text: "", finishReason: undefined };

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
  const job: Job = { start, stop, controller, steering: [], run: undefined };
  return new StartedRun(job, work(job, telemetry, prepare));
}

async function work(
  job: Job,
  telemetry: AgentTelemetry,
  prepare: (start: RunStart) => Promise<RunState>,
): Promise<RunResult> {
  // A caller that asks for the events in the same tick also gets the first one.
  await Promise.resolve();
  const { id, options, feed } = job.start;
  const { signal } = options;
  if (signal?.aborted === true) job.stop();
  signal?.addEventListener("abort", job.stop);
  // A failure of the telemetry must not stop the run.
  const trace = telemetry.isOn() ? await telemetry.start(id, options).catch(() => undefined) : undefined;
  let result: RunResult;
  try {
    job.run = await prepare(trace === undefined ? job.start : { ...job.start, trace });
    job.run.steering.push(...job.steering);
    result = await close(job.run, await goThrough(job, job.run));
  } catch (cause) {
    result = failToBegin(job, cause);
  }
  signal?.removeEventListener("abort", job.stop);
  feed.end();
  await leave(job);
  trace?.end(result);
  return result;
}

/** Works on a run until it ends, its time is up, or another process has taken it over. */
async function goThrough({ controller, stop }: Job, run: RunState): Promise<RunEnd> {
  const { limits, log } = run.parts;
  log.signal?.addEventListener("abort", stop);
  const leftMs = limits.maxMs - (performance.now() - run.startedAt);
  const timeUp = (): void => controller.abort(timeIsUp);
  const timer = leftMs > longestTimerMs ? undefined : setTimeout(timeUp, Math.max(0, leftMs));
  try {
    return await runLoop(run);
  } catch (cause) {
    return toEnd(run, cause);
  } finally {
    clearTimeout(timer);
    log.signal?.removeEventListener("abort", stop);
  }
}

/** Something threw: the model, a hook, the store, or Kitbag itself. */
function toEnd({ parts: { log, signal, modelName } }: RunState, cause: unknown): RunEnd {
  if (log.signal?.aborted === true || isKitbagError(cause, "lease-lost")) return { status: "stopped", reason: "lost" };
  if (signal.aborted) return { status: "stopped", reason: toStopReason(signal) };
  return { status: "failed", error: toError(cause, modelName) };
}

/** Closes the session of a run. A skill that does not end does not keep a run from ending that was stopped. */
async function leave({ run, controller }: Job): Promise<void> {
  if (run === undefined) return;
  await untilStopped(controller.signal, run.parts.session.close(), graceMs).catch(() => undefined);
}

function toListener({ onEvent, onText }: RunOptions): RunOptions["onEvent"] {
  if (onText === undefined && onEvent === undefined) return undefined;
  return (event) => {
    if (onEvent !== undefined) tellSafely(onEvent, event);
    if (onText !== undefined && event.type === "text-delta") tellSafely(onText, event.text);
  };
}

/** Calls a listener. One that fails does not stop the run. */
function tellSafely<Told>(listener: (told: Told) => unknown, told: Told): void {
  try {
    const answer = listener(told);
    if (answer instanceof Promise) answer.catch(() => undefined);
  } catch {
    // Listeners are the only place to report an error to, and it is the listener that failed.
  }
}

/** Writes down how a run ended, and tells it. Never throws. */
async function close(run: RunState, end: RunEnd): Promise<RunResult> {
  const { hooks, feed, signal } = run.parts;
  let result = toResult(run, await writeEnd(run, end));
  if (hooks.onRunEnd !== undefined) {
    try {
      await callHook(signal, "onRunEnd", () => hooks.onRunEnd?.(result), graceMs);
    } catch (cause) {
      if (isKitbagError(cause)) result = toResult(run, { status: "failed", error: cause.toJSON() });
    }
  }
  if (feed.isHeard()) feed.tell({ type: "task-end", run: run.id, result });
  return result;
}

/** Answers with how the run ended: it has not ended well if that cannot be written down, and can be resumed. */
async function writeEnd(run: RunState, end: RunEnd): Promise<RunEnd> {
  const { log } = run.parts;
  const isLost = end.status === "stopped" && end.reason === "lost";
  try {
    if (end.status !== "ok" && !isLost) await keepSteering(run);
    // Saved before the run ends: if this process dies in between, the resumed run saves it again.
    if (!isLost) await saveRun(run, end.status);
    if (end.status === "paused") await log.pause();
    else if (canGoOn(end)) await log.close();
    else {
      if (run.hasChildren) await endChildren(run);
      await log.end(toResult(run, end));
    }
    return end;
  } catch (cause) {
    await log.close()?.catch(() => undefined);
    return end.status === "ok" || end.status === "paused" ? toEnd(run, cause) : end;
  }
}

/** A run that has ended for good leaves no run of a sub-agent behind that waits for an approval. */
async function endChildren({ id, parts: { agent } }: RunState): Promise<void> {
  const { endBelow } = await import("../sub-agents/run-tree.ts");
  if (agent.runs !== undefined) await endBelow(agent.runs, id);
}

function toResult(run: RunState, end: RunEnd): RunResult {
  const { counter, session } = run.parts;
  const head = { run: run.id, text: run.text };
  const facts = {
    finishReason: run.finishReason,
    steps: run.step,
    usage: counter.usage(),
    cost: counter.cost(),
    skills: session.getActiveSkills(),
    messages: run.messages,
  };
  if (end.status === "paused") return { ...head, ...end, approvals: run.waiting, ...facts };
  if (end.status === "stopped" && end.reason === "lost") return { ...head, ...end, ...toLoss(run), ...facts };
  return { ...head, ...end, ...facts };
}

/** Why a run was lost: another process has it, or the store was away for too long. */
function toLoss({ parts: { log } }: RunState): { readonly error?: Failure } {
  const cause: unknown = log.signal?.reason;
  return isKitbagError(cause, "lease-lost") ? { error: cause.toJSON() } : {};
}

/** What it was given is wrong, or it was stopped before it began. */
function failToBegin({ start: { id, signal, feed } }: Job, cause: unknown): RunResult {
  const end = signal.aborted
    ? ({ status: "stopped", reason: toStopReason(signal) } as const)
    : ({ status: "failed", error: toError(cause, id) } as const);
  const result = { run: id, ...end, ...nothingSaid, steps: 0, usage: nothingUsed, cost: 0, skills: [], messages: [] };
  feed.tell({ type: "task-end", run: id, result });
  return result;
}

function toError(cause: unknown, model: string): Failure {
  if (isKitbagError(cause)) return cause.toJSON();
  return toFailure("model-failed", { model, reason: describeCause(cause) });
}

/** Keeps what a run has added to its conversation so far, and remembers it once it is over. @throws what the store throws. */
async function saveRun(run: RunState, status: RunResult["status"]): Promise<void> {
  const { conversation, session, longTerm } = run.parts;
  const { id, messages, said, saidFrom, isCompacted } = run;
  await conversation?.save({
    run: id,
    status,
    messages: [...said, ...messages.slice(saidFrom)],
    skills: session.getActiveSkills(),
    view: isCompacted ? messages : undefined,
  });
  if (longTerm !== undefined && status !== "paused") await rememberRun(run, longTerm);
}

/** Keeps what was said in the run for later conversations. A run that was made from another goes its own way. */
async function rememberRun(run: RunState, longTerm: LongTermMemory): Promise<void> {
  const { id, messages, said, saidFrom, earlier, begunWith, parts } = run;
  if (begunWith === undefined) return;
  const all = [...said, ...messages.slice(saidFrom)];
  const asked = begunWith - earlier;
  const { user, conversation } = parts;
  const place = { run: id, user, conversation: conversation?.id };
  const { keepRun } = await import("../memory/long-term/run-memory.ts");
  await keepRun(longTerm, place, { task: all.slice(0, asked), answers: all.slice(asked) });
}
