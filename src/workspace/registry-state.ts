import { KitbagError } from "../core/errors.ts";
import type { Entry } from "./entry.ts";
import type { WorkspaceChange } from "./registered-tool.ts";
import { createToolIndex, type Placed, type ToolIndex } from "./tool-index.ts";

/** Which tools there are and which skills are open. It changes as a whole or not at all. */
export interface RegistryState {
  readonly index: Omit<ToolIndex, "put" | "drop" | "restoreOrder">;
  isAvailable(entry: Entry): boolean;
  /** Only inside `change`, as are the other two. */
  put(placed: Placed): void;
  drop(placed: Placed): void;
  setOpen(skill: string, open: boolean): void;
  /** Says that something about a tool is about to change that is kept elsewhere. */
  touch(entry: Entry): void;
  /**
   * Runs `changes`. If it throws, everything is as it was before; that also holds for a change inside a change. The outermost
   * one tells what came of it.
   */
  change(changes: () => void): void;
}

type OnChange = (change: WorkspaceChange) => void;

/** Makes an empty state; `onChange` is called once for each change, after the state is consistent. */
export function createRegistryState(onChange: OnChange, isBroken: (entry: Entry) => boolean): RegistryState {
  const index = createToolIndex();
  const openSkills = new Set<string>();
  let pending: PendingChange | undefined;

  const isOpen = ({ source, owner }: Entry): boolean => source !== "skill" || openSkills.has(owner);
  const isAvailable = (entry: Entry): boolean => isOpen(entry) && !isBroken(entry);
  const open = (skill: string, on: boolean): unknown => (on ? openSkills.add(skill) : openSkills.delete(skill));

  /** Notes how to take back what is about to be done, and how the tools were that it may change something for. */
  function note(touched: readonly Entry[], undo: (change: PendingChange) => void): void {
    const change = pending as PendingChange;
    change.undos.push(undo);
    noteTouched(touched, change, { byAddress: index.byAddress, isAvailable });
  }

  return {
    index,
    isAvailable,
    put(placed) {
      const before = index.byAddress.get(placed.entry.address);
      note([placed.entry], () => (before === undefined ? index.drop(placed) : index.put(before)));
      index.put(placed);
    },
    drop(placed) {
      note([placed.entry], (change) => {
        index.put(placed);
        change.isDisordered = true;
      });
      index.drop(placed);
    },
    setOpen(skill, on) {
      const owned = [...(index.byOwner.get(skill) ?? [])].map((placed) => placed.entry);
      const wasOpen = openSkills.has(skill);
      note(owned, () => open(skill, wasOpen));
      open(skill, on);
    },
    touch: (entry) => note([entry], () => {}),
    change(changes) {
      const outer = pending;
      pending ??= { before: new Map(), undos: [], isDisordered: false };
      const change = pending;
      try {
        runOrRollBack(changes, change, index);
      } finally {
        pending = outer;
      }
      const difference = outer === undefined ? toDifference(change, index, isAvailable) : undefined;
      if (difference !== undefined) onChange(difference);
    },
  };
}

/** Notes how tools are before something about them is changed for the first time. */
function noteTouched(
  touched: readonly Entry[],
  { before }: PendingChange,
  { byAddress, isAvailable }: Pick<ToolIndex, "byAddress"> & Pick<RegistryState, "isAvailable">,
): void {
  for (const { address } of touched) {
    if (before.has(address)) continue;
    const entry = byAddress.get(address)?.entry;
    before.set(address, entry && { entry, available: isAvailable(entry) });
  }
}

interface PendingChange {
  /** What was at each address that was touched. */
  readonly before: Map<string, { readonly entry: Entry; readonly available: boolean } | undefined>;
  /** How to take back each step. */
  readonly undos: ((change: PendingChange) => void)[];
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

/** What subscribers hear: only what became available, stopped being so, or is another tool now. */
function toDifference(
  { before }: PendingChange,
  { byAddress }: ToolIndex,
  isAvailable: (entry: Entry) => boolean,
): WorkspaceChange | undefined {
  const added: Entry[] = [];
  const removed: Entry[] = [];
  const replaced: Entry[] = [];
  for (const [address, known] of before) {
    const entry = byAddress.get(address)?.entry;
    const was = known?.available === true ? known.entry : undefined;
    const is = entry !== undefined && isAvailable(entry) ? entry : undefined;
    if (was === is) continue;
    if (is === undefined) removed.push(was as Entry);
    else if (was === undefined) added.push(is);
    else replaced.push(is);
  }
  return added.length + removed.length + replaced.length === 0 ? undefined : { added, removed, replaced };
}
