import type { ModelMessage } from "../../models/model.ts";
import type { Chosen } from "./choose-units.ts";
import { withMark } from "./kitbag-mark.ts";
import type { Unit } from "./to-units.ts";

/** What a conversation is put together from. */
export interface Pieces {
  readonly units: readonly Unit[];
  readonly chosen: Chosen;
  readonly summary: ModelMessage | undefined;
  /** Behind how many units the summary stands, if none is left out. */
  readonly summaryAt: number;
  readonly task: number;
  readonly run: string;
}

/** A message that stands for others, so that user and assistant take turns: some providers insist on it. */
export function gapFor(role: "user" | "assistant"): ModelMessage {
  return withMark({ role, content: [{ type: "text", text: "(Some messages are left out here.)" }] }, { gap: true });
}

/**
 * Puts a conversation together: what was chosen, in its order, with the summary in the place of the last that is left out. It begins
 * with a user, and nobody speaks twice who did not before.
 */
export function putTogether({ units, chosen, summary, summaryAt, task, run }: Pieces): ModelMessage[] {
  const made: ModelMessage[] = [];
  const place = findPlace(units, chosen, summaryAt);
  let before: Unit | undefined;
  const add = (messages: readonly ModelMessage[], unit: Unit | undefined): void => {
    const [first] = messages;
    if (first === undefined) return;
    const stoodTogether = unit !== undefined && before?.end === unit.start;
    if (!stoodTogether) fillGap(made, first);
    made.push(...messages);
    before = unit;
  };

  for (const [index, unit] of units.entries()) {
    if (index === place && summary !== undefined) add([summary], undefined);
    const messages = chosen.get(index) ?? [];
    add(index === task ? messages.map((message) => withMark(message, { task: run })) : messages, unit);
  }
  if (place >= units.length && summary !== undefined) add([summary], undefined);
  return made;
}

/** Before which unit the summary stands. */
function findPlace(units: readonly Unit[], chosen: Chosen, summaryAt: number): number {
  const last = units.findLastIndex((_, index) => !chosen.has(index));
  return last === -1 ? summaryAt : last + 1;
}

function fillGap(made: ModelMessage[], next: ModelMessage): void {
  const last = made.findLast(({ role }) => role !== "system")?.role ?? "assistant";
  if (next.role !== last) return;
  if (next.role === "user") made.push(gapFor("assistant"));
  if (next.role === "assistant") made.push(gapFor("user"));
}
