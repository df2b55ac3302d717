import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelMessage } from "../../models/model.ts";
import { findWrongOption, isObject, type Expectations } from "../../workspace/options/find-wrong-option.ts";
import type { AgentOptions } from "../agent-options.ts";
import { anObject, aText, refuse, refuseFound, refuseIf } from "../expectations.ts";
import { guardMessages, guardOutcome, guardText, toGuards } from "../run/run-guards.ts";
import { isOutcome } from "../run/is-outcome.ts";
import { toMessages } from "../run/task-messages.ts";

/**
 * What is different in a run that is made from another. Where earlier messages were left out since, they are there again, as changed:
 * the memory is compacted anew if need be.
 */
export interface ForkChanges {
  /** Of the new run. @default made up */
  readonly id?: string;
  /** Said to the model before it goes on. */
  readonly say?: string;
  /** What came of calls, by `step.call`, in the place of what came of them, or of what nobody knows. */
  readonly outcomes?: Readonly<Record<string, ToolOutcome>>;
  /** What calls were made with, by `step.call`, whose `outcomes` are changed, if that is not what the model gave. */
  readonly inputs?: Readonly<Record<string, JsonValue>>;
  /** What the task is, in the place of what it was. */
  readonly messages?: readonly ModelMessage[];
}

const expectations: Expectations<ForkChanges> = {
  id: [(value) => typeof value === "string" && value !== "", "a text"],
  say: aText,
  outcomes: [isObject, "an object with outcomes by step.call"],
  inputs: anObject,
  messages: [Array.isArray, "a list of messages"],
};

/** What is different in a fork, as guards leave it. @throws {KitbagError} `guard-refused` */
export async function guardChanges(changes: ForkChanges, options: AgentOptions): Promise<ForkChanges> {
  const guards = toGuards(options);
  if (guards.length === 0) return changes;
  const signal = new AbortController().signal;
  const context = { guards, approve: options.approve, signal, note: () => undefined };
  const { say, outcomes = {}, messages } = changes;
  const guarded: [string, ToolOutcome][] = [];
  for (const [name, outcome] of Object.entries(outcomes)) {
    guarded.push([name, await guardOutcome(context, name, outcome)]);
  }
  return {
    ...changes,
    ...(say !== undefined && { say: await guardText(context, say) }),
    outcomes: Object.fromEntries(guarded),
    ...(messages && { messages: await guardMessages(context, messages) }),
  };
}

/** Checks what is to be different in a fork: it would be in its journal for ever. @throws {KitbagError} `option-invalid` */
export function checkForkChanges(changes: ForkChanges): void {
  refuseIf(findWrongOption(changes, expectations, "changes"));
  if (changes.messages !== undefined) toMessages(changes.messages, "changes.messages");
  for (const [name, outcome] of Object.entries(changes.outcomes ?? {})) {
    if (isOutcome(outcome)) continue;
    refuse(`changes.outcomes["${name}"]`, outcome, '{ status: "ok", output } or { status: "failed", error }');
  }
  for (const found of Object.keys(changes.inputs ?? {})) {
    if (Object.hasOwn(changes.outcomes ?? {}, found)) continue;
    refuseFound("changes.inputs", found, 'a call whose outcome is in "changes.outcomes"');
  }
}
