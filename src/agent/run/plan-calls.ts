import { hasGuardAt } from "../../core/guards.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";
import { isParallelSafe, type Tool } from "../../core/tool.ts";
import type { ModelContent } from "../../models/model.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import type { Session } from "../../workspace/workspace.ts";
import type { ModelAnswered } from "../events.ts";
import type { Exposure } from "../exposure/exposure.ts";
import { parseInput } from "./parse-input.ts";
import type { RunState } from "./run-state.ts";

/** A call that a model asks for. */
export interface PlannedCall {
  /** Its place among the calls of the answer, from 0. */
  readonly index: number;
  readonly id: string;
  /** As the model named the tool. */
  readonly name: string;
  /** The address of the tool; `name` if no such tool exists. */
  readonly address: string;
  readonly tool: Tool | undefined;
  /** Set if it is one of Kitbag's own. */
  readonly dispatch: DispatchTool | undefined;
  readonly inputText: string;
  /** As the model gave it: what it sees of the call from the next question on. */
  readonly given: JsonValue;
  /** What the tool is called with; differs from `given` if the call is inside `call_tool`. */
  readonly input: JsonValue;
  /** Set if the call was made with a different input that was not kept. */
  readonly isInputLost?: true;
  /** What had to be repaired in it. */
  readonly repairs: readonly string[] | undefined;
  /** Why it cannot be made whatever its input is: it was cut off, say. */
  readonly unreadable: string | undefined;
}

/** Finds out what a model asks for. What is no tool, or no JSON, is a call too: the model is told what is wrong with it. */
export function planCalls(
  { content, finishReason }: Pick<ModelAnswered, "content" | "finishReason">,
  session: Session,
  exposure: Exposure,
): readonly PlannedCall[] {
  const calls: PlannedCall[] = [];
  for (const item of content) {
    if (item.type !== "tool-call" || item.providerExecuted === true) continue;
    const { toolCallId: id, toolName: name, input: inputText } = item;
    const parsed = parseInput(inputText, finishReason);
    const asked = unwrap(exposure.find(name), parsed.input);
    const entry = asked.dispatch === undefined ? session.getTool(asked.address ?? name) : undefined;
    const address = asked.address ?? entry?.address ?? name;
    const { dispatch, input } = asked;
    const { input: given, repairs } = parsed;
    const tool = entry?.tool;
    const isCut =
      finishReason === "length" && isCutInput({ dispatch, tool, given, isLast: item === lastCall(content) });
    const unreadable = isCut ? cutInput : whyUnreadable(item);
    calls.push({
      index: calls.length,
      id,
      name,
      address,
      tool,
      dispatch,
      inputText,
      given,
      input,
      repairs,
      unreadable,
    });
  }
  return calls;
}

/** What the model is told of a call that the output limit cut. */
const cutInput =
  "the output limit cut its input off, so it was not made; make it again with a shorter input, in several calls if need be";

/** Input that is no JSON was cut, and so may the last one be that is empty: packages write `{}` for an input that had not begun. */
function isCutInput({
  dispatch,
  tool,
  given,
  isLast,
}: Pick<PlannedCall, "dispatch" | "tool" | "given"> & { readonly isLast: boolean }): boolean {
  if (typeof given === "string") return true;
  const isEmpty = isObject(given) && Object.keys(given).length === 0;
  const { properties = {} } = tool?.inputSchema ?? {};
  return isEmpty && isLast && (dispatch !== undefined || (isObject(properties) && Object.keys(properties).length > 0));
}

function lastCall(content: readonly ModelContent[]): ModelContent | undefined {
  return content.findLast(({ type }) => type === "tool-call");
}

/** A call that was read out of a text says whether it was whole. */
function whyUnreadable({ providerMetadata }: Extract<ModelContent, { type: "tool-call" }>): string | undefined {
  const reason = providerMetadata?.["kitbag"]?.["unreadable"];
  return typeof reason === "string" ? reason : undefined;
}

interface Asked {
  /** What `call_tool` is to call. */
  readonly address?: string;
  readonly dispatch: DispatchTool | undefined;
  readonly input: JsonValue;
}

/** A call through `call_tool` is a call of the tool: so it is approved, recorded and run again like any other. */
function unwrap(dispatch: DispatchTool | undefined, input: JsonValue): Asked {
  if (dispatch?.name !== "call_tool" || typeof input !== "object" || input === null) return { dispatch, input };
  const { name, version, input: inner = {} } = input as JsonObject;
  if (typeof name !== "string" || (version !== undefined && typeof version !== "string")) return { dispatch, input };
  return { address: version === undefined ? name : `${name}@${version}`, dispatch: undefined, input: inner };
}

/**
 * Whether a call must not run beside others of its answer, but in the order asked: it changes something, and its tool does not say
 * that this may happen in any order.
 */
export function isAlone({ tool, dispatch }: PlannedCall): boolean {
  if (dispatch !== undefined) return dispatch.annotations.readOnly !== true;
  return tool !== undefined && (!isParallelSafe(tool.annotations) || tool.limits.maxConcurrent === 1);
}

/** Whether its tool says that it only reads, or that it changes something; `undefined` if it says neither. */
export function isReadOnly({ tool, dispatch }: PlannedCall): boolean | undefined {
  const { readOnly, destructive } = dispatch?.annotations ?? tool?.annotations ?? {};
  return destructive === true ? false : readOnly;
}

/** Whether the call may be made again when it is unknown whether it happened. */
export function isIdempotent({ tool, dispatch, isInputLost }: PlannedCall): boolean {
  if (isInputLost === true) return false;
  // The run of a sub-agent goes on where it was.
  if (tool?.code.kind === "agent") return true;
  const annotations = dispatch?.annotations ?? tool?.annotations;
  // There is nothing to run twice in what is no tool.
  return annotations === undefined || annotations.idempotent === true || annotations.readOnly === true;
}

/**
 * The calls of an answer, each with what the journal says that it was made with. One that is still to be made is asked about again
 * where there is a hook or a guard, which is shown what the model gave; without a hook, what was changed stays changed.
 */
export function recallInputs(run: RunState, step: number, calls: readonly PlannedCall[]): readonly PlannedCall[] {
  const { changed, redacted, done } = run;
  if (changed === undefined || changed.size === 0) return calls;
  const { hooks, guards } = run.parts;
  const isAsked = hooks.beforeCall !== undefined || hasGuardAt(guards, "tool-input");
  return calls.map((call) => {
    const name = `${step}.${call.index}`;
    const input = changed.get(name);
    if (input === undefined || (isAsked && !done.has(name))) return call;
    // With a part of it left out it would be another call.
    return redacted.has(name) ? { ...call, isInputLost: true } : { ...call, input };
  });
}
