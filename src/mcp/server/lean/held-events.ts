import type { CallEvent } from "../../../core/events.ts";

/** Events of a call that wait for somebody who hears of them. */
export interface HeldEvents {
  readonly onEvent: (event: CallEvent) => void;
  /** Resolves when there is something that the client should hear of. */
  readonly spoken: Promise<void>;
  /** Gives what there was, and from then on each as it comes. */
  listen(listener: (event: CallEvent) => void): void;
}

/** Makes a place for events. A call without a token for progress has nothing to tell but what its tools log. */
export function holdEvents(): HeldEvents {
  const held: CallEvent[] = [];
  const { promise: spoken, resolve } = Promise.withResolvers<void>();
  let give = (event: CallEvent): void => {
    if (event.type !== "call-log") return;
    held.push(event);
    resolve();
  };
  return {
    onEvent: (event) => give(event),
    spoken,
    listen(listener) {
      for (const event of held.splice(0)) listener(event);
      give = listener;
    },
  };
}
