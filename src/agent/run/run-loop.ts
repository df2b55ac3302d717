import { givesAway } from "../../core/agent-code.ts";
import { describeProblem, type Problem, toFailure } from "../../core/errors.ts";
import { copyJson, type JsonValue, maxJsonDepth } from "../../core/json.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import type { ModelMessage } from "../../models/model.ts";
import { readJson } from "../../models/prompted/read-value.ts";
import { createSource } from "../../models/prompted/source.ts";
import type { ModelAnswered } from "../events.ts";
import { askModel, toDropped } from "./ask-model.ts";
import { callHook } from "./call-hook.ts";
import { takeAnswer } from "./output-rule.ts";
import { isReadOnly, planCalls, type PlannedCall, recallInputs } from "./plan-calls.ts";
import { type CallResult, runCalls } from "./run-calls.ts";
import { checkLimits, checkSpent, type RunEnd, toStopReason } from "./run-end.ts";
import type { OutputRule, RunState } from "./run-state.ts";
import { say, saySteering } from "./say.ts";
import {
  isCut,
  isTooLong,
  noteText,
  textOf,
  toAssistantMessage,
  toCutMessage,
  toResultPart,
} from "./to-assistant-message.ts";

/** How often a model may be told to go on after its answer was interrupted, and to mend an output that does not fit. */
const maxInterrupted = 2;
const maxMended = 2;

/** Asks the model and makes the calls it asks for, until it asks for none. */
export async function runLoop(run: RunState): Promise<RunEnd> {
  for (;;) {
    const end = await runStep(run);
    if (end !== undefined) return end;
  }
}

async function runStep(run: RunState): Promise<RunEnd | undefined> {
  const answer = run.unfinished ?? (await ask(run));
  if (typeof answer === "string") return { status: "stopped", reason: answer };
  run.unfinished = undefined;
  const planned = planCalls(answer, run.parts.session, run.parts.exposure);
  const calls = run.changed === undefined ? planned : recallInputs(run, answer.step, planned);
  addAnswer(run, answer, calls);
  if (calls.length === 0 || isCut(answer)) {
    const end = await finish(run, answer);
    // A steering message that arrived during the last answer is answered, too.
    return endStep(run, end?.status === "ok" && run.steering.length > 0 ? undefined : end);
  }
  // A limit holds within an answer too: what would go over it is not begun.
  if (run.calls + calls.length > run.parts.limits.maxCalls) return { status: "stopped", reason: "calls" };
  const results = await runCalls(run, calls);
  const end = endCalls(run, calls, results);
  if (end !== undefined) return end;
  if (run.handedTo !== undefined) await (await import("../sub-agents/adopt-agent.ts")).handOver(run);
  return endStep(run, await breakLoop(run));
}

/** Adds what came of calls to the conversation. Answers with how the run ends, if it does not go on. */
function endCalls(run: RunState, calls: readonly PlannedCall[], results: readonly CallResult[]): RunEnd | undefined {
  const { log, signal } = run.parts;
  if (log.signal?.aborted === true) return { status: "stopped", reason: "lost" };
  const isStopped = signal.aborted && run.waiting.length > 0;
  if (isStopped) return { status: "stopped", reason: toStopReason(signal) };
  if (run.waiting.length > 0) return { status: "paused" };
  // What the first calls cost has used up a limit: the others were not begun.
  if (results.length < calls.length) return { status: "stopped", reason: checkSpent(run) ?? "cost" };
  addResults(run, calls, results);
  return signal.aborted ? { status: "stopped", reason: toStopReason(signal) } : undefined;
}

async function endStep(run: RunState, end: RunEnd | undefined): Promise<RunEnd | undefined> {
  const { hooks, signal } = run.parts;
  const { onStepEnd } = hooks;
  if (onStepEnd !== undefined) await callHook(signal, "onStepEnd", () => onStepEnd({ run: run.id, step: run.step }));
  return end;
}

/** Asks the model, unless a limit is reached. */
async function ask(run: RunState): Promise<ModelAnswered | NonNullable<ReturnType<typeof checkLimits>>> {
  // Also where a limit is reached: a fork goes on from there.
  if (run.steering.length > 0) await saySteering(run);
  const reason = checkLimits(run);
  if (reason !== undefined) return reason;
  run.step += 1;
  const { hooks, feed, log, trace, signal } = run.parts;
  trace?.startStep(run.step);
  const place = { run: run.id, step: run.step };
  if (feed.isHeard()) feed.tell({ type: "step-start", ...place });
  if (hooks.onStepStart !== undefined) await callHook(signal, "onStepStart", () => hooks.onStepStart?.(place));
  const answer = await (hooks.afterModel === undefined ? askModel(run) : askUntilKept(run));
  if (typeof answer === "string") return answer;
  // It goes to the disk together with the calls that it asks for, before one is made; or with the end of the run.
  log.send(answer);
  feed.tell(answer);
  return answer;
}

/** Asks the model again until no hook rejects the answer. */
async function askUntilKept(run: RunState): Promise<ModelAnswered | NonNullable<ReturnType<typeof checkLimits>>> {
  const { hooks, signal } = run.parts;
  for (;;) {
    const answer = await askModel(run);
    if (hooks.afterModel === undefined || typeof answer === "string") return answer;
    if ((await callHook(signal, "afterModel", () => hooks.afterModel?.(answer))) !== "again") return answer;
    await run.keep(toDropped(answer));
    const reason = checkLimits(run);
    if (reason !== undefined) return reason;
    run.askedAgain += 1;
  }
}

function addAnswer(run: RunState, answer: ModelAnswered, calls: readonly PlannedCall[]): void {
  const { content } = answer;
  // There are few: a map of them costs more than it saves.
  const inputs = { get: (id: string): JsonValue | undefined => calls.findLast((call) => call.id === id)?.given };
  const isPart = isCut(answer) || isTooLong(answer);
  const message = isPart ? toCutMessage(content) : toAssistantMessage(content, inputs);
  if (message !== undefined) run.messages.push(message);
  run.answered = answer.step;
  noteText(run, answer);
}

function addResults(run: RunState, calls: readonly PlannedCall[], results: readonly CallResult[]): void {
  const { detector } = run.parts;
  const content: Extract<ModelMessage, { role: "tool" }>["content"] = [];
  // Also a handoff whose outcome is in the journal; a guard may have taken back the outcome of one that was just called.
  run.handedTo = undefined;
  for (const [index, call] of calls.entries()) {
    const outcome = results[index];
    if (outcome === undefined) continue;
    const { id, name, address: tool, inputText } = call;
    content.push(toResultPart(id, name, outcome));
    detector.note({ tool, inputText, outcome, readOnly: isReadOnly(call) });
    if (outcome.status === "ok" && call.tool !== undefined && givesAway(call.tool.code)) run.handedTo ??= call;
  }
  run.calls += calls.length;
  run.messages.push({ role: "tool", content });
  if (run.saidMeanwhile.length > 0) run.messages.push(...run.saidMeanwhile.splice(0));
}

async function breakLoop(run: RunState): Promise<RunEnd | undefined> {
  const found = run.parts.detector.check();
  if (found === undefined) return undefined;
  if (found.kind === "stop") return { status: "stopped", reason: "loop" };
  await say(
    run,
    "loop",
    `This leads nowhere: ${found.what}. Do something else, or say what you know and what is missing.`,
  );
  return undefined;
}

async function finish(run: RunState, answer: ModelAnswered): Promise<RunEnd | undefined> {
  const { finishReason, model } = answer;
  const { id, text } = run;
  if (finishReason === "content-filter") {
    return { status: "refused", error: toFailure("answer-refused", { run: id, model, text }) };
  }
  if (isCut(answer)) return goOn(run, model);
  const { output } = run.parts;
  if (output === undefined) return isTooLong(answer) ? continueAnswer(run, answer) : { status: "ok", output: text };
  const reading = await readOutput(text, output, textOf(answer));
  if (reading.ok) return { status: "ok", output: reading.output };
  if (isTooLong(answer)) return continueAnswer(run, answer);
  if (run.mended === maxMended) {
    return { status: "failed", error: toFailure("answer-invalid", { model, problems: reading.problems }) };
  }
  run.mended += 1;
  const problems = reading.problems.map((problem) => `- ${describeProblem(problem)}`).join("\n");
  await say(run, "output", `Your answer is not as it must be:\n${problems}\nAnswer with the JSON alone, mended.`);
  return undefined;
}

/** An answer that was interrupted is not asked for again, since part of it was shown: the model goes on with it. */
async function goOn(run: RunState, model: string): Promise<RunEnd | undefined> {
  if (run.interrupted > maxInterrupted) {
    const reason = `its answer was cut off ${maxInterrupted + 1} times`;
    return { status: "failed", error: toFailure("model-unavailable", { model, reason }) };
  }
  await say(run, "continue", goOnWords(run, "Your answer was cut off."));
  return undefined;
}

/**
 * Has the model go on with an answer that the output limit cut. It is asked in a message: not every provider accepts a conversation that
 * ends with the beginning of an answer.
 */
async function continueAnswer(run: RunState, { model, cutCall }: ModelAnswered): Promise<RunEnd | undefined> {
  const { id, text, continued: times } = run;
  if (times > run.parts.limits.maxContinuations) {
    return { status: "cut", error: toFailure("answer-cut", { run: id, model, times, text }) };
  }
  const reached = "The output limit was reached";
  if (cutCall !== undefined) {
    const words = `${reached} before your call of ${cutCall} was whole, so it was not made. Make it again with a shorter input, in several calls if need be.`;
    await say(run, "continue", words);
  } else if (run.cutText === "")
    await say(run, "continue", `${reached} before you had said anything. Answer now, with less thought.`);
  else await say(run, "continue", goOnWords(run, `${reached}, and your answer is cut off.`));
  return undefined;
}

function goOnWords({ parts: { output }, cutText }: RunState, why: string): string {
  const form = output === undefined || cutText === "" ? "" : " Write only the rest of the JSON.";
  return `${why} Go on exactly where it ends, and repeat nothing.${form}`;
}

/** What is to be made of a text that must be JSON of a certain form. */
type OutputReading =
  | { readonly ok: true; readonly output: JsonValue }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads the output out of the last text of a model, also if it is in a block of code or has words around it. `last` is what the model
 * wrote in its last answer, if `text` was put together from several: it may have begun anew there.
 */
export async function readOutput(text: string, rule: OutputRule, last = text): Promise<OutputReading> {
  const value = last === text ? parseLeniently(text) : parsePieces(text.slice(0, -last.length), last);
  if (value === undefined) return { ok: false, problems: [{ path: "", expected: "JSON", found: "something else" }] };
  // Also what the text says well may be deeper than anything that is kept, or have a key that no object of ours has.
  const copy = copyJson(value, { maxBytes: Infinity, maxDepth: maxJsonDepth });
  if (!copy.ok) return { ok: false, problems: copy.reason === "not-json" ? [copy.problem] : [] };
  const checked = checkLeniently(rule.json, takeAnswer(rule, copy.value));
  if (!checked.ok) return { ok: false, problems: checked.problems };
  const refined = await rule.refine?.(checked.value);
  if (refined === undefined) return { ok: true, output: checked.value };
  if (!refined.ok) return { ok: false, problems: refined.problems };
  return { ok: true, output: refined.value as JsonValue };
}

/** Reads an answer that was cut and went on. A model may open its block of code again, or write the whole answer once more. */
function parsePieces(before: string, last: string): JsonValue | undefined {
  const bare = last.replace(/^\s*```(?:json)?[ \t]*\n/u, "").replace(/\n?```\s*$/u, "");
  const whole = /^\s*[{[]/u.test(bare) ? bare : "";
  return parse(before + last) ?? parse(before + bare) ?? parse(whole) ?? parseLeniently(before + last);
}

/** What can be read without repairs comes first: the text itself, what is in its last block of code, what is between its brackets. */
function parseLeniently(text: string): JsonValue | undefined {
  const said = withoutThoughts(text);
  const blocks = [...said.matchAll(/```(?:json)?[ \t]*\n([^]*?)```/gu)].map(([, block]) => block ?? "");
  const found = [text, said, blocks.at(-1), between(said, "{", "}"), between(said, "[", "]")];
  const candidates = found.filter((candidate) => candidate !== undefined && candidate.trim() !== "") as string[];
  for (const read of [parse, repair]) {
    for (const candidate of candidates) {
      const value = read(candidate);
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

/** Some servers leave what a model thinks in its text. */
function withoutThoughts(text: string): string {
  return text.replace(/^[^]*<\/think(?:ing)?>/iu, "").replace(/^\s*<think(?:ing)?>[^]*/iu, "");
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Reads what is almost JSON, to its end: what was cut off is not completed. */
function repair(text: string): JsonValue | undefined {
  const whole = text.trim();
  if (!/^[{[]/u.test(whole)) return undefined;
  const read = readJson(createSource(whole), 0);
  if (!read.ok || read.incomplete.size > 0 || read.end < whole.length) return undefined;
  const copy = copyJson(read.value, { maxBytes: whole.length * 8, maxDepth: maxJsonDepth });
  return copy.ok ? copy.value : undefined;
}

function between(text: string, open: string, close: string): string | undefined {
  const start = text.indexOf(open);
  const end = text.lastIndexOf(close);
  return start === -1 || end < start ? undefined : text.slice(start, end + 1);
}
