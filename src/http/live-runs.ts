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
  /** Keeps a run of a user until it ends. */
  add(run: AgentRun, user: string): void;
  /** How many runs of a user are at work. */
  count(user: string): number;
  /** The run that works under an id: the first one, if a second was begun with the same id, which then fails. */
  get(id: string): AgentRun | undefined;
  /** Whether a run that was added has told an event before its end: then the log of its id is its own. */
  hasBegun(run: AgentRun): Promise<boolean>;
  /** Calls `listener` with the events of a run from now on; answers with the function that ends it. */
  listen(id: string, listener: (event: AgentEvent) => void): () => void;
}

/** Makes an empty set of runs. */
export function createLiveRuns(onEvent?: (event: AgentEvent) => void): LiveRuns {
  const runs = new Map<string, Working>();
  const counts = new Map<string, number>();
  const begun = new WeakMap<AgentRun, Promise<boolean>>();

  async function follow({ run, user, working, tellBegun }: Followed): Promise<void> {
    for await (const event of run) {
      onEvent?.(event);
      tellBegun(event.type !== "task-end");
      if (working.runs[0] === run) for (const listener of working.listeners) listener(event);
    }
    tellBegun(false);
    counts.set(user, (counts.get(user) ?? 1) - 1);
    if (counts.get(user) === 0) counts.delete(user);
    working.runs = working.runs.filter((one) => one !== run);
    if (working.runs.length === 0) runs.delete(run.id);
  }

  return {
    count: (user) => counts.get(user) ?? 0,
    add(run, user) {
      const working = runs.get(run.id) ?? { runs: [], listeners: new Set() };
      working.runs.push(run);
      runs.set(run.id, working);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      begun.set(run, promise);
      counts.set(user, (counts.get(user) ?? 0) + 1);
      void follow({ run, user, working, tellBegun: resolve });
    },
    get: (id) => runs.get(id)?.runs[0],
    hasBegun: (run) => begun.get(run) ?? Promise.resolve(false),
    listen(id, listener) {
      const { listeners } = runs.get(id) ?? {};
      listeners?.add(listener);
      return () => listeners?.delete(listener);
    },
  };
}

/** The runs of one id, the oldest first, and who listens to the one that works. */
interface Working {
  runs: AgentRun[];
  readonly listeners: Set<(event: AgentEvent) => void>;
}

interface Followed {
  readonly run: AgentRun;
  readonly user: string;
  readonly working: Working;
  readonly tellBegun: (hasBegun: boolean) => void;
}

/** What of a run is followed. */
export interface Follow {
  readonly store: Store;
  readonly live: LiveRuns;
  readonly id: string;
  /** The last position that the client has; 0 for the whole log. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** The position that is the last one, as soon as it is known. @default the end of the run */
  readonly until?: Promise<number>;
}

/** Events that no journal has: pieces of texts and of inputs, and the events of running tools. */
const passing: ReadonlySet<string> = new Set(["text-delta", "reasoning-delta", "tool-input-delta", "call-event"]);

/**
 * Follows a run: the lines of its log, each with its position, and in between what passes while this process works on it. A client that
 * comes back with the last position gets every line that it has not; what passed meanwhile is in the lines. A slow client loses what
 * passes, and is told how much (`events-dropped`); it never loses a line.
 */
export async function* followRun({ store, live, id, after, signal, until }: Follow): AsyncIterable<ServerEvent> {
  const stop = new AbortController();
  const passed = createQueue<ServerEvent>();
  const whole = AbortSignal.any([signal, stop.signal]);
  let answered = 0;
  const unlisten = live.listen(id, (event) => {
    // What comes late is in a line that the client has.
    if (passing.has(event.type) && "step" in event && Number(event.step) > answered) passed.add(toServerEvent(event));
    else if (event.type === "call-event") passed.add(toServerEvent(event));
  });
  whole.addEventListener("abort", passed.end, { once: true });
  const lines = createLines(readLines({ store, id, after, signal: whole }), { until, wake: passed.wake });
  let position = 0;
  try {
    for (;;) {
      yield* takePassing(passed);
      if (whole.aborted) return;
      const line = lines.take();
      if (line === undefined) {
        if (position >= lines.end()) return;
        await passed.wait();
        continue;
      }
      if (line.done === true) return;
      const { event, step } = line.value;
      ({ position } = line.value);
      if (event?.event === "model-answer") answered = step ?? answered;
      if (event !== undefined) yield event;
      if (event?.event === "run-end") return;
    }
  } finally {
    unlisten();
    whole.removeEventListener("abort", passed.end);
    stop.abort();
    lines.close();
  }
}

/** Lines that are asked for one at a time, without a wait. */
interface Lines {
  /** The next line, if it has come. @throws why the log has no more lines */
  take(): IteratorResult<Line, unknown> | undefined;
  /** The last position; infinite while it is not known. */
  end(): number;
  close(): void;
}

/** Reads ahead by one line, and calls `wake` when there is something to look at. */
function createLines(
  source: AsyncIterable<Line>,
  { until, wake }: { readonly until: Promise<number> | undefined; readonly wake: () => void },
): Lines {
  const iterator = source[Symbol.asyncIterator]();
  let end = Infinity;
  let next: IteratorResult<Line, unknown> | undefined;
  let failure: { readonly cause: unknown } | undefined;
  const fail = (cause: unknown): void => {
    failure = { cause };
    wake();
  };
  const ask = (): void => {
    next = undefined;
    iterator.next().then((line) => {
      next = line;
      wake();
    }, fail);
  };
  until?.then((position) => {
    end = position;
    wake();
  }, fail);
  ask();
  return {
    take() {
      if (failure !== undefined) throw failure.cause;
      const line = next;
      if (line !== undefined && line.done !== true) ask();
      return line;
    },
    end: () => end,
    close: () => void iterator.return?.().catch(() => {}),
  };
}

function* takePassing(queue: EventQueue<ServerEvent>): Iterable<ServerEvent> {
  for (let event = queue.take(); event !== undefined; event = queue.take()) yield event;
  const dropped = queue.takeDropped();
  if (dropped > 0) yield { event: "events-dropped", data: { count: dropped } };
}

interface Line {
  readonly position: number;
  /** Nothing for a line that says only who works on the run, or that the client has. */
  readonly event: ServerEvent | undefined;
  readonly step: number | undefined;
}

/** The lines behind a position; those before it are read too, for the names of calls. */
async function* readLines({ store, id, after, signal }: Omit<Follow, "live">): AsyncIterable<Line> {
  const read = createJournalReader(id);
  for await (const entry of createRuns({ store }).tail(id, { signal })) {
    const { position } = entry;
    const event = read(entry);
    const step = event?.event["step"];
    yield {
      position,
      event:
        event === undefined || position <= after ? undefined : { id: position, event: event.type, data: event.event },
      step: typeof step === "number" ? step : undefined,
    };
  }
}

function toServerEvent(event: AgentEvent): ServerEvent {
  return { event: event.type, data: event as unknown as JsonValue };
}
