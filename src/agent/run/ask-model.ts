import { isKitbagError } from "../../core/errors.ts";
import { estimateTokens } from "../../core/estimate-tokens.ts";
import { hasGuardAt } from "../../core/guards.ts";
import type { Model, ModelCall, ModelContent, ModelMessage } from "../../models/model.ts";
import { toUsage } from "../../models/prices/estimate-cost.ts";
import type { PriceOf } from "../../models/prices/price-of.ts";
import { withProgress } from "../../models/servers/model-progress.ts";
import { serverLinkOf } from "../../models/servers/server-link.ts";
import { askForParts } from "../../models/shims/wrap-model.ts";
import { countPart } from "../../models/tokens/count-content.ts";
import { estimatePromptTokens, toTokens } from "../../models/tokens/estimate-tokens.ts";
import { familyOf, providerRow } from "../../models/providers.ts";
import { sayToolChanges } from "../../models/tool-changes.ts";
import { type Question, toRunUsage, type When } from "../cost/usage-counter.ts";
import type { AnswerDropped, CountedAnswer, ModelAnswered } from "../events.ts";
import type { ModelView } from "../exposure/exposure.ts";
import { withMark } from "../memory/kitbag-mark.ts";
import type { StopReason } from "../run-result.ts";
import { type Answer, type AnswerListener, priceAnswer, readAnswer } from "./answer-reader.ts";
import { callHook, refuseVerdict } from "./call-hook.ts";
import { checkSpent } from "./run-end.ts";
import { guardAnswer } from "./run-guards.ts";
import type { RunState } from "./run-state.ts";
import { StopWait, untilStopped } from "./until-stopped.ts";

/**
 * Asks the model, unless a summary of what was said before has used up what the run may use.
 *
 * @throws whatever the model does; {@link KitbagError} `hook-failed`, and what the store throws.
 */
export async function askModel(run: RunState): Promise<ModelAnswered | StopReason> {
  const { parts } = run;
  const announcement = parts.exposure.announcement();
  if (announcement !== undefined) await tell(run, announcement);
  const view = parts.exposure.view();
  if (parts.memory.isFull(view, run.messages)) {
    await makeRoom(run, view);
    // A summary may have been what went over a limit.
    const reason = checkSpent(run);
    if (reason !== undefined) return reason;
  }
  let asked: TimedAnswer;
  try {
    asked = await ask(run, view);
  } catch (cause) {
    if (!isKitbagError(cause, "model-context-exceeded") || parts.signal.aborted) throw cause;
    parts.memory.lower(view, run.messages);
    // What cannot become shorter is not asked again.
    if (!(await makeRoom(run, view))) throw cause;
    const reason = checkSpent(run);
    if (reason !== undefined) return reason;
    asked = await ask(run, view);
  }
  const answer = toEvent(run, asked, view);
  countAnswer(run, { answer, messages: run.messages, count: run.messages.length, view });
  const event = hasGuardAt(parts.guards, "answer") ? await guardOrDrop(run, answer) : answer;
  parts.trace?.endModel(event);
  return event;
}

interface TimedAnswer {
  readonly answer: Answer;
  readonly durationMs: number;
}

async function ask(run: RunState, view: ModelView): Promise<TimedAnswer> {
  const { hooks, model, trace } = run.parts;
  const given = toCall(run, view);
  const { beforeModel } = hooks;
  const call = beforeModel === undefined ? given : await askBefore(run, given, beforeModel);
  const startedAt = performance.now();
  const answerNow = (): Promise<Answer> => answerOf(run, model, call);
  const answer = await (trace === undefined ? answerNow() : trace.askModel(model, call, answerNow));
  return { answer, durationMs: performance.now() - startedAt };
}

/** Applies the guards to an answer. An answer that they refuse is counted in the cost, and is not added to the conversation. */
async function guardOrDrop(run: RunState, answer: ModelAnswered): Promise<ModelAnswered> {
  try {
    return await guardAnswer(run, answer);
  } catch (cause) {
    await run.keep(toDropped(answer));
    throw cause;
  }
}

/** Says that an answer was paid for that is no part of the conversation. */
export function toDropped({ run, step, model, usage, cost }: ModelAnswered): AnswerDropped {
  return { type: "answer-dropped", run, step, answer: { model, usage, ...(cost !== undefined && { cost }) } };
}

/** @throws {KitbagError} `hook-failed` if the hook says what is no question. */
async function askBefore(
  run: RunState,
  given: ModelCall,
  beforeModel: NonNullable<RunState["parts"]["hooks"]["beforeModel"]>,
): Promise<ModelCall> {
  const verdict: unknown = await callHook(run.parts.signal, "beforeModel", () => beforeModel(given, place(run)));
  if (verdict === undefined || verdict === null) return given;
  if (typeof verdict !== "object" || Array.isArray(verdict)) {
    refuseVerdict("beforeModel", verdict, "what to ask instead, or nothing");
  }
  return { ...given, ...verdict, ...(given.abortSignal && { abortSignal: given.abortSignal }) };
}

/** Counts an answer; one of the past counts for the run, and not once more for the agent. */
export function countAnswer(run: RunState, question: Question, when: When = "now"): void {
  const { counter, limits, model, priceOf } = run.parts;
  const { usage, cost } = question.answer;
  const isAssumed = cost === undefined && limits.maxCost !== Infinity;
  const assumedCost = isAssumed ? assumeCost(question, model, priceOf) : undefined;
  const assumedTokens = limits.maxTokens === Infinity ? 0 : assumeTokens(question);
  counter.add({ usage: toRunUsage(usage), cost, assumedCost, assumedTokens }, when);
  run.questions.push(question);
}

/** What an answer is taken for against a limit if its provider does not say how many tokens it had. */
function assumeTokens({ answer, messages, count }: Question): number {
  const { inputTokens, outputTokens } = answer.usage;
  if (inputTokens.total !== undefined || outputTokens.total !== undefined) return 0;
  if (answer.estimate !== undefined) return answer.estimate.inputTokens + answer.estimate.outputTokens;
  return estimateTokens(JSON.stringify(messages.slice(0, count))) + estimateTokens(JSON.stringify(answer.content));
}

/** Says which tools there are now. It stays in the conversation, however long that becomes: what is behind it was said knowing it. */
async function tell(run: RunState, announcement: ModelMessage): Promise<void> {
  const message = withMark(announcement, { pinned: true });
  await run.keep({ type: "message-added", run: run.id, step: run.step, reason: "tools", message });
  run.messages.push(message);
}

/** Makes the conversation shorter, and writes down what it is from now on. Answers whether it could. */
async function makeRoom(run: RunState, view: ModelView): Promise<boolean> {
  const { id, step, messages } = run;
  const earlier = run.isCompacted ? Infinity : run.earlier;
  const { memory, model, session, signal } = run.parts;
  const skills = session.getActiveSkills();
  const instructions = (): string => session.activeInstructions();
  const fitting = memory.fit({ run: id, step, model, view, messages, earlier, skills, instructions, signal });
  const compacted = await untilStopped(signal, fitting);
  if (compacted === undefined) return false;
  await run.keep(compacted);
  run.replaceMessages(compacted.messages);
  if (compacted.answer !== undefined) countOther(run, compacted.answer);
  return true;
}

/** Counts an answer that is no part of the conversation: for a summary, say. */
export function countOther(run: RunState, answer: CountedAnswer, when: When = "now"): void {
  countAnswer(run, { answer: { ...answer, content: [] }, messages: [], count: 0 }, when);
}

function place({ id, step }: RunState): { readonly run: string; readonly step: number } {
  return { run: id, step };
}

function toCall(run: RunState, { system, tools }: ModelView): ModelCall {
  const { settings, output, signal, model } = run.parts;
  const { stop, ...others } = settings;
  // Copied in one go: a list that grows is copied several times, and a long conversation is asked about often.
  const prompt: ModelMessage[] =
    system === "" ? run.messages.slice() : [{ role: "system", content: system }, ...run.messages];
  markCache(prompt, model);
  return {
    ...others,
    // A conversation that was begun with another model may say things that this one does not read.
    prompt:
      providerRow(model).readsToolChanges === true
        ? prompt
        : sayToolChanges(prompt, tools as ModelCall["tools"] & object),
    ...(tools.length > 0 && { tools: tools as ModelCall["tools"] & object }),
    ...(stop && { stopSequences: [...stop] }),
    // The rest of an answer is no JSON of its own: a provider that holds answers to a schema would have it begin anew.
    ...(output && run.cutText === "" && { responseFormat: { type: "json", schema: output.asked } }),
    abortSignal: signal,
  };
}

async function answerOf(run: RunState, model: Model, call: ModelCall): Promise<Answer> {
  const { hooks, signal } = run.parts;
  try {
    // A model that does not listen to the signal does not keep the run from stopping.
    return await (run.stopWait ??= new StopWait(signal)).during(signal, readParts(run, model, call));
  } catch (cause) {
    if (signal.aborted) throw cause;
    await callHook(signal, "onModelError", () => hooks.onModelError?.(cause, place(run)));
    throw cause;
  }
}

function readParts(run: RunState, model: Model, call: ModelCall): Promise<Answer> {
  return askForParts(model, toHeard(run, model, call)).then((answer) =>
    readAnswer(answer, run.parts.feed.isHeard() ? toListener(run) : undefined),
  );
}

/** A server of one's own may load the model first. */
function toHeard(run: RunState, model: Model, call: ModelCall): ModelCall {
  if (serverLinkOf(model) === undefined) return call;
  return withProgress(call, ({ model: name, elapsedMs, sizeBytes }) =>
    run.tell({
      type: "model-loading",
      run: run.id,
      step: run.step,
      model: name,
      elapsedMs,
      ...(sizeBytes !== undefined && { sizeBytes }),
    }),
  );
}

function toListener(run: RunState): AnswerListener {
  const { id, step } = run;
  const { guards, signal } = run.parts;
  const tell: RunState["tell"] = (event) => {
    // What still comes of a model that was not waited for is of no interest.
    if (!signal.aborted) run.tell(event);
  };
  // What guards look at is held back until they have: the text is told then, and a call tells its input.
  const isAnswerHeld = hasGuardAt(guards, "answer");
  const isInputHeld = hasGuardAt(guards, "tool-input");
  return {
    onText: (text) => isAnswerHeld || tell({ type: "text-delta", run: id, step, text }),
    onReasoning: (text) => isAnswerHeld || tell({ type: "reasoning-delta", run: id, step, text }),
    onInput: (call, tool, text) =>
      isInputHeld || tell({ type: "tool-input-delta", run: id, step, id: call, tool, text }),
  };
}

function toEvent(run: RunState, { answer, durationMs }: TimedAnswer, view: ModelView): ModelAnswered {
  const { log, session, digest } = run.parts;
  const { model, cost } = priceAnswer(run.parts, answer);
  return {
    type: "model-answer",
    run: run.id,
    step: run.step,
    model,
    content: tidyContent(run, answer.content),
    finishReason: answer.finishReason.unified,
    ...(answer.cutCall !== undefined && answer.finishReason.unified === "length" && { cutCall: answer.cutCall }),
    usage: answer.usage,
    ...(cost !== undefined && { cost }),
    durationMs,
    ...(log.isKept && { prompt: digest.of(view.system, run.messages), ...run.shownTools.describe(view.tools) }),
    skills: session.getActiveSkills(),
    ...(answer.recalled !== undefined && { recalled: answer.recalled }),
    ...(answer.warnings && { warnings: answer.warnings }),
    ...(answer.unknown.length > 0 && { unknown: answer.unknown }),
  };
}

/**
 * Says to providers that cache only what they are told to where a prompt can be cut: behind the system text and behind the last
 * message, so that the next question pays for what is new. Changes the list, never a message of it.
 */
function markCache(prompt: ModelMessage[], model: Pick<Model, "provider">): void {
  const mark = Object.entries(providerRow(model).cacheMark ?? {});
  if (mark.length === 0) return;
  const marked = ({ providerOptions, ...message }: ModelMessage): ModelMessage => {
    const options = mark.map(([name, options]) => [name, { ...options, ...providerOptions?.[name] }] as const);
    return { ...message, providerOptions: { ...providerOptions, ...Object.fromEntries(options) } };
  };
  const last = prompt.length - 1;
  if (prompt[0]?.role === "system") prompt[0] = marked(prompt[0]);
  if (last > 0) prompt[last] = marked(prompt[last] as ModelMessage);
}

/**
 * About what an answer cost whose provider does not say how many tokens it took, or that was cut off before it could: for limits, and
 * not for what is shown. `undefined` if the price of the model is not known.
 */
function assumeCost({ answer, messages, count, view }: Question, model: Model, priceOf: PriceOf): number | undefined {
  const family = familyOf(model);
  const shown = { messages: messages.slice(0, count), ...(view && { system: view.system, tools: view.tools }) };
  const input = answer.estimate?.inputTokens ?? estimatePromptTokens(shown, model);
  const output =
    answer.estimate?.outputTokens ?? answer.content.reduce((sum, part) => sum + toTokens(countPart(part), family), 0);
  const modelId = answer.model.slice(answer.model.indexOf("/") + 1);
  const isOther = !answer.model.startsWith(`${model.provider}/`);
  return priceOf(modelId, toUsage({ input, cacheRead: 0, output }), isOther ? answer.model : undefined);
}

type ToolCall = Extract<ModelContent, { readonly type: "tool-call" }>;

/**
 * Gives every call of an answer an id that no other call of the conversation has, and an input that is text. Small models and the
 * servers in front of them repeat ids, or leave them out, and no provider takes such a conversation.
 */
function tidyContent(run: RunState, content: readonly ModelContent[]): readonly ModelContent[] {
  if (!content.some(isOurs)) return content;
  let index = 0;
  return content.map((item) => (isOurs(item) ? tidyCall(run, item, index++) : item));
}

function isOurs(item: ModelContent): item is ToolCall {
  return item.type === "tool-call" && item.providerExecuted !== true;
}

function tidyCall(run: RunState, call: ToolCall, index: number): ToolCall {
  const { toolCallId, toolName, input } = call as { toolCallId: unknown; toolName: unknown; input: unknown };
  const id = toNewId(run, toolCallId, index);
  if (id === toolCallId && typeof toolName === "string" && typeof input === "string") return call;
  const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
  return { ...call, toolCallId: id, toolName: String(toolName), input: text };
}

function toNewId({ callIds, step }: RunState, given: unknown, index: number): string {
  const known = typeof given === "string" && given !== "" ? given : "call";
  let id = known === given ? known : `${known}-${step}-${index}`;
  for (let attempt = 0; callIds.has(id); attempt++)
    id = `${known}-${step}-${index}${attempt === 0 ? "" : `-${attempt}`}`;
  callIds.add(id);
  return id;
}
