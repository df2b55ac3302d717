import type { CallTree } from "../../../records/stats/read-call-tree.ts";

/** A call, and the row that it is drawn in: below its caller, and below calls at the same time that were there first. */
export interface FlameBox {
  readonly call: CallTree;
  readonly row: number;
}

/** Where everything of a flame graph is. */
export interface FlameLayout {
  readonly boxes: readonly FlameBox[];
  readonly rows: number;
  /** How many calls are not drawn, because there are too many: the shortest. */
  readonly left: number;
}

/** More boxes make a page that is too large to be looked at. */
const mostBoxes = 5000;

/** Finds a row for each call. */
export function layOutFlame(tree: CallTree): FlameLayout {
  const all = listCalls(tree);
  const drawn = new Set(all.length <= mostBoxes ? all : pickLongest(all));
  const { boxes, spans } = place(tree, drawn);
  return { boxes, rows: spans.length, left: all.length - boxes.length };
}

/** A call with what is inside it: its own row is 0, and each row is busy for some time. */
interface Placed {
  readonly boxes: readonly FlameBox[];
  readonly spans: readonly Span[];
}

function place(call: CallTree, drawn: ReadonlySet<CallTree>): Placed {
  const boxes: FlameBox[] = [{ call, row: 0 }];
  const inside: Span[] = [];
  for (const inner of call.calls) {
    if (!drawn.has(inner)) continue;
    const placed = place(inner, drawn);
    const offset = findRow(inside, placed.spans);
    for (const box of placed.boxes) boxes.push({ call: box.call, row: box.row + offset + 1 });
    for (const [index, span] of placed.spans.entries()) occupy(inside, offset + index, span);
  }
  return { boxes, spans: [{ startMs: call.startMs, endMs: call.startMs + call.durationMs }, ...inside] };
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** The first row in which spans begin after everything that is there. */
function findRow(busy: readonly Span[], spans: readonly Span[]): number {
  for (let offset = 0; ; offset++) {
    if (spans.every(({ startMs }, index) => (busy[offset + index]?.endMs ?? -Infinity) <= startMs)) return offset;
  }
}

function occupy(busy: Span[], row: number, span: Span): void {
  const before = busy[row];
  busy[row] = before === undefined ? span : { startMs: before.startMs, endMs: Math.max(before.endMs, span.endMs) };
}

/** All calls of a tree, callers first. */
export function listCalls(tree: CallTree): readonly CallTree[] {
  const list = [tree];
  for (const call of list) for (const inner of call.calls) list.push(inner);
  return list;
}

/** A caller takes no less time than what is inside it, so it is there if that is. */
function pickLongest(calls: readonly CallTree[]): readonly CallTree[] {
  return calls.toSorted((left, right) => right.durationMs - left.durationMs).slice(0, mostBoxes);
}
