import fc from "fast-check";
import { expect, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import { isKitbagError } from "../core/errors.ts";
import { toWireName } from "../core/names.ts";
import type { Tool } from "../core/tool.ts";
import type { WorkspaceChange } from "./registry/registered-tool.ts";
import { createRegistry, type Entry, type Owner, type Registry } from "./registry/registry.ts";

test("setOpen() makes a skill's tools available and unavailable, each in one change", () => {
  const { registry, changes } = setUp();
  const pdf: Owner = { source: "skill", name: "pdf" };
  registry.add(tool("merge"), pdf);
  registry.add(tool("split"), pdf);
  registry.add(tool("read"), { source: "skill", name: "csv" });

  registry.setOpen("pdf", true);
  const whileOpen = available(registry);
  registry.setOpen("pdf", true);
  registry.setOpen("pdf", false);

  expect(whileOpen).toEqual(["pdf/merge", "pdf/split"]);
  expect(available(registry)).toEqual([]);
  expect(changes.map(toAddresses)).toEqual([
    { added: ["pdf/merge", "pdf/split"], removed: [], replaced: [] },
    { added: [], removed: ["pdf/merge", "pdf/split"], replaced: [] },
  ]);
});

test("setOpen() is taken back with the change it is part of", () => {
  const { registry, changes } = setUp();
  registry.add(tool("merge"), { source: "skill", name: "pdf" });
  registry.add(tool("read"), { source: "skill", name: "csv" });
  registry.setOpen("csv", true);
  changes.length = 0;

  expect(() =>
    registry.change(() => {
      registry.setOpen("csv", false);
      registry.setOpen("pdf", true);
      throw new Error("no");
    }),
  ).toThrow("no");

  expect(available(registry)).toEqual(["csv/read"]);
  expect(changes).toEqual([]);
});

test("a tool that is replaced while its skill is closed is nothing that subscribers hear of", () => {
  const { registry, changes } = setUp();
  const owner: Owner = { source: "skill", name: "pdf" };
  registry.add(tool("merge"), owner);

  registry.replace(tool("merge"), owner);
  registry.remove("pdf/merge");

  expect(changes).toEqual([]);
});

test.for<[Owner, Owner]>([
  [
    { source: "skill", name: "pdf" },
    { source: "component", name: "pdf" },
  ],
  [
    { source: "component", name: "pdf" },
    { source: "skill", name: "pdf" },
  ],
])("an owner is of one kind: %o keeps out %o", ([first, second]) => {
  const { registry } = setUp();
  registry.add(tool("merge"), first);

  const added = catchError(() => registry.add(tool("split"), second));
  const replaced = catchError(() => registry.replace(tool("merge"), second));

  expect(isKitbagError(added, "owner-invalid") && added.details.reason).toBe(
    `it is already the name of a ${first.source}`,
  );
  expect(isKitbagError(replaced, "owner-invalid")).toBe(true);
  expect([...registry.entries()]).toMatchObject([{ address: "pdf/merge", source: first.source }]);
});

test("an owner without tools is free to become one of another kind", () => {
  const { registry } = setUp();
  registry.add(tool("merge"), { source: "skill", name: "pdf" });
  registry.remove("pdf/merge");

  registry.add(tool("merge"), { source: "component", name: "pdf" });

  expect(available(registry)).toEqual(["pdf/merge"]);
});

test("the registry is what a plain list would be, after any changes and any failures", () => {
  fc.assert(
    fc.property(fc.array(step(2), { maxLength: 40 }), (steps) => {
      const { registry, changes } = setUp();
      const model: Item[] = [];
      for (const one of steps) {
        const before = [...model];
        changes.length = 0;

        const thrown = catchError(() => runStep(registry, one));
        const expected = catchError(() => runOnModel(model, one));

        expect(thrown !== undefined).toBe(expected !== undefined);
        expect([...registry.entries()].map(toItem)).toEqual(model);
        expect(changes.map(toSorted)).toEqual(toDifference(before, model));
        expect(findWrongLookups(registry)).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

// The model: a list of what was added, in order.

interface Item {
  readonly address: string;
  readonly wireName: string;
  readonly description: string;
}

type Step =
  | { readonly kind: "add" | "replace" | "remove"; readonly name: string; readonly owner: string; readonly id: number }
  | { readonly kind: "change"; readonly steps: readonly Step[]; readonly fails: boolean; readonly caught: boolean };

function step(depth: number): fc.Arbitrary<Step> {
  const simple = fc.record({
    kind: fc.constantFrom("add", "replace", "remove"),
    // Among them some that would make the same wire name: "a__b" and "a/b", "a.b" and "a_b".
    name: fc.constantFrom("a", "b", "a__b", "a.b", "a_b", "constructor"),
    owner: fc.constantFrom("", "a", "constructor"),
    id: fc.nat(),
  });
  if (depth === 0) return simple;
  const steps = fc.array(step(depth - 1), { maxLength: 6 });
  const change = fc.record({ kind: fc.constant("change" as const), steps, fails: fc.boolean(), caught: fc.boolean() });
  return fc.oneof({ weight: 3, arbitrary: simple }, { weight: 1, arbitrary: change });
}

function runStep(registry: Registry, one: Step): void {
  if (one.kind === "change") {
    const change = (): void =>
      registry.change(() => {
        for (const inner of one.steps) runStep(registry, inner);
        if (one.fails) throw new Error("fails");
      });
    return one.caught ? void catchError(change) : change();
  }
  const owner: Owner = one.owner === "" ? { source: "global" } : { source: "component", name: one.owner };
  const made = tool(one.name, `number ${one.id}`);
  if (one.kind === "add") registry.add(made, owner);
  else if (one.kind === "replace") registry.replace(made, owner);
  else registry.remove(addressOf(one));
}

function runOnModel(model: Item[], one: Step): void {
  if (one.kind === "change") {
    const before = [...model];
    try {
      for (const inner of one.steps) runOnModel(model, inner);
      if (one.fails) throw new Error("fails");
    } catch (cause) {
      model.splice(0, model.length, ...before);
      if (!one.caught) throw cause;
    }
    return;
  }
  const address = addressOf(one);
  const description = `number ${one.id}`;
  const index = model.findIndex((item) => item.address === address);
  const named = model.findIndex((item) => item.wireName === address);
  if (one.kind === "add") {
    if (index >= 0 || named >= 0) throw new Error("there is one");
    const wireName = toWireName(address, (name) => model.some((item) => item.wireName === name));
    model.push({ address, wireName, description });
  } else if (one.kind === "replace") {
    if (index < 0) throw new Error("there is none");
    model[index] = { ...(model[index] as Item), description };
  } else {
    const removed = index >= 0 ? index : named;
    if (removed >= 0) model.splice(removed, 1);
  }
}

function addressOf({ owner, name }: { readonly owner: string; readonly name: string }): string {
  return owner === "" ? name : `${owner}/${name}`;
}

function toItem({ address, wireName, tool: { description } }: Entry): Item {
  return { address, wireName, description };
}

/** What subscribers must hear of, each list sorted; nothing if there is nothing to hear. */
function toDifference(before: readonly Item[], after: readonly Item[]): unknown[] {
  const old = new Map(before.map((item) => [item.address, item]));
  const now = new Map(after.map((item) => [item.address, item]));
  const added = [...now.keys()].filter((address) => !old.has(address)).toSorted();
  const removed = [...old.keys()].filter((address) => !now.has(address)).toSorted();
  const replaced = [...now]
    .filter(([address, item]) => old.has(address) && old.get(address) !== item)
    .map(([address]) => address)
    .toSorted();
  return added.length + removed.length + replaced.length === 0 ? [] : [{ added, removed, replaced }];
}

function toSorted(change: WorkspaceChange): unknown {
  const { added, removed, replaced } = toAddresses(change);
  return { added: added.toSorted(), removed: removed.toSorted(), replaced: replaced.toSorted() };
}

/** Every tool must be found in every way, and nothing else. */
function findWrongLookups(registry: Registry): unknown[] {
  const entries = [...registry.entries()];
  const isFound = (entry: Entry): boolean =>
    [entry.address, entry.wireName, `plugin:${entry.address}`].every((text) => {
      const resolution = registry.resolve(text);
      return resolution.ok && resolution.entry === entry;
    }) && registry.find(entry.tool).length === 1;
  const owned = new Set(entries.map((entry) => entry.owner)).values().flatMap((owner) => registry.ownedBy(owner));
  return [...entries.filter((entry) => !isFound(entry)), ...[...owned].filter((entry) => !entries.includes(entry))];
}

function tool(name: string, description = "Does something"): Tool {
  return { ...template, name, description };
}

const template = defineTool({ name: "template", description: "Does something", run: () => null });

function setUp(): { registry: Registry; changes: WorkspaceChange[] } {
  const changes: WorkspaceChange[] = [];
  return { registry: createRegistry((change) => changes.push(change)), changes };
}

function available(registry: Registry): string[] {
  return [...registry.entries()].filter(registry.isAvailable).map(({ address }) => address);
}

function toAddresses(change: WorkspaceChange): Record<keyof WorkspaceChange, string[]> {
  const names = (all: WorkspaceChange["added"]): string[] => all.map(({ address }) => address);
  return { added: names(change.added), removed: names(change.removed), replaced: names(change.replaced) };
}

function catchError(run: () => unknown): unknown {
  try {
    return void run();
  } catch (cause) {
    return cause;
  }
}
