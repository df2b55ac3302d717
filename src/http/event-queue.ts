/** Events between those who make them and one reader. */
export interface EventQueue<Event> {
  /** Adds an event. Beyond the limit it is dropped, and counted. */
  readonly add: (event: Event) => void;
  /** No more will come. */
  readonly end: () => void;
  /** Wakes the reader for something that is not in the queue. */
  readonly wake: () => void;
  /** How many events were dropped since this was asked last. */
  takeDropped(): number;
  /** The next event, if there is one. */
  take(): Event | undefined;
  /** Resolves when there is an event to take, or no more will come. */
  wait(): Promise<void>;
  /** Whether the last event was taken and no more will come. */
  isOver(): boolean;
}

/** How many events wait for a reader that is slow or has stopped. */
const mostWaiting = 10_000;

/** Makes an empty queue. */
export function createQueue<Event>(most = mostWaiting): EventQueue<Event> {
  let waiting: Event[] = [];
  let taken = 0;
  let dropped = 0;
  let isEnded = false;
  let wake = (): void => {};

  return {
    add(event) {
      if (waiting.length - taken >= most) dropped += 1;
      else waiting.push(event);
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
    wake: () => wake(),
    takeDropped() {
      const count = dropped;
      dropped = 0;
      return count;
    },
    take() {
      const event = waiting[taken];
      if (taken < waiting.length) taken += 1;
      if (taken === waiting.length) {
        waiting = [];
        taken = 0;
      }
      return event;
    },
    wait() {
      if (isEnded || taken < waiting.length) return Promise.resolve();
      return new Promise((resolve) => (wake = resolve));
    },
    isOver: () => isEnded && taken === waiting.length,
  };
}

/** The events of a queue, until its end. Only one reader may read it. */
export async function* readQueue<Event>(queue: EventQueue<Event>): AsyncIterable<Event> {
  while (!queue.isOver()) {
    const event = queue.take();
    if (event === undefined) await queue.wait();
    else yield event;
  }
}
