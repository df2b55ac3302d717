import type { JsonObject } from "../../core/json.ts";

/** Puts what came of the calls of one answer into the order in which it asked for them: which was over first says nothing. */
export function sortOutcomes(events: readonly JsonObject[]): readonly JsonObject[] {
  const sorted: JsonObject[] = [];
  for (const event of events) {
    let place = sorted.length;
    while (place > 0 && isBefore(event, sorted[place - 1])) place -= 1;
    sorted.splice(place, 0, event);
  }
  return sorted;
}

function isBefore(event: JsonObject, other: JsonObject | undefined): boolean {
  if (event["type"] !== "step-outcome" || other?.["type"] !== "step-outcome") return false;
  const [step, call] = toPlace(event);
  const [otherStep, otherCall] = toPlace(other);
  return step === otherStep && call < otherCall;
}

/** Of `step.call`. */
function toPlace(event: JsonObject): readonly [step: number, call: number] {
  const [step, call] = (event["step"] as string).split(".").map(Number);
  return [step ?? 0, call ?? 0];
}
