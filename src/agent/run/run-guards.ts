import { isKitbagError, KitbagError, toFailure } from "../../core/errors.ts";
import { createTool } from "../../core/define-tool.ts";
import {
  hasGuardAt,
  judge,
  shownOf,
  withShown,
  type Guard,
  type GuardAct,
  type Guarded,
  type GuardPlace,
} from "../../core/guards.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { defaultKinds } from "../../core/redaction/pattern-redactor.ts";
import type { Tool } from "../../core/tool.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { ApprovalRequest, Approve } from "../../workspace/call/call-options.ts";
import type { AgentOptions } from "../agent-options.ts";
import type { ModelAnswered } from "../events.ts";
import type { CallVerdict } from "../hooks.ts";
import type { PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";
import { untilStopped } from "./until-stopped.ts";

/** The guards of an agent, in order. `redactInput` is the first of them. */
export function toGuards({ redactInput = false, guards = [] }: AgentOptions): readonly Guard[] {
  const redact = redactInput === true ? defaultKinds : redactInput === false ? [] : redactInput;
  if (redact.length === 0) return guards;
  return [{ name: "redactInput", at: ["task", "tool-output"], check: () => ({ redact }) }, ...guards];
}

/** What guards need: the run and its user, how to ask for approval, and where to record what guards did. */
export interface GuardContext extends Pick<Guarded, "run" | "step" | "user"> {
  readonly guards: readonly Guard[];
  readonly approve: Approve | undefined;
  readonly signal: AbortSignal;
  readonly note: (act: GuardAct) => unknown;
}

function contextOf(run: RunState): GuardContext {
  const { guards, approve, signal, user } = run.parts;
  const { id, step } = run;
  const note = (act: GuardAct): Promise<void> => run.keep({ type: "guard-acted", run: id, step, ...act });
  return { guards, approve, signal, run: id, step, note, ...(user !== undefined && { user }) };
}

/**
 * Applies the guards to a value, and returns the value with their changes.
 *
 * @throws {KitbagError} `guard-refused`; the reason of the signal if the run is stopped first.
 */
async function applyGuards<Value>(
  context: GuardContext,
  place: GuardPlace,
  value: Value,
  tool?: string,
): Promise<Value> {
  const { guards, approve: _approve, signal, note, ...facts } = context;
  const guarded = { ...facts, place, value: value as JsonValue, ...(tool !== undefined && { tool }) };
  const judged = await untilStopped(signal, judge(guards, guarded));
  for (const act of judged.acts) await note(act);
  const { refused, asked } = judged;
  if (refused !== undefined) throw toRefusal(refused);
  const denied = asked && (await askPerson(context, asked, { ...guarded, value: judged.value }));
  if (asked !== undefined && denied !== undefined) throw toRefusal({ ...asked, reason: denied });
  return judged.value as Value;
}

function toRefusal({ guard, place, reason = "" }: GuardAct): KitbagError {
  return new KitbagError("guard-refused", { guard, place, reason });
}

/** Asks for approval of a value. Returns the reason if it is denied. */
async function askPerson(context: GuardContext, act: GuardAct, guarded: Guarded): Promise<string | undefined> {
  const { approve, signal, user } = context;
  const { place, value, run = "", tool = place } = guarded;
  if (approve === undefined) return `${act.reason}; there is no person to ask`;
  const request = { call: `${run}:${place}`, address: tool, tool: toQuestion(place), input: value, signal };
  const more = {
    callers: [],
    ...(act.reason !== undefined && { reason: act.reason }),
    ...(user !== undefined && { user }),
  };
  const decision = await decide(approve, { ...request, ...more }, signal);
  return decision.decision === "deny" ? decision.reason : undefined;
}

/** Asks for a decision before there is a call. If `approve` throws, the decision is to deny. */
export async function decide(
  approve: Approve,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Approve>>> {
  try {
    const decision = await untilStopped(signal, Promise.resolve(approve(request)));
    return decision?.decision === "approve"
      ? decision
      : { decision: "deny", reason: decision?.reason ?? "no reason given" };
  } catch (cause) {
    signal.throwIfAborted();
    return { decision: "deny", reason: cause instanceof Error ? cause.message : "the approval failed" };
  }
}

/** What an approval request shows in place of a tool when a guard asks about a value, not about a call. */
function toQuestion(place: GuardPlace): Tool {
  const description = `A guard asks whether this ${place} may pass`;
  return createTool({ name: `guarded-${place}`, description, code: { kind: "guard" }, needsApproval: true });
}

/** Applies the guards to the messages of a task, except for images, which have no text, and reasoning, which the model has signed. */
export async function guardMessages(
  context: GuardContext,
  messages: readonly ModelMessage[],
): Promise<readonly ModelMessage[]> {
  if (!hasGuardAt(context.guards, "task")) return messages;
  const guarded: ModelMessage[] = [];
  for (const message of messages) {
    if (message.role === "system")
      guarded.push({ ...message, content: await applyGuards(context, "task", message.content) });
    else {
      const content = [];
      for (const part of message.content) content.push(await guardPart(context, part));
      guarded.push({ ...message, content } as ModelMessage);
    }
  }
  return guarded;
}

type Part = Exclude<ModelMessage, { role: "system" }>["content"][number];

async function guardPart(context: GuardContext, part: Part): Promise<Part> {
  if (part.type === "text") return { ...part, text: await applyGuards(context, "task", part.text) };
  if (part.type === "tool-call") return { ...part, input: await applyGuards(context, "task", part.input) };
  if (part.type === "tool-result") return { ...part, output: await applyGuards(context, "task", part.output) };
  return part;
}

/** Applies the guards to a text for the model. @throws {KitbagError} `guard-refused` */
export async function guardText(context: GuardContext, text: string): Promise<string> {
  return applyGuards(context, "task", text);
}

/** The same for a text that is added during a run. @throws {KitbagError} `guard-refused` */
export async function guardAddedText(run: RunState, text: string): Promise<string> {
  return hasGuardAt(run.parts.guards, "task") ? applyGuards(contextOf(run), "task", text) : text;
}

/** What the guards decided about the input of a call: the verdict of a hook, or `ask` if the call needs approval. */
export type GuardedVerdict = CallVerdict | { readonly input: JsonValue; readonly ask: string };

/** Applies the guards to the input of a call. */
export async function guardInput(
  run: RunState,
  { address: tool }: PlannedCall,
  input: JsonValue,
): Promise<GuardedVerdict> {
  const { guards, signal, note, approve: _approve, ...facts } = contextOf(run);
  const judged = await untilStopped(signal, judge(guards, { ...facts, place: "tool-input", tool, value: input }));
  for (const act of judged.acts) await note(act);
  const { refused, asked, value } = judged;
  if (refused !== undefined) return { deny: refused.reason ?? "" };
  if (asked !== undefined) return { input: value, ask: asked.reason ?? "" };
  return value === input ? undefined : { input: value };
}

/** Applies the guards to the outcome of a call. Never throws: if a guard refuses the outcome or fails, the result is a failure. */
export async function guardOutcome(context: GuardContext, tool: string, outcome: ToolOutcome): Promise<ToolOutcome> {
  try {
    return withShown(outcome, await applyGuards(context, "tool-output", shownOf(outcome), tool));
  } catch (cause) {
    if (isKitbagError(cause, "guard-refused")) return { status: "failed", error: cause.toJSON() };
    const reason = "the run was stopped before the guards had checked the output";
    return {
      status: "failed",
      error: toFailure("guard-refused", { guard: "tool-output", place: "tool-output", reason }),
    };
  }
}

/** The same for a call of a run. */
export function guardResult(
  run: RunState,
  { address }: PlannedCall,
  outcome: ToolOutcome,
): ToolOutcome | Promise<ToolOutcome> {
  return hasGuardAt(run.parts.guards, "tool-output") ? guardOutcome(contextOf(run), address, outcome) : outcome;
}

/** Applies the guards to an answer, and sends its texts, which were held back until now. @throws {KitbagError} `guard-refused` */
export async function guardAnswer(run: RunState, answer: ModelAnswered): Promise<ModelAnswered> {
  const content = [];
  for (const part of answer.content) {
    if (part.type !== "text") content.push(part);
    else content.push({ ...part, text: await applyGuards(contextOf(run), "answer", part.text) });
  }
  for (const part of content) {
    if (part.type === "text") run.tell({ type: "text-delta", run: run.id, step: run.step, text: part.text });
  }
  return { ...answer, content };
}
