import type { LogEntry, Store } from "../../core/store.ts";
import { callStream, toCallRecord, type EndRecord, type StartRecord } from "./call-records.ts";

/** A call and the calls inside it, as the log has them. */
export interface CallTree {
  readonly call: string;
  readonly tool: string;
  /** When it began, in milliseconds since 1970. */
  readonly time: number;
  /** When it began, in milliseconds after the outermost call of the tree. */
  readonly startMs: number;
  readonly durationMs: number;
  /** How much of that it waited for a place and for limits. */
  readonly queuedMs: number;
  /** `open`: its end is not in the log, because it is still running or its process died. */
  readonly status: "ok" | "failed" | "open";
  /** The code of the error, if it failed. */
  readonly code?: string;
  readonly recalled: boolean;
  /** In the order in which they began. */
  readonly calls: readonly CallTree[];
}

/**
 * Reads one call and all its nested calls from the log of a store; `undefined` if the log does not have the call. Calls beyond the
 * first 100,000, and calls deeper than 500, are left out. The log has millisecond precision: calls that began in the same millisecond
 * are shown one after the other if one had ended before the other began.
 *
 * @throws {KitbagError} whatever the store says.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, memoryStore, type CallEvent } from "kitbag";
 * import { readCallTree } from "kitbag/store";
 *
 * const store = memoryStore();
 * const input = { type: "object" } as const;
 * const inner = defineTool({ name: "inner", description: "Is called", input, run: () => 1 });
 * const outer = defineTool({ name: "outer", description: "Calls", input, run: (_, { call }) => call(inner, {}) });
 * const workspace = createWorkspace({ tools: [inner, outer], store });
 * const events: CallEvent[] = [];
 * await workspace.call("outer", {}, { onEvent: (event) => void events.push(event) });
 *
 * const tree = await readCallTree(store, events[0]?.call ?? "");
 * console.assert(tree?.tool === "outer" && tree.calls[0]?.tool === "inner");
 * ```
 */
export async function readCallTree(store: Store, call: string): Promise<CallTree | undefined> {
  const position = await findStart(store, call);
  return position === undefined ? undefined : readFrom(store, call, position);
}

const pageSize = 250;
const mostCalls = 100_000;
const mostDepth = 500;

/** Looks for the beginning of a call from the end of the log: most people ask for a call of today. */
async function findStart({ log }: Store, call: string): Promise<number | undefined> {
  for (let end = await log.position(callStream); end > 0; end -= pageSize) {
    const after = Math.max(0, end - pageSize);
    const page = await log.read(callStream, { after, limit: end - after });
    const found = page.findLast(({ value }) => {
      const record = toCallRecord(value);
      return record?.type === "call-start" && record.call === call;
    });
    if (found !== undefined) return found.position;
  }
  return undefined;
}

/** A call of the tree while it is being read. */
interface Node {
  readonly start: StartRecord;
  readonly children: Node[];
  end: EndRecord | undefined;
  readonly depth: number;
  readonly position: number;
  endPosition: number;
}

async function readFrom({ log }: Store, root: string, position: number): Promise<CallTree | undefined> {
  const nodes = new Map<string, Node>();
  let lastTime = 0;

  function add({ value, time, position: at }: LogEntry): void {
    const record = toCallRecord(value);
    if (record === undefined) return;
    lastTime = Math.max(lastTime, time);
    const node = nodes.get(record.call);
    if (record.type === "call-end") {
      if (node !== undefined) Object.assign(node, { end: record, endPosition: at });
      return;
    }
    const parent = record.parent === undefined ? undefined : nodes.get(record.parent);
    const depth = parent === undefined ? 0 : parent.depth + 1;
    const isOutside = parent === undefined && record.call !== root;
    if (node !== undefined || isOutside || nodes.size >= mostCalls || depth > mostDepth) return;
    const added: Node = { start: record, children: [], end: undefined, depth, position: at, endPosition: Infinity };
    nodes.set(record.call, added);
    parent?.children.push(added);
  }

  for (let after = position - 1; nodes.get(root)?.end === undefined; after += pageSize) {
    const page = await log.read(callStream, { after, limit: pageSize });
    for (const entry of page) add(entry);
    if (page.length < pageSize) break;
  }
  const top = nodes.get(root);
  return top && toTree(top, { origin: top.start.time, startMs: 0, endMs: lengthOf(top, lastTime), lastTime });
}

/** Where a call has to be, as its caller says. */
interface Bounds {
  /** When the tree begins, in milliseconds since 1970. */
  readonly origin: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The newest time in what was read. */
  readonly lastTime: number;
}

function toTree({ start, end, children }: Node, bounds: Bounds): CallTree {
  const { startMs, endMs } = bounds;
  const byEnd = children.toSorted((left, right) => left.endPosition - right.endPosition);
  const ends = new Map<Node, number>();
  let next = 0;
  let earliest = startMs;
  const calls = children.map((child) => {
    for (let other = byEnd[next]; other !== undefined && other.endPosition < child.position; other = byEnd[++next]) {
      earliest = Math.max(earliest, ends.get(other) ?? 0);
    }
    const within = place(child, { ...bounds, startMs: earliest });
    ends.set(child, within.endMs);
    return toTree(child, within);
  });
  return {
    call: start.call,
    tool: start.tool,
    time: start.time,
    startMs,
    durationMs: endMs - startMs,
    queuedMs: Math.min(end?.queuedMs ?? 0, endMs - startMs),
    status: end === undefined ? "open" : end.code === undefined ? "ok" : "failed",
    ...(end?.code !== undefined && { code: end.code }),
    recalled: end?.recalled === true,
    calls,
  };
}

/** Puts a call inside its caller: two clocks, one of them in whole milliseconds, do not fit exactly. */
function place(node: Node, { origin, startMs, endMs, lastTime }: Bounds): Bounds {
  const wanted = Math.max(startMs, node.start.time - origin);
  const length = Math.min(lengthOf(node, lastTime), Math.max(0, endMs - startMs));
  const start = Math.max(startMs, Math.min(wanted, endMs - length));
  return { origin, lastTime, startMs: start, endMs: start + length };
}

function lengthOf({ start, end }: Node, lastTime: number): number {
  return Math.max(0, end === undefined ? lastTime - start.time : end.durationMs);
}
