import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelMessage } from "../../models/model.ts";
import { findWrongOption, isObject, type Expectations } from "../../workspace/find-wrong-option.ts";
import { aList, anObject, aText, refuseIf } from "../expectations.ts";
import { isOutcome } from "../run/ask-before-call.ts";

/** What is different in a run that is made from another. */
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
  id: aText,
  say: aText,
  outcomes: [(value) => isObject(value) && Object.values(value).every(isOutcome), "an object of outcomes"],
  inputs: anObject,
  messages: aList,
};

/** Checks what is to be different in a fork: it would be in its journal for ever. @throws {KitbagError} `option-invalid` */
export function checkForkChanges(changes: ForkChanges): void {
  refuseIf(findWrongOption(changes, expectations, "changes"));
}
