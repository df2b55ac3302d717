import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { describeThrown } from "./describe-thrown.ts";

/** A function that is told of events. */
export type Listener<Event> = (event: Event) => void;

/** The functions that are told of one kind of event. */
export interface Listeners<Event> {
  /**
   * Answers with the function that ends it.
   *
   * @throws {KitbagError} `option-invalid` if `listener` is no function.
   */
  add(listener: Listener<Event>): () => void;
  isHeard(): boolean;
  /** Tells all listeners. An event that a listener causes is told afterwards, so that all hear events in the same order. */
  tell(event: Event): void;
}

/** How much is told before everybody else has a turn. */
const mostAtOnce = 1000;

/** Makes an empty list of listeners. */
export function createListeners<Event>(): Listeners<Event> {
  // A listener that is added twice is told twice, and ends twice.
  const all = new Set<{ readonly listener: Listener<Event> }>();
  const untold: Event[] = [];
  let telling = false;

  function tellAll(event: Event): void {
    for (const item of [...all]) if (all.has(item)) tellOne(item.listener, event);
  }

  function tellUntold(): void {
    for (let told = 0; untold.length > 0; told++) {
      // Listeners that always cause something new to tell must not keep the process from anything else.
      if (told >= mostAtOnce) return void setImmediate(tellUntold);
      tellAll(untold.shift() as Event);
    }
    telling = false;
  }

  return {
    add(listener) {
      if (typeof listener !== "function") {
        throw new KitbagError("option-invalid", {
          option: "listener",
          found: showValue(listener),
          expected: "a function",
        });
      }
      const item = { listener };
      all.add(item);
      return () => void all.delete(item);
    },
    isHeard: () => all.size > 0,
    tell(event) {
      if (all.size === 0) return;
      untold.push(event);
      if (telling) return;
      telling = true;
      tellUntold();
    },
  };
}

/** Tells one listener. One that throws or rejects hurts neither the others nor the work it is told about: it is warned of. */
export function tellOne<Event>(listener: Listener<Event>, event: Event): void {
  try {
    const answer: unknown = listener(event);
    if (answer instanceof Promise) answer.catch(warn);
  } catch (cause) {
    warn(cause);
  }
}

function warn(cause: unknown): void {
  process.emitWarning(`A listener failed: ${describeThrown(cause)}`, "KitbagWarning");
}
