import type { AgentEvent } from "../events.ts";

/** The events of one run, for whoever wants them. */
export interface EventFeed {
  /** Whether somebody listens: what nobody hears need not be made. */
  isHeard(): boolean;
  tell(event: AgentEvent): void;
  /** No more will come. */
  end(): void;
  /** Everything from now on. */
  iterate(): AsyncIterator<AgentEvent, undefined>;
}

interface Reader {
  readonly waiting: AgentEvent[];
  wake: (() => void) | undefined;
}

/** Makes a feed; `onEvent` is told at once. */
export function createEventFeed(onEvent: ((event: AgentEvent) => void) | undefined): EventFeed {
  const readers = new Set<Reader>();
  let isOver = false;

  return {
    isHeard: () => onEvent !== undefined || readers.size > 0,
    tell(event) {
      onEvent?.(event);
      for (const reader of readers) {
        reader.waiting.push(event);
        wake(reader);
      }
    },
    end() {
      isOver = true;
      for (const reader of readers) wake(reader);
    },
    iterate() {
      const reader: Reader = { waiting: [], wake: undefined };
      readers.add(reader);
      return {
        async next() {
          for (;;) {
            const event = reader.waiting.shift();
            if (event !== undefined) return { done: false, value: event };
            if (isOver || !readers.has(reader)) return { done: true, value: undefined };
            await new Promise<void>((resolve) => (reader.wake = resolve));
          }
        },
        async return() {
          readers.delete(reader);
          wake(reader);
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function wake(reader: Reader): void {
  const { wake: resolve } = reader;
  reader.wake = undefined;
  resolve?.();
}
