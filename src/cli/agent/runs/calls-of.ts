import type { ModelAnswered } from "../../../agent/events.ts";
import { parseInput } from "../../../agent/run/parse-input.ts";
import type { JsonValue } from "../../../core/json.ts";

/** A call that a recorded answer asks for. */
export interface RecordedCall {
  /** `step.call`: what came of it is recorded under this name. */
  readonly name: string;
  readonly id: string;
  /** As the model named the tool. */
  readonly tool: string;
  readonly input: JsonValue;
}

/** The calls that a recorded answer asks for, in order. */
export function callsOf({ step, content }: Pick<ModelAnswered, "step" | "content">): readonly RecordedCall[] {
  const calls: RecordedCall[] = [];
  for (const item of content) {
    if (item.type !== "tool-call" || item.providerExecuted === true) continue;
    const { toolCallId: id, toolName: tool, input } = item;
    calls.push({ name: `${step}.${calls.length}`, id, tool, input: parseInput(input).input });
  }
  return calls;
}
