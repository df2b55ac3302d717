import type { AgentEvent } from "../events.ts";

/** The events of one run, for its listeners. */
export interface EventFeed {
  /** Whether there is a listener: without one, events need not be made. */
  isHeard(): boolean;
  tell(event: AgentEvent): void;
  /** No more will come. */
  end(): void;
  /** Everything from now on. */
  iterate(): AsyncIterator<AgentEvent, undefined>;
}

/**
 * How many events one reader's queue holds unchanged. Beyond that, pieces of a text are merged and the events of running tools are
 * dropped, so that a reader that is slow or has stopped does not fill the memory.
 */
const manyEvents = 10_000;

/** Makes a feed; `onEvent` is told at once. */
export function createEventFeed(onEvent: ((event: AgentEvent) => void) | undefined): EventFeed {
  const readers = new Set<Reader>();
  let isOver = false;

  return {
    isHeard: () => onEvent !== undefined || readers.size > 0,
    tell(event) {
      onEvent?.(event);
      for (const reader of readers) reader.add(event);
    },
    end() {
      isOver = true;
      for (const reader of readers) reader.wake();
    },
    iterate() {
      const reader = new Reader();
      readers.add(reader);
      return {
        async next() {
          for (;;) {
            const event = reader.take();
            if (event !== undefined) return { done: false, value: event };
            if (isOver || !readers.has(reader)) return { done: true, value: undefined };
            await reader.wait();
          }
        },
        async return() {
          readers.delete(reader);
          reader.clear();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

class Reader {
  #waiting: AgentEvent[] = [];
  /** How many of them were taken: to move the others up for each would cost more than the rest. */
  #taken = 0;
  #sleepers: (() => void)[] = [];

  add(event: AgentEvent): void {
    if (this.#waiting.length - this.#taken < manyEvents || !this.#isPutTogether(event)) this.#waiting.push(event);
    this.wake();
  }

  take(): AgentEvent | undefined {
    const event = this.#waiting[this.#taken];
    if (event === undefined) return undefined;
    this.#taken += 1;
    if (this.#taken === this.#waiting.length) this.#drop();
    else if (this.#taken === manyEvents) {
      this.#waiting = this.#waiting.slice(manyEvents);
      this.#taken = 0;
    }
    return event;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => void this.#sleepers.push(resolve));
  }

  wake(): void {
    for (const resolve of this.#sleepers.splice(0)) resolve();
  }

  clear(): void {
    this.#drop();
    this.wake();
  }

  #drop(): void {
    this.#waiting = [];
    this.#taken = 0;
  }

  #isPutTogether(event: AgentEvent): boolean {
    if (event.type === "call-event") return true;
    const last = this.#waiting.at(-1);
    if ((event.type !== "text-delta" && event.type !== "reasoning-delta") || last?.type !== event.type) return false;
    if (last.step !== event.step) return false;
    this.#waiting[this.#waiting.length - 1] = { ...event, text: last.text + event.text };
    return true;
  }
}
