/** Those who want to hear of something. */
export interface Listeners<Event> {
  /** Answers with the function that ends it. */
  add(listener: (event: Event) => void): () => void;
  isHeard(): boolean;
  tell(event: Event): void;
  tellOne(listener: (event: Event) => void, event: Event): void;
}

/** Makes an empty list of listeners. One that throws hurts neither the others nor the work it is told about: it is warned of. */
export function createListeners<Event>(): Listeners<Event> {
  // A listener that is added twice is told twice, and ends twice.
  const all = new Set<{ readonly listener: (event: Event) => void }>();

  function tellOne(listener: (event: Event) => void, event: Event): void {
    try {
      listener(event);
    } catch (cause) {
      process.emitWarning(
        `A listener failed: ${cause instanceof Error ? cause.message : String(cause)}`,
        "KitbagWarning",
      );
    }
  }

  return {
    add(listener) {
      const item = { listener };
      all.add(item);
      return () => void all.delete(item);
    },
    isHeard: () => all.size > 0,
    tell(event) {
      for (const { listener } of [...all]) tellOne(listener, event);
    },
    tellOne,
  };
}
