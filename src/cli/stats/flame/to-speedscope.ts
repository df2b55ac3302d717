import type { CallTree } from "../../../records/stats/read-call-tree.ts";

/** A file as speedscope reads it. */
export interface SpeedscopeFile {
  readonly $schema: "https://www.speedscope.app/file-format-schema.json";
  readonly name: string;
  readonly exporter: string;
  readonly activeProfileIndex: number;
  readonly shared: { readonly frames: readonly { readonly name: string }[] };
  readonly profiles: readonly SpeedscopeProfile[];
}

interface SpeedscopeProfile {
  readonly type: "evented";
  readonly name: string;
  readonly unit: "milliseconds";
  readonly startValue: number;
  readonly endValue: number;
  readonly events: readonly SpeedscopeEvent[];
}

interface SpeedscopeEvent {
  /** Opens or closes a frame. */
  readonly type: "O" | "C";
  readonly frame: number;
  readonly at: number;
}

/** What happens in one line of work: calls that are at the same time as others go to another. */
interface Lane {
  readonly events: SpeedscopeEvent[];
  busyUntil: number;
}

/** Makes a profile of a call that speedscope shows. Calls at the same time are in profiles of their own: there, one stack is one line. */
export function toSpeedscope(tree: CallTree): SpeedscopeFile {
  const frames = createFrames();
  const lanes: Lane[] = [{ events: [], busyUntil: 0 }];

  function findLane(startMs: number): Lane {
    const free = lanes.slice(1).find(({ busyUntil }) => busyUntil <= startMs);
    if (free !== undefined) return free;
    const added: Lane = { events: [], busyUntil: 0 };
    lanes.push(added);
    return added;
  }

  function add(call: CallTree, lane: Lane): void {
    const endMs = call.startMs + call.durationMs;
    const frame = frames.indexOf(nameFrame(call));
    lane.busyUntil = Math.max(lane.busyUntil, endMs);
    lane.events.push({ type: "O", frame, at: call.startMs });
    let busyUntil = call.startMs;
    for (const inner of call.calls) {
      const isFree = inner.startMs >= busyUntil;
      add(inner, isFree ? lane : findLane(inner.startMs));
      if (isFree) busyUntil = inner.startMs + inner.durationMs;
    }
    lane.events.push({ type: "C", frame, at: endMs });
  }

  add(tree, lanes[0] as Lane);
  return {
    $schema: "https://www.speedscope.app/file-format-schema.json",
    name: `${tree.tool} (${tree.call})`,
    exporter: "kitbag",
    activeProfileIndex: 0,
    shared: { frames: frames.list() },
    profiles: lanes.map(({ events }, index) => ({
      type: "evented",
      name: index === 0 ? tree.tool : `at the same time, ${index}`,
      unit: "milliseconds",
      startValue: 0,
      endValue: tree.durationMs,
      events,
    })),
  };
}

function nameFrame({ tool, code, recalled, status }: CallTree): string {
  if (code !== undefined) return `${tool} (${code})`;
  if (status === "open") return `${tool} (no end)`;
  return recalled ? `${tool} (recalled)` : tool;
}

function createFrames(): { indexOf(name: string): number; list(): readonly { readonly name: string }[] } {
  const known = new Map<string, number>();
  return {
    indexOf(name) {
      const index = known.get(name) ?? known.size;
      known.set(name, index);
      return index;
    },
    list: () => Array.from(known.keys(), (name) => ({ name })),
  };
}
