import { isForAgents } from "../../core/agent-code.ts";
import { KitbagError } from "../../core/errors.ts";
import type { Entry, Holder, WorkspaceChange, Found } from "./registered-tool.ts";
import { createListeners, type Listeners } from "../listeners.ts";
import type { Tool } from "../../core/tool.ts";

/** Which tools there are and which skills are open. It changes as a whole or not at all. */
export interface RegistryState {
  readonly index: Omit<ToolIndex, "put" | "drop" | "restoreOrder">;
  /** Everybody who may have skills open. */
  readonly holders: Set<Holder>;
  isAvailable(entry: Entry, holder: Holder): boolean;
  /** Only inside `change`, as are the other three. */
  put(placed: Placed): void;
  drop(placed: Placed): void;
  setOpen(skill: string, open: boolean, holder: Holder): void;
  /** Says that something about a tool is about to change that is kept elsewhere. */
  touch(entry: Entry): void;
  /**
   * Runs `changes`. If it throws, everything is as it was before; that also holds for a change inside a change. The outermost
   * one tells what came of it.
   */
  change(changes: () => void): void;
}

/** Makes an empty state; each holder is told once of each change, after the state is consistent. */
export function createRegistryState(isBroken: (entry: Entry) => boolean): RegistryState {
  const index = createToolIndex();
  const holders = new Set<Holder>();
  const news = createNews();
  const source = { index, isBroken };
  let pending: PendingChange | undefined;

  /** Notes how to take back what is about to be done, and how the tools were that it may change something for. */
  function note(touched: readonly Entry[], undo: Undo): PendingChange {
    const change = pending as PendingChange;
    change.undos.push(undo);
    noteTouched(touched, change, source);
    return change;
  }

  const noteShared = (touched: Entry, undo: Undo): unknown => (note([touched], undo).isShared = true);

  return {
    index,
    holders,
    isAvailable: (entry, holder) => !holder.isClosed && isThere(entry, holder, holder.open) && !isBroken(entry),
    put(placed) {
      const before = index.byAddress.get(placed.entry.address);
      noteShared(placed.entry, () => (before === undefined ? index.drop(placed) : index.put(before)));
      index.put(placed);
    },
    drop(placed) {
      noteShared(placed.entry, (change) => {
        index.put(placed);
        change.isDisordered = true;
      });
      index.drop(placed);
    },
    setOpen(skill, on, holder) {
      const before = holder.open;
      const owned = [...(index.byOwner.get(skill) ?? [])].map((placed) => placed.entry);
      const { opened } = note(owned, () => (holder.open = before));
      if (!opened.has(holder)) opened.set(holder, before);
      if (before.has(skill) !== on) holder.open = on ? new Set([...before, skill]) : without(before, skill);
    },
    touch: (entry) => void noteShared(entry, () => {}),
    change(changes) {
      const outer = pending;
      pending ??= { before: new Map(), opened: new Map(), undos: [], isShared: false, isDisordered: false };
      const change = pending;
      try {
        runOrRollBack(changes, change, index);
      } finally {
        pending = outer;
      }
      if (outer === undefined) news.tell(toNews(change, holders, source));
    },
  };
}

/** Whether the skill of a tool is open, if it belongs to one, and the holder can call a tool of this kind. */
function isThere({ tool, source, owner }: Entry, { isAgent }: Holder, open: ReadonlySet<string>): boolean {
  return (source !== "skill" || open.has(owner)) && (isAgent || !isForAgents(tool));
}

function without(open: ReadonlySet<string>, skill: string): ReadonlySet<string> {
  return new Set([...open].filter((name) => name !== skill));
}

/** Notes how tools are before something about them is changed for the first time. */
function noteTouched(
  touched: readonly Entry[],
  { before }: PendingChange,
  { index: { byAddress }, isBroken }: DifferenceSource,
): void {
  for (const { address } of touched) {
    if (before.has(address)) continue;
    const entry = byAddress.get(address)?.entry;
    before.set(address, entry && { entry, broken: isBroken(entry) });
  }
}

type Undo = (change: PendingChange) => void;

interface PendingChange {
  /** What was at each address that was touched. */
  readonly before: Map<string, { readonly entry: Entry; readonly broken: boolean } | undefined>;
  /** What was open for each holder that opened or closed something. */
  readonly opened: Map<Holder, ReadonlySet<string>>;
  /** How to take back each step. */
  readonly undos: Undo[];
  /** Whether something changed for everybody. */
  isShared: boolean;
  /** Whether something was put back that had been taken out, and stands at the end now. */
  isDisordered: boolean;
}

/** If `changes` throws, takes back its steps, the last one first. */
function runOrRollBack(changes: () => void, change: PendingChange, index: ToolIndex): void {
  const mark = change.undos.length;
  try {
    refusePromise(changes());
  } catch (cause) {
    for (const undo of change.undos.splice(mark).toReversed()) undo(change);
    if (change.isDisordered) index.restoreOrder();
    change.isDisordered = false;
    throw cause;
  }
}

/** What an async function does after its first `await` would no longer belong to the change. */
function refusePromise(answer: unknown): void {
  if (!(answer instanceof Promise)) return;
  answer.catch(() => {});
  throw new KitbagError("option-invalid", {
    option: "changes",
    found: "an async function",
    expected: "a function that does everything at once",
  });
}

/** What a change means for each session that has listeners. */
type News = readonly { readonly holder: Holder; readonly difference: WorkspaceChange | undefined }[];

/** Who hears of a change may make the next one: all holders are told of the first before any is told of the second. */
function createNews(): Listeners<News> {
  const news = createListeners<News>();
  news.add((all) => {
    for (const { holder, difference } of all) if (difference !== undefined) holder.changes.tell(difference);
  });
  return news;
}

function toNews(change: PendingChange, holders: ReadonlySet<Holder>, source: DifferenceSource): News {
  const touched = change.isShared ? holders : change.opened.keys();
  const heard = [...touched].filter(({ isClosed, changes }) => !isClosed && changes.isHeard());
  return heard.map((holder) => ({ holder, difference: toDifference(change, holder, source) }));
}

interface DifferenceSource {
  readonly index: ToolIndex;
  readonly isBroken: (entry: Entry) => boolean;
}

/** What those hear who listen to `holder`: only what became available, stopped being so, or is another tool now. */
function toDifference(
  { before, opened }: PendingChange,
  holder: Holder,
  { index, isBroken }: DifferenceSource,
): WorkspaceChange | undefined {
  const wasOpen = opened.get(holder) ?? holder.open;
  const added: Entry[] = [];
  const removed: Entry[] = [];
  const replaced: Entry[] = [];
  for (const [address, known] of before) {
    const entry = index.byAddress.get(address)?.entry;
    const was = known?.broken === false && isThere(known.entry, holder, wasOpen) ? known.entry : undefined;
    const is = entry !== undefined && isThere(entry, holder, holder.open) && !isBroken(entry) ? entry : undefined;
    if (was === is) continue;
    if (is === undefined) removed.push(was as Entry);
    else if (was === undefined) added.push(is);
    else replaced.push(is);
  }
  return added.length + removed.length + replaced.length === 0 ? undefined : { added, removed, replaced };
}

/** A tool and its place in the order of all tools. */
export interface Placed extends Found {
  readonly position: number;
}

/** The tools of a registry, found by address, wire name, name, owner or identity. */
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
function createToolIndex(): ToolIndex {
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
