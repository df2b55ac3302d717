import { type ErrorDetails, KitbagError } from "../../core/errors.ts";
import type { ToolSource } from "../../core/events.ts";
import { isName, nameRule, toAddress, toWireName } from "../../core/names.ts";
import type { Tool } from "../../core/tool.ts";
import {
  type InjectedRecord,
  type Entry,
  type Found,
  type Resolution,
  createHolder,
  type Holder,
  type WorkspaceChange,
} from "./registered-tool.ts";
import { createRegistryState, type RegistryState, type Placed, type ToolIndex } from "./registry-state.ts";
import { resolveLoosely, toolNotFound } from "./resolve-loosely.ts";

export type { Entry } from "./registered-tool.ts";

/** Who a tool is put in for. */
export interface Owner {
  readonly source: ToolSource;
  /** None for global tools. */
  readonly name?: string;
}

/** What may be put in with a tool. */
export interface Extras {
  readonly injected?: InjectedRecord | undefined;
  /** Earlier versions, which can be called and are not listed. */
  readonly versions?: readonly Tool[];
}

/** What the workspace or a session sees of a registry. */
export interface RegistryView {
  resolve(requested: string, from?: string): Resolution;
  isAvailable(entry: Entry): boolean;
  /** In the order they were added; the same array while it would be the same. */
  available(): readonly Entry[];
}

/** Which tools there are, who owns them, and which of them are available now, to the workspace itself and to its sessions. */
export interface Registry extends RegistryView {
  /** The workspace itself. */
  readonly own: Holder;
  /** Everybody who may have skills open, the workspace first. */
  readonly holders: Set<Holder>;
  /** What a holder sees. */
  viewOf(holder: Holder): RegistryView;
  /** Counts what changed for everybody: all but which skills are open. */
  version(): number;
  add(tool: Tool, owner: Owner, extras?: Extras): void;
  /** Reserves a place in the order of all tools for those of an owner that come and go. */
  reserve(owner: string): void;
  /** Adds a tool at the place that was reserved: where it is does not depend on when it comes. */
  addReserved(tool: Tool, owner: Required<Owner>): void;
  replace(tool: Tool, owner: Owner, extras?: Extras): void;
  /** By address or wire name. */
  remove(address: string): boolean;
  /** Makes several changes one, or none of them. */
  change(changes: () => void): void;
  /** Opens or closes a skill: its tools are available only while it is open. */
  setOpen(skill: string, open: boolean, holder?: Holder): void;
  /** Takes a tool out of those that are available, wherever it is, until a time, by `performance.now()`; without one it comes back. */
  setBroken(tool: Tool, until: number | undefined): void;
  /** Until when it is taken out, if it is. */
  brokenUntil(entry: Entry): number | undefined;
  /** A bare name means what is available to the holder first. */
  resolveFor(holder: Holder, requested: string, from?: string): Resolution;
  /** The facts of `tool-not-found`, with the nearest names. */
  notFound(requested: string): ErrorDetails["tool-not-found"];
  /** Where this very tool is. */
  find(tool: Tool): readonly Found[];
  /** Whether there is still a tool at the address of `entry`: this one, or one that replaced it. */
  has(entry: Entry): boolean;
  isAvailableTo(holder: Holder, entry: Entry): boolean;
  /** In the order they were added. */
  entries(): Iterable<Entry>;
  ownedBy(owner: string): readonly Entry[];
}

/**
 * Makes an empty registry; `onChange` is called once for each change for the workspace, after the state is consistent. `check` throws
 * to refuse a tool.
 */
export function createRegistry(
  onChange: (change: WorkspaceChange) => void,
  check: (tool: Tool) => void = () => undefined,
): Registry {
  const broken = createBrokenTools();
  const state = createRegistryState((entry) => broken.until(entry) !== undefined);
  const { index, holders } = state;
  const own = createHolder({ isHeard: () => true, tell: onChange });
  holders.add(own);
  const version = (): number => index.changes() + broken.changes();
  const source = { version, list: (holder: Holder) => listFor(state, holder) };
  const [available, availableToAgents] = [createAvailableTools(source), createAvailableTools(source)];
  const find = (tool: Tool): readonly Found[] => [...(index.byTool.get(tool) ?? [])];
  const viewOf = (holder: Holder): RegistryView => ({
    resolve: (requested, from) => resolveIn(state, holder, requested, from),
    isAvailable: (entry) => state.isAvailable(entry, holder),
    available: () => (holder.isAgent ? availableToAgents(holder) : available(holder)),
  });

  return {
    ...viewOf(own),
    ...createPlacing(state, check),
    own,
    holders,
    viewOf,
    version,
    change: state.change,
    setOpen: (skill, open, holder = own) => state.change(() => state.setOpen(skill, open, holder)),
    setBroken(tool, until) {
      state.change(() => {
        for (const { entry } of find(tool)) state.touch(entry);
        broken.set(tool, until);
      });
    },
    brokenUntil: broken.until,
    resolveFor: (holder, requested, from) => resolveIn(state, holder, requested, from),
    notFound: (requested) => toolNotFound(requested, index),
    find,
    has: (entry) => index.byAddress.has(entry.address),
    isAvailableTo: (holder, entry) => state.isAvailable(entry, holder),
    entries: () => index.byAddress.values().map((placed) => placed.entry),
    ownedBy: (owner) => [...(index.byOwner.get(owner) ?? [])].map((placed) => placed.entry),
  };
}

/** What is available to a holder, in order. */
function listFor({ index, isAvailable }: RegistryState, holder: Holder): Entry[] {
  const placed = [...index.byAddress.values().filter(({ entry }) => isAvailable(entry, holder))];
  return placed.toSorted((left, right) => left.position - right.position).map(({ entry }) => entry);
}

/** Makes what puts tools in and takes them out. */
function createPlacing(
  state: RegistryState,
  check: (tool: Tool) => void,
): Pick<Registry, "add" | "addReserved" | "replace" | "remove" | "reserve"> {
  const { index } = state;
  const reserved = new Map<string, number>();
  let added = 0;

  function put(tool: Tool, owner: Owner, position: number, { injected, versions }: Extras = {}): void {
    const address = toAddress(owner.name, tool.name);
    checkOwner(owner, index);
    check(tool);
    refuseTaken(tool, owner, index);
    const wireName = toWireName(address, (name) => index.byWireName.has(name));
    const entry = toEntry(tool, owner, wireName);
    state.change(() =>
      state.put({ ok: true, entry, injected, position, versions: toVersions(entry, injected, versions) }),
    );
  }

  return {
    add: (tool, owner, extras) => put(tool, owner, (added += 1), extras),
    reserve: (owner) => void reserved.set(owner, (added += 1)),
    addReserved: (tool, owner) => put(tool, owner, reserved.get(owner.name) as number),
    replace(tool, owner, { injected: given, versions } = {}) {
      const address = toAddress(owner.name, tool.name);
      const before = index.byAddress.get(address);
      if (before === undefined) throw new KitbagError("tool-not-found", toolNotFound(address, index));
      checkOwner(owner, index);
      check(tool);
      const entry = toEntry(tool, owner, before.entry.wireName);
      const injected = given ?? before.injected;
      const kept = versions === undefined ? before.versions : toVersions(entry, injected, versions);
      state.change(() => state.put({ ...before, entry, injected, versions: kept }));
    },
    remove(address) {
      const placed = index.byAddress.get(address) ?? index.byWireName.get(address);
      if (placed !== undefined) state.change(() => state.drop(placed));
      return placed !== undefined;
    },
  };
}

/** The same place with another tool in it, for each version. */
function toVersions(
  entry: Entry,
  injected: InjectedRecord | undefined,
  versions: readonly Tool[] = [],
): Placed["versions"] {
  if (versions.length === 0) return undefined;
  return new Map(
    versions.map((earlier) => {
      const tool = tighten(earlier, entry.tool);
      return [earlier.version as string, { ok: true, entry: Object.freeze({ ...entry, tool }), injected }];
    }),
  );
}

function resolveIn(
  { index, isAvailable }: Pick<RegistryState, "index" | "isAvailable">,
  holder: Holder,
  requested: string,
  from: string | undefined,
): Resolution {
  const own = from === undefined ? undefined : index.byAddress.get(toAddress(from, requested));
  return (
    own ??
    index.byAddress.get(requested) ??
    index.byWireName.get(requested) ??
    resolveLoosely({ requested, from }, index, (entry) => isAvailable(entry, holder))
  );
}

const globalOwner = "global";

function toEntry(tool: Tool, { source, name }: Owner, wireName: string): Entry {
  return Object.freeze({ tool, address: toAddress(name, tool.name), wireName, source, owner: name ?? globalOwner });
}

type Lookup = Pick<ToolIndex, "byAddress" | "byWireName" | "byOwner">;

function checkOwner({ name, source }: Owner, { byOwner }: Lookup): void {
  if (name === undefined && source === "global") return;
  if (!isName(name)) throw new KitbagError("owner-invalid", { owner: String(name), reason: `a name is ${nameRule}` });
  if (name === globalOwner) {
    throw new KitbagError("owner-invalid", { owner: name, reason: "it means the workspace itself" });
  }
  const [known] = byOwner.get(name) ?? [];
  if (known === undefined || known.entry.source === source) return;
  throw new KitbagError("owner-invalid", { owner: name, reason: `it is already the name of a ${known.entry.source}` });
}

/** One text must not mean two tools: neither as an address, nor as an address here and a wire name there. */
function refuseTaken(tool: Tool, owner: Owner, { byAddress, byWireName }: Lookup): void {
  const address = toAddress(owner.name, tool.name);
  const taken = byAddress.get(address) ?? byWireName.get(address);
  if (taken !== undefined) throw new KitbagError("tool-duplicate", { tool: tool.name, owner: taken.entry.owner });
}

/**
 * An earlier version, no laxer than the tool of now: a mark as destructive, or as needing approval, is meant for the tool,
 * and not only its newest version. The same tool if nothing has to be added.
 */
export function tighten(earlier: Tool, now: Tool): Tool {
  const needsApproval = earlier.needsApproval || now.needsApproval;
  const isDestructive = now.annotations.destructive === true && earlier.annotations.destructive !== true;
  const isNoReader = earlier.annotations.readOnly === true && now.annotations.readOnly !== true;
  if (needsApproval === earlier.needsApproval && !isDestructive && !isNoReader) return earlier;
  const annotations = {
    ...earlier.annotations,
    ...(isDestructive && { destructive: true }),
    ...(isNoReader && { readOnly: false }),
  };
  return { ...earlier, needsApproval, annotations };
}

/** Tools that are taken out for a while, wherever they are. */
interface BrokenTools {
  /** Until a time, by `performance.now()`; without one it comes back. */
  set(tool: Tool, until: number | undefined): void;
  /** Until when it is taken out, if it is. */
  until(entry: Pick<Entry, "tool">): number | undefined;
  /** Counts what was taken out and came back. */
  changes(): number;
}

/** Makes an empty list of broken tools. */
function createBrokenTools(): BrokenTools {
  // By the tool itself: another one in its place is not broken.
  const broken = new WeakMap<Tool, number>();
  let changes = 0;

  return {
    set(tool, until) {
      changes += 1;
      if (until === undefined) broken.delete(tool);
      else broken.set(tool, until);
    },
    until: ({ tool }) => broken.get(tool),
    changes: () => changes,
  };
}

/** What a list is made of. */
interface AvailableToolsSource {
  /** Counts what changed for everybody. */
  version(): number;
  list(holder: Holder): readonly Entry[];
}

const nothing: readonly Entry[] = Object.freeze([]);

/** For how many combinations of open skills the list of tools is cached. */
const mostKnown = 1000;

/**
 * Makes lists of what is available to a holder. While the list would be the same, the same array is answered, and holders that have
 * the same skills open share it.
 */
function createAvailableTools({ version, list }: AvailableToolsSource): (holder: Holder) => readonly Entry[] {
  const known = new WeakMap<ReadonlySet<string>, { readonly version: number; readonly tools: readonly Entry[] }>();
  const shared = new Map<string, WeakRef<readonly Entry[]>>();
  let sharedVersion = 0;

  /** The list of others with the same open skills, or a new one that they will find. */
  function listFor(holder: Holder): readonly Entry[] {
    if (sharedVersion !== version() || shared.size >= mostKnown) shared.clear();
    sharedVersion = version();
    const key = [...holder.open].toSorted().join("\n");
    const found = shared.get(key)?.deref() ?? list(holder);
    // An old list that says the same goes first: what was made of it can be kept by its identity.
    const kept = [known.get(holder.open)?.tools, holder.tools].find((tools) => isSame(tools, found));
    const tools = kept ?? Object.freeze(found);
    shared.set(key, new WeakRef(tools));
    return tools;
  }

  return (holder) => {
    if (holder.isClosed) return nothing;
    const { open } = holder;
    let kept = known.get(open);
    if (kept?.version !== version()) {
      kept = { version: version(), tools: listFor(holder) };
      known.set(open, kept);
    }
    holder.tools = kept.tools;
    return kept.tools;
  };
}

function isSame(left: readonly Entry[] | undefined, right: readonly Entry[]): boolean {
  return left?.length === right.length && left.every((entry, index) => entry === right[index]);
}
