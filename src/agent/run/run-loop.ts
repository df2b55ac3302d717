import { describeProblem, toFailure } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { MessageAdded, ModelAnswered } from "../events.ts";
import { askModel } from "./ask-model.ts";
import { callHook } from "./call-hook.ts";
import { checkLimits } from "./check-limits.ts";
import { isCut } from "./is-cut.ts";
import { planCalls, type PlannedCall } from "./plan-calls.ts";
import { readOutput } from "./read-output.ts";
import { runCalls, type CallResult } from "./run-calls.ts";
import type { RunEnd } from "./run-end.ts";
import type { RunState } from "./run-state.ts";
import { toAssistantMessage } from "./to-assistant-message.ts";
import { toResultPart } from "./to-result-part.ts";

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
  const { hooks, log } = run.parts;
  const answer = run.unfinished ?? (await ask(run));
  if (typeof answer === "string") return { status: "stopped", reason: answer };
  run.unfinished = undefined;
  const calls = planCalls(answer.content, run.parts.session, run.parts.exposure);
  addAnswer(run, answer, calls);
  if (calls.length === 0 || isCut(answer)) return finish(run, answer);
  run.cutText = "";
  const results = await runCalls(run, calls);
  if (run.waiting.length > 0) return { status: "paused" };
  addResults(run, calls, results);
  if (hooks.onStepEnd !== undefined)
    await callHook("onStepEnd", () => hooks.onStepEnd?.({ run: run.id, step: run.step }));
  if (log.signal?.aborted === true) return { status: "stopped", reason: "lost" };
  return breakLoop(run);
}

/** Asks the model, unless a limit is reached. */
async function ask(run: RunState): Promise<ModelAnswered | NonNullable<ReturnType<typeof checkLimits>>> {
  const reason = checkLimits(run);
  if (reason !== undefined) return reason;
  for (const text of run.steering.splice(0)) await say(run, "steering", text);
  run.step += 1;
  const { hooks, feed, log, trace } = run.parts;
  trace?.startStep(run.step);
  const place = { run: run.id, step: run.step };
  if (feed.isHeard()) feed.tell({ type: "step-start", ...place });
  if (hooks.onStepStart !== undefined) await callHook("onStepStart", () => hooks.onStepStart?.(place));
  const answer = await askUntilKept(run);
  // It goes to the disk together with the calls that it asks for, before one is made; or with the end of the run.
  log.hold(answer);
  feed.tell(answer);
  return answer;
}

/** Asks the model until nobody wants another answer. */
async function askUntilKept(run: RunState): Promise<ModelAnswered> {
  const { hooks } = run.parts;
  for (;;) {
    const answer = await askModel(run);
    if (hooks.afterModel === undefined) return answer;
    if ((await callHook("afterModel", () => hooks.afterModel?.(answer))) !== "again") return answer;
  }
}

function addAnswer(run: RunState, { content }: ModelAnswered, calls: readonly PlannedCall[]): void {
  const inputs = new Map<string, JsonValue>();
  for (const { id, given } of calls) inputs.set(id, given);
  run.messages.push(toAssistantMessage(content, inputs));
  const text = textOf(content);
  if (text !== "") run.text = run.cutText + text;
}

function textOf(content: ModelAnswered["content"]): string {
  let text = "";
  for (const item of content) if (item.type === "text") text += item.text;
  return text;
}

function addResults(run: RunState, calls: readonly PlannedCall[], results: readonly CallResult[]): void {
  const { detector } = run.parts;
  const content: Extract<ModelMessage, { role: "tool" }>["content"] = [];
  for (const [index, { id, name, address, inputText }] of calls.entries()) {
    const outcome = results[index];
    if (outcome === undefined) continue;
    content.push(toResultPart(id, name, outcome));
    detector.note(address, inputText, outcome);
  }
  run.calls += calls.length;
  run.messages.push({ role: "tool", content });
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

/** Says something to the model in nobody's name but the agent's. */
async function say(run: RunState, reason: MessageAdded["reason"], text: string): Promise<void> {
  const message: ModelMessage = { role: "user", content: [{ type: "text", text }] };
  await run.keep({ type: "message-added", run: run.id, step: run.step, reason, message });
  run.messages.push(message);
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
  if (run.continued === maxContinued) {
    const reason = `its answer was cut off ${maxContinued + 1} times`;
    return { status: "failed", error: toFailure("model-unavailable", { model, reason }) };
  }
  run.continued += 1;
  run.cutText = run.text;
  dropCalls(run.messages);
  await say(run, "continue", "Your answer was cut off. Go on exactly where it ends, and repeat nothing.");
  return undefined;
}

/** Calls of an answer that was cut are not made, so they must not wait for results. */
function dropCalls(messages: ModelMessage[]): void {
  const last = messages.pop();
  if (last?.role !== "assistant") return;
  const content = last.content.filter((part) => part.type === "text");
  if (content.length > 0) messages.push({ ...last, content });
}
