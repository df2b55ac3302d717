import { KitbagError } from "../core/errors.ts";

/** What the parts of one store share: the clock, and whether it is open. */
export interface StoreLife {
  readonly now: () => number;
  isClosed: boolean;
  /** Called once, when the store is closed. */
  onClose(listener: () => void): void;
  close(): void;
}

/** Makes the life of a store that is open. */
export function createStoreLife(now: () => number): StoreLife {
  const listeners: (() => void)[] = [];
  const life: StoreLife = {
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
export function checkOpen(life: StoreLife, operation: string): void {
  if (life.isClosed) throw new KitbagError("store-closed", { operation });
}
