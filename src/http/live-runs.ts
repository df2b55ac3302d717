import type { AgentEvent } from "../agent/events.ts";
import type { AgentRun } from "../agent/agent-run.ts";
import { createJournalReader } from "../agent/log/journal-events.ts";
import type { JsonValue } from "../core/json.ts";
import type { Store } from "../core/store.ts";
import { createRuns } from "../records/runs/create-runs.ts";
import { createQueue, type EventQueue } from "./event-queue.ts";
import type { ServerEvent } from "./server-events.ts";

/** The runs that this process works on. */
export interface LiveRuns {
  /** Keeps a run until it ends. */
  add(run: AgentRun): void;
  get(id: string): AgentRun | undefined;
  /** Calls `listener` with the events of a run from now on; answers with the function that ends it. */
  listen(id: string, listener: (event: AgentEvent) => void): () => void;
}

/** Makes an empty set of runs. */
export function createLiveRuns(): LiveRuns {
  const runs = new Map<string, { readonly run: AgentRun; readonly listeners: Set<(event: AgentEvent) => void> }>();

  async function follow(id: string, run: AgentRun, listeners: Set<(event: AgentEvent) => void>): Promise<void> {
    for await (const event of run) for (const listener of listeners) listener(event);
    if (runs.get(id)?.run === run) runs.delete(id);
  }

  return {
    add(run) {
      const listeners = runs.get(run.id)?.listeners ?? new Set();
      runs.set(run.id, { run, listeners });
      void follow(run.id, run, listeners);
    },
    get: (id) => runs.get(id)?.run,
    listen(id, listener) {
      const { listeners } = runs.get(id) ?? {};
      listeners?.add(listener);
      return () => listeners?.delete(listener);
    },
  };
}

/** What of a run is followed. */
export interface Follow {
  readonly store: Store;
  readonly live: LiveRuns;
  readonly id: string;
  /** The last position that the client has; 0 for the whole log. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Whether the stream ends when the run pauses. @default it goes on until the run ends */
  readonly untilPaused?: boolean;
}

/** Events that no journal has: pieces of texts and of inputs, and the events of running tools. */
const passing: ReadonlySet<string> = new Set(["text-delta", "reasoning-delta", "tool-input-delta", "call-event"]);

/**
 * Follows a run: the lines of its log, each with its position, and in between what passes while this process works on it. A client that
 * comes back with the last position gets every line that it has not; what passed meanwhile is in the lines. A slow client loses what
 * passes, and is told how much (`events-dropped`); it never loses a line.
 */
export async function* followRun({
  store,
  live,
  id,
  after,
  signal,
  untilPaused = false,
}: Follow): AsyncIterable<ServerEvent> {
  const stop = new AbortController();
  const merged = createQueue<ServerEvent>();
  const whole = AbortSignal.any([signal, stop.signal]);
  let answered = 0;
  const unlisten = live.listen(id, (event) => {
    // What comes late is in a line that the client has.
    if (passing.has(event.type) && "step" in event && Number(event.step) > answered) merged.add(toServerEvent(event));
    else if (event.type === "call-event") merged.add(toServerEvent(event));
  });
  const wake = (): void => merged.end();
  whole.addEventListener("abort", wake, { once: true });
  const lines = readLines({ store, id, after, signal: whole })[Symbol.asyncIterator]();
  try {
    let next = lines.next();
    for (;;) {
      const line = await Promise.race([next, merged.wait().then(() => undefined)]);
      yield* takePassing(merged);
      if (line === undefined) {
        if (merged.isOver()) return;
        continue;
      }
      if (line.done === true) return;
      const { event, step } = line.value;
      if (event.event === "model-answer") answered = step ?? answered;
      yield event;
      if (event.event === "run-end" || (untilPaused && event.event === "run-paused")) return;
      next = lines.next();
    }
  } finally {
    unlisten();
    whole.removeEventListener("abort", wake);
    stop.abort();
  }
}

function* takePassing(queue: EventQueue<ServerEvent>): Iterable<ServerEvent> {
  for (let event = queue.take(); event !== undefined; event = queue.take()) yield event;
  const dropped = queue.takeDropped();
  if (dropped > 0) yield { event: "events-dropped", data: { count: dropped } };
}

interface Line {
  readonly event: ServerEvent;
  readonly step: number | undefined;
}

/** The lines behind a position; those before it are read too, for the names of calls. */
async function* readLines({ store, id, after, signal }: Omit<Follow, "live">): AsyncIterable<Line> {
  const read = createJournalReader(id);
  for await (const entry of createRuns({ store }).tail(id, { signal })) {
    const event = read(entry);
    if (event === undefined || event.position <= after) continue;
    const step = event.event["step"];
    yield {
      event: { id: event.position, event: event.type, data: event.event },
      step: typeof step === "number" ? step : undefined,
    };
  }
}

function toServerEvent(event: AgentEvent): ServerEvent {
  return { event: event.type, data: event as unknown as JsonValue };
}
