import { KitbagError, type Failure } from "../core/errors.ts";
import type { ToolSource } from "../core/events.ts";
import { isName, nameRule, toAddress, toWireName } from "../core/names.ts";
import type { Tool } from "../core/tool.ts";
import { resolveLoosely, toolNotFound } from "./resolve-loosely.ts";
import type { RegisteredTool, WorkspaceChange } from "./registered-tool.ts";

/** A tool in the registry, with what only the workspace knows. */
export interface Entry extends RegisteredTool {
  readonly injected: Readonly<Record<string, unknown>> | undefined;
}

/** What an address leads to. */
export type Resolution =
  | { readonly ok: true; readonly entry: Entry }
  | { readonly ok: false; readonly requested: string; readonly failure: Failure };

/** Who a tool is put in for. */
export interface Owner {
  readonly source: ToolSource;
  /** None for global tools. */
  readonly name?: string;
}

/** Which tools there are, who owns them, and which of them are available now. */
export interface Registry {
  add(tool: Tool, owner: Owner, injected?: Readonly<Record<string, unknown>>): void;
  replace(tool: Tool, owner: Owner, injected?: Readonly<Record<string, unknown>>): void;
  remove(address: string): boolean;
  /** Makes several changes one, or none of them. */
  change(changes: () => void): void;
  /** Opens or closes a skill: its tools are available only while it is open. */
  setOpen(skill: string, open: boolean): void;
  resolve(requested: string, from?: string): Resolution;
  /** The entries of this very tool. */
  find(tool: Tool): readonly Entry[];
  has(entry: Entry): boolean;
  isAvailable(entry: Entry): boolean;
  entries(): Iterable<Entry>;
}

/** Makes an empty registry; `onChange` is called once for each change, after the state is consistent. */
export function createRegistry(onChange: (change: WorkspaceChange) => void): Registry {
  const byAddress = new Map<string, Entry>();
  const byWireName = new Map<string, Entry>();
  const byName = new Map<string, Set<Entry>>();
  const byTool = new Map<Tool, Set<Entry>>();
  let openSkills: ReadonlySet<string> = new Set();
  let pending: PendingChange | undefined;

  const isAvailable = (entry: Entry): boolean => entry.source !== "skill" || openSkills.has(entry.owner);

  function put(entry: Entry): void {
    note(entry.address);
    const before = byAddress.get(entry.address);
    if (before !== undefined) unlink(before);
    byAddress.set(entry.address, entry);
    byWireName.set(entry.wireName, entry);
    link(byName, entry.tool.name, entry);
    link(byTool, entry.tool, entry);
  }

  function drop(entry: Entry): void {
    note(entry.address);
    if (pending !== undefined) pending.order ??= [...byAddress.keys()];
    unlink(entry);
    byAddress.delete(entry.address);
  }

  function unlink(entry: Entry): void {
    byWireName.delete(entry.wireName);
    unlinkFrom(byName, entry.tool.name, entry);
    unlinkFrom(byTool, entry.tool, entry);
  }

  function note(address: string): void {
    if (pending === undefined || pending.before.has(address)) return;
    const entry = byAddress.get(address);
    pending.before.set(address, entry && { entry, available: isAvailable(entry) });
  }

  function rollBack({ before, order, openSkills: open }: PendingChange): void {
    for (const [address, known] of before) {
      const now = byAddress.get(address);
      if (now !== undefined) drop(now);
      if (known !== undefined) put(known.entry);
    }
    openSkills = open;
    if (order === undefined) return;
    // What was taken out and put back is at the end now; give everything its old place.
    const entries = order.map((address) => byAddress.get(address)).filter((entry) => entry !== undefined);
    byAddress.clear();
    for (const entry of entries) byAddress.set(entry.address, entry);
  }

  function register(tool: Tool, owner: Owner, parts: { wireName?: string; injected: Entry["injected"] }): void {
    const address = toAddress(owner.name, tool.name);
    const wireName = parts.wireName ?? toWireName(address, (name) => byWireName.has(name));
    put({ tool, address, wireName, source: owner.source, owner: owner.name ?? "global", injected: parts.injected });
  }

  const registry: Registry = {
    add(tool, owner, injected) {
      checkOwner(owner);
      const address = toAddress(owner.name, tool.name);
      if (byAddress.has(address)) {
        throw new KitbagError("tool-duplicate", { tool: tool.name, owner: owner.name ?? "global" });
      }
      registry.change(() => register(tool, owner, { injected }));
    },
    replace(tool, owner, injected) {
      const address = toAddress(owner.name, tool.name);
      const before = byAddress.get(address);
      if (before === undefined) throw new KitbagError("tool-not-found", toolNotFound(address, byAddress));
      registry.change(() =>
        register(tool, owner, { wireName: before.wireName, injected: injected ?? before.injected }),
      );
    },
    remove(address) {
      const entry = byAddress.get(address) ?? byWireName.get(address);
      if (entry !== undefined) registry.change(() => drop(entry));
      return entry !== undefined;
    },
    change(changes) {
      if (pending !== undefined) return changes();
      const change: PendingChange = { before: new Map(), order: undefined, openSkills };
      pending = change;
      try {
        changes();
      } catch (cause) {
        pending = undefined;
        rollBack(change);
        throw cause;
      }
      pending = undefined;
      const difference = toChange(change, byAddress, isAvailable);
      if (difference !== undefined) onChange(difference);
    },
    setOpen(skill, open) {
      registry.change(() => {
        for (const entry of byAddress.values())
          if (entry.source === "skill" && entry.owner === skill) note(entry.address);
        openSkills = open ? openSkills.union(new Set([skill])) : openSkills.difference(new Set([skill]));
      });
    },
    resolve(requested, from) {
      const own = from === undefined ? undefined : byAddress.get(toAddress(from, requested));
      const entry = own ?? byAddress.get(requested) ?? byWireName.get(requested);
      if (entry !== undefined) return { ok: true, entry };
      return resolveLoosely(requested, { byAddress, byName, isAvailable });
    },
    find: (tool) => [...(byTool.get(tool) ?? [])],
    has: (entry) => byAddress.get(entry.address) === entry,
    isAvailable,
    entries: () => byAddress.values(),
  };
  return registry;
}

interface PendingChange {
  /** What was at each address that was touched. */
  readonly before: Map<string, { readonly entry: Entry; readonly available: boolean } | undefined>;
  readonly openSkills: ReadonlySet<string>;
  order: string[] | undefined;
}

/** What subscribers hear: only what became available, stopped being so, or is another tool now. */
function toChange(
  { before }: PendingChange,
  byAddress: ReadonlyMap<string, Entry>,
  isAvailable: (entry: Entry) => boolean,
): WorkspaceChange | undefined {
  const added: Entry[] = [];
  const removed: Entry[] = [];
  const replaced: Entry[] = [];
  for (const [address, known] of before) {
    const entry = byAddress.get(address);
    const wasThere = known?.available ? known.entry : undefined;
    const isThere = entry !== undefined && isAvailable(entry) ? entry : undefined;
    if (wasThere === isThere) continue;
    if (wasThere === undefined && isThere !== undefined) added.push(isThere);
    else if (isThere === undefined && wasThere !== undefined) removed.push(wasThere);
    else if (isThere !== undefined) replaced.push(isThere);
  }
  return added.length + removed.length + replaced.length === 0 ? undefined : { added, removed, replaced };
}

function link<Key>(index: Map<Key, Set<Entry>>, key: Key, entry: Entry): void {
  const entries = index.get(key);
  if (entries === undefined) index.set(key, new Set([entry]));
  else entries.add(entry);
}

function unlinkFrom<Key>(index: Map<Key, Set<Entry>>, key: Key, entry: Entry): void {
  const entries = index.get(key);
  entries?.delete(entry);
  if (entries?.size === 0) index.delete(key);
}

function checkOwner({ name, source }: Owner): void {
  if (name === undefined && source === "global") return;
  if (!isName(name)) throw new KitbagError("owner-invalid", { owner: String(name), reason: `a name is ${nameRule}` });
  if (name === "global")
    throw new KitbagError("owner-invalid", { owner: name, reason: "it means the workspace itself" });
}
