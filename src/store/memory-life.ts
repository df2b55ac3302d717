import { KitbagError } from "../core/errors.ts";

/** What the parts of one memory store share: the clock, and whether it is open. */
export interface MemoryLife {
  readonly now: () => number;
  isClosed: boolean;
  /** Called once, when the store is closed. */
  onClose(listener: () => void): void;
  close(): void;
}

/** Makes the life of a store that is open. */
export function createMemoryLife(now: () => number): MemoryLife {
  const listeners: (() => void)[] = [];
  const life: MemoryLife = {
    now,
    isClosed: false,
    onClose(listener) {
      listeners.push(listener);
    },
    close() {
      life.isClosed = true;
      for (const listener of listeners.splice(0)) listener();
    },
  };
  return life;
}

/**
 * Checks that the store is open.
 *
 * @throws {KitbagError} `store-closed` if it is not.
 */
export function checkOpen(life: MemoryLife, operation: string): void {
  if (life.isClosed) throw new KitbagError("store-closed", { operation });
}
