/** Something that was made ahead and waits to be used. */
export interface Waiting {
  /** Resolves when it is gone. */
  readonly ended: Promise<unknown>;
  close(): void;
}

/** How much is kept ready. */
export interface ShelfOptions {
  /** As many of one kind as wait at most. @default 4 */
  readonly mostOfAKind?: number;
  /** As many as wait at most, of all kinds together. @default 12 */
  readonly most?: number;
  /** After so long without use nothing is kept. @default 60_000 */
  readonly idleMs?: number;
}

/**
 * Keeps things ready that take long to make: as many of a kind as were needed at once, none of what nobody uses.
 */
export interface Shelf<Item extends Waiting> {
  /** One that waits, or nothing; either way the next one is being made. */
  take(kind: string, make: () => Promise<Item>): Item | undefined;
  /** How many wait. */
  readonly size: number;
  close(): void;
}

interface Row<Item> {
  readonly ready: Set<Item>;
  making: number;
  wanted: number;
  /** How often in a row making one failed. */
  failures: number;
  usedAt: number;
}

/** Kinds that cannot be made are not tried for ever. */
const mostFailures = 3;

/** Makes an empty shelf. */
export function createShelf<Item extends Waiting>(options: ShelfOptions = {}): Shelf<Item> {
  const { mostOfAKind = 4, most = 12, idleMs = 60_000 } = options;
  const rows = new Map<string, Row<Item>>();
  let isClosed = false;
  const cleaner = setInterval(dropIdle, Math.max(idleMs / 4, 10));
  cleaner.unref();

  function rowOf(kind: string): Row<Item> {
    let row = rows.get(kind);
    if (row === undefined) rows.set(kind, (row = { ready: new Set(), making: 0, wanted: 0, failures: 0, usedAt: 0 }));
    return row;
  }

  function refill(row: Row<Item>, make: () => Promise<Item>): void {
    while (!isClosed && row.failures < mostFailures && row.ready.size + row.making < row.wanted) {
      row.making++;
      makeRoom(row);
      void make().then(
        (item) => put(row, item, make),
        () => {
          row.making--;
          row.failures++;
        },
      );
    }
  }

  function put(row: Row<Item>, item: Item, make: () => Promise<Item>): void {
    row.making--;
    row.failures = 0;
    if (isClosed || row.wanted === 0) return item.close();
    row.ready.add(item);
    void item.ended.then(() => {
      // It died while it waited.
      if (row.ready.delete(item)) refill(row, make);
    });
  }

  function makeRoom(keep: Row<Item>): void {
    const others = [...rows.values()].filter((row) => row !== keep && row.ready.size > 0);
    const oldest = others.toSorted((one, other) => one.usedAt - other.usedAt)[0];
    if (oldest !== undefined && count() >= most) {
      oldest.wanted = 0;
      for (const item of oldest.ready) drop(oldest, item);
    }
  }

  function drop(row: Row<Item>, item: Item): void {
    row.ready.delete(item);
    item.close();
  }

  function dropIdle(): void {
    for (const [kind, row] of rows) {
      if (performance.now() - row.usedAt < idleMs) continue;
      row.wanted = 0;
      for (const item of row.ready) drop(row, item);
      if (row.making === 0) rows.delete(kind);
    }
  }

  const count = (): number => [...rows.values()].reduce((sum, row) => sum + row.ready.size + row.making, 0);

  return {
    take(kind, make) {
      const row = rowOf(kind);
      row.usedAt = performance.now();
      const [item] = row.ready;
      if (item === undefined) row.wanted = Math.min(row.wanted + 1, mostOfAKind);
      else row.ready.delete(item);
      refill(row, make);
      return item;
    },
    get size() {
      return [...rows.values()].reduce((sum, row) => sum + row.ready.size, 0);
    },
    close() {
      isClosed = true;
      clearInterval(cleaner);
      for (const row of rows.values()) for (const item of row.ready) drop(row, item);
    },
  };
}
