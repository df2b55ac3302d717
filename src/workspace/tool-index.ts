import type { Tool } from "../core/tool.ts";
import type { Found } from "./entry.ts";

/** A tool and its place in the order of all tools. */
export interface Placed extends Found {
  readonly position: number;
}

/** The tools of a registry, found by each of the things that somebody may know about them. */
export interface ToolIndex {
  /** In the order in which they were added. */
  readonly byAddress: ReadonlyMap<string, Placed>;
  readonly byWireName: ReadonlyMap<string, Placed>;
  readonly byName: ReadonlyMap<string, ReadonlySet<Placed>>;
  readonly byOwner: ReadonlyMap<string, ReadonlySet<Placed>>;
  readonly byTool: ReadonlyMap<Tool, ReadonlySet<Placed>>;
  /** Puts a tool at its address, in the place of what is there. */
  put(placed: Placed): void;
  drop(placed: Placed): void;
  /** Gives every tool its place again, after some were taken out and put back. */
  restoreOrder(): void;
  /** Counts what was put and dropped. */
  changes(): number;
}

/** Makes an empty index. */
export function createToolIndex(): ToolIndex {
  const byAddress = new Map<string, Placed>();
  const byWireName = new Map<string, Placed>();
  const byName = new Map<string, Set<Placed>>();
  const byOwner = new Map<string, Set<Placed>>();
  const byTool = new Map<Tool, Set<Placed>>();
  let changes = 0;

  function unlink(placed: Placed): void {
    const { tool, wireName, owner } = placed.entry;
    byWireName.delete(wireName);
    unlinkFrom(byName, tool.name, placed);
    unlinkFrom(byOwner, owner, placed);
    unlinkFrom(byTool, tool, placed);
  }

  return {
    byAddress,
    byWireName,
    byName,
    byOwner,
    byTool,
    put(placed) {
      const { tool, address, wireName, owner } = placed.entry;
      const before = byAddress.get(address);
      changes += 1;
      if (before !== undefined) unlink(before);
      byAddress.set(address, placed);
      byWireName.set(wireName, placed);
      linkTo(byName, tool.name, placed);
      linkTo(byOwner, owner, placed);
      linkTo(byTool, tool, placed);
    },
    drop(placed) {
      changes += 1;
      unlink(placed);
      byAddress.delete(placed.entry.address);
    },
    restoreOrder() {
      const inOrder = [...byAddress].toSorted(([, left], [, right]) => left.position - right.position);
      byAddress.clear();
      for (const [address, placed] of inOrder) byAddress.set(address, placed);
    },
    changes: () => changes,
  };
}

function linkTo<Key>(index: Map<Key, Set<Placed>>, key: Key, placed: Placed): void {
  const all = index.get(key);
  if (all === undefined) index.set(key, new Set([placed]));
  else all.add(placed);
}

function unlinkFrom<Key>(index: Map<Key, Set<Placed>>, key: Key, placed: Placed): void {
  const all = index.get(key) as Set<Placed>;
  all.delete(placed);
  if (all.size === 0) index.delete(key);
}
