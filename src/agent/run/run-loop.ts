import { describeProblem, type Problem, toFailure } from "../../core/errors.ts";
import { copyJson, type JsonValue, maxJsonDepth } from "../../core/json.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import type { ModelMessage } from "../../models/model.ts";
import { readJson } from "../../models/prompted/read-value.ts";
import { createSource } from "../../models/prompted/source.ts";
import type { ModelAnswered } from "../events.ts";
import { askModel, toDropped } from "./ask-model.ts";
import { callHook } from "./call-hook.ts";
import { isReadOnly, planCalls, type PlannedCall, recallInputs } from "./plan-calls.ts";
import { type CallResult, runCalls } from "./run-calls.ts";
import { checkLimits, type RunEnd, toStopReason } from "./run-end.ts";
import type { OutputRule, RunState } from "./run-state.ts";
import { say, saySteering } from "./say.ts";
import { isCut, noteText, toAssistantMessage, toCutMessage, toResultPart } from "./to-assistant-message.ts";

/** How often a model may be told to go on after its answer was cut, and to mend an output that does not fit. */
const maxContinued = 2;
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
  const { log, signal } = run.parts;
  if (log.signal?.aborted === true) return { status: "stopped", reason: "lost" };
  if (run.waiting.length > 0) return { status: "paused" };
  addResults(run, calls, results);
  if (signal.aborted) return { status: "stopped", reason: toStopReason(signal) };
  return endStep(run, await breakLoop(run));
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
  const message = isCut(answer) ? toCutMessage(content) : toAssistantMessage(content, inputs);
  if (message !== undefined) run.messages.push(message);
  run.answered = answer.step;
  noteText(run, answer);
}

function addResults(run: RunState, calls: readonly PlannedCall[], results: readonly CallResult[]): void {
  const { detector } = run.parts;
  const content: Extract<ModelMessage, { role: "tool" }>["content"] = [];
  for (const [index, call] of calls.entries()) {
    const outcome = results[index];
    if (outcome === undefined) continue;
    const { id, name, address: tool, inputText } = call;
    content.push(toResultPart(id, name, outcome));
    detector.note({ tool, inputText, outcome, readOnly: isReadOnly(call) });
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

async function finish(run: RunState, { finishReason, model }: ModelAnswered): Promise<RunEnd | undefined> {
  if (isCut({ finishReason })) return goOn(run, model);
  const { output } = run.parts;
  if (output === undefined) return { status: "ok", output: run.text };
  const reading = await readOutput(run.text, output);
  if (reading.ok) return { status: "ok", output: reading.output };
  if (run.mended === maxMended) {
    return { status: "failed", error: toFailure("answer-invalid", { model, problems: reading.problems }) };
  }
  run.mended += 1;
  const problems = reading.problems.map((problem) => `- ${describeProblem(problem)}`).join("\n");
  await say(run, "output", `Your answer is not as it must be:\n${problems}\nAnswer with the JSON alone, mended.`);
  return undefined;
}

/** An answer that was cut is not asked for again, since part of it was shown: the model goes on with it. */
async function goOn(run: RunState, model: string): Promise<RunEnd | undefined> {
  if (run.continued > maxContinued) {
    const reason = `its answer was cut off ${maxContinued + 1} times`;
    return { status: "failed", error: toFailure("model-unavailable", { model, reason }) };
  }
  await say(run, "continue", "Your answer was cut off. Go on exactly where it ends, and repeat nothing.");
  return undefined;
}

/** What is to be made of a text that must be JSON of a certain form. */
type OutputReading =
  | { readonly ok: true; readonly output: JsonValue }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads the output out of the last text of a model, also if it is in a block of code or has words around it. */
export async function readOutput(text: string, rule: OutputRule): Promise<OutputReading> {
  const value = parseLeniently(text);
  if (value === undefined) return { ok: false, problems: [{ path: "", expected: "JSON", found: "something else" }] };
  const checked = checkLeniently(rule.json, value);
  if (!checked.ok) return { ok: false, problems: checked.problems };
  const refined = await rule.refine?.(checked.value);
  if (refined === undefined) return { ok: true, output: checked.value };
  if (!refined.ok) return { ok: false, problems: refined.problems };
  return { ok: true, output: refined.value as JsonValue };
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
