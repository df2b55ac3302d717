import { expect, test } from "vitest";

import { defineSkill } from "../core/define-skill.ts";
import { defineTool } from "../core/define-tool.ts";
import { isKitbagError, type ErrorCode } from "../core/errors.ts";
import type { Tool } from "../core/tool.ts";
import { createWorkspace } from "./create-workspace.ts";
import type { WorkspaceChange } from "./registry/registered-tool.ts";
import type { Workspace } from "./workspace.ts";

test("add() makes a global tool, or one of a component", () => {
  const workspace = createWorkspace();

  workspace.add(tool("a"));
  workspace.add(tool("b"), { component: "parts" });

  expect(workspace.getAvailableTools()).toEqual([
    { tool: expect.anything(), address: "a", wireName: "a", source: "global", owner: "global" },
    { tool: expect.anything(), address: "parts/b", wireName: "parts__b", source: "component", owner: "parts" },
  ]);
  expect(workspace.getToolSource("a")).toEqual({ source: "global", owner: "global" });
  expect(workspace.getToolSource("parts/b")).toEqual({ source: "component", owner: "parts" });
  expect(workspace.getToolSource("nobody")).toBeUndefined();
});

test("add() refuses a second tool of the same owner and leaves everything as it was", async () => {
  const { workspace, changes } = setUp({ tools: [tool("a", "old"), tool("b")] });

  const refused = catchError(() => workspace.add(tool("a", "new")));

  expect(isKitbagError(refused, "tool-duplicate") && refused.details).toEqual({ tool: "a", owner: "global" });
  expect(addresses(workspace)).toEqual(["a", "b"]);
  expect(await outputOf(workspace, "a")).toBe("old");
  expect(changes).toEqual([]);
});

test("add() lets several owners have a tool of the same name, and none of them silently wins", async () => {
  const workspace = createWorkspace({ components: [{ name: "x", tools: [tool("run", "x")] }] });
  workspace.addComponent({ name: "y", tools: [tool("run", "y")] });

  const outcome = await workspace.call("run");

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "tool-ambiguous", details: { tool: "run", addresses: ["x/run", "y/run"] } },
  });
  expect(workspace.isToolAvailable("run")).toBe(false);
  expect(await outputOf(workspace, "x/run")).toBe("x");
  expect(await outputOf(workspace, "y/run")).toBe("y");
});

test("add() refuses a name that is the wire name of another tool: a model would call the wrong one", async () => {
  const { workspace, changes } = setUp({ components: [{ name: "a", tools: [tool("b", "component")] }] });

  const refused = catchError(() => workspace.add(tool("a__b", "global")));

  expect(isKitbagError(refused, "tool-duplicate") && refused.details).toEqual({ tool: "a__b", owner: "a" });
  expect(await outputOf(workspace, "a__b")).toBe("component");
  expect(changes).toEqual([]);
});

test("add() gives a tool another wire name if somebody has the plain one", async () => {
  const workspace = createWorkspace({ tools: [tool("a__b", "global")] });

  workspace.add(tool("b", "component"), { component: "a" });

  const wireName = workspace.getTool("a/b")?.wireName ?? "";
  expect(wireName).toMatch(/^a__b_[0-9a-z]{7}$/u);
  expect(await outputOf(workspace, wireName)).toBe("component");
  expect(await outputOf(workspace, "a__b")).toBe("global");
});

test("wire names are unique, fit every model, and lead back to their tool", async () => {
  const long = "n".repeat(64);
  const names = ["a", "a.b", "a_b", "a-b", "A", "0", long, `${long.slice(1)}x`, `${long.slice(1)}.`];
  const workspace = createWorkspace({
    tools: names.map((name) => tool(name, `global ${name}`)),
    components: ["c", "c.d", "c_d", long].map((owner) => ({
      name: owner,
      tools: names.map((name) => tool(name, `${owner} ${name}`)),
    })),
  });

  const tools = workspace.getAvailableTools();
  const wireNames = tools.map((registered) => registered.wireName);

  expect(new Set(wireNames).size).toBe(names.length * 5);
  expect(wireNames.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/u.test(name))).toEqual([]);
  expect(tools.filter((registered) => workspace.getTool(registered.wireName) !== registered)).toEqual([]);
});

test.for(["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"])(
  "add() takes %s as just a name",
  async (name) => {
    const workspace = createWorkspace();
    const before = [workspace.getTool(name), workspace.getToolSource(name), workspace.isToolAvailable(name)];

    if (name === "__proto__") {
      // No name begins with "_": the grammar refuses it like any other wrong name.
      expect(codeOf(() => workspace.add({ ...tool("x"), name }))).toBe("tool-invalid");
    } else {
      workspace.add(tool(name, "found"));
      workspace.add(tool(name, "owned"), { component: name });
      expect(await outputOf(workspace, name)).toBe("found");
      expect(await outputOf(workspace, `${name}/${name}`)).toBe("owned");
    }

    expect(before).toEqual([undefined, undefined, false]);
    expect(await workspace.call("__proto__")).toMatchObject({ status: "failed", error: { code: "address-invalid" } });
  },
);

test.for([undefined, null, 3, "greet", [], {}, () => 1, { name: "x", inputSchema: {} }])(
  "add() refuses %o, which is no tool",
  (value) => {
    const { workspace, changes } = setUp({ tools: [tool("a")] });

    const refused = catchError(() => workspace.add(value as never));

    expect(isKitbagError(refused, "tool-invalid") && refused.details.problems[0]?.expected).toBe(
      "a tool made with defineTool",
    );
    expect(addresses(workspace)).toEqual(["a"]);
    expect(changes).toEqual([]);
  },
);

test.for([
  ["name", "two words"],
  ["name", undefined],
  ["description", 3],
  ["inputSchema", "string"],
  ["annotations", undefined],
  ["permissions", null],
  ["examples", {}],
  ["inject", "key"],
  ["limits", undefined],
  ["code", { run: 1 }],
  ["code", null],
] as const)("add() refuses a tool whose %s is %o", ([path, value]) => {
  const workspace = createWorkspace();

  const refused = catchError(() => workspace.add({ ...tool("a"), [path]: value }));

  expect(isKitbagError(refused, "tool-invalid") && refused.details.problems.map((problem) => problem.path)).toEqual([
    path,
  ]);
});

test.for([
  [null, "options"],
  ["parts", "options"],
  [{ componnent: "x" }, "componnent"],
  [{ component: 3 }, "component"],
  [{ injected: "key" }, "injected"],
  [{ injected: null }, "injected"],
] as const)("add() and replace() refuse the options %o", ([options, option]) => {
  const workspace = createWorkspace({ tools: [tool("a")] });

  const added = catchError(() => workspace.add(tool("b"), options as never));
  const replaced = catchError(() => workspace.replace(tool("a"), options as never));

  expect(isKitbagError(added, "option-invalid") && added.details.option).toBe(option);
  expect(isKitbagError(replaced, "option-invalid") && replaced.details.option).toBe(option);
});

test.for(["", "global", "a b", "a/b", "__proto__", "x".repeat(65)])("add() refuses %o as a component", (component) => {
  const workspace = createWorkspace();

  expect(codeOf(() => workspace.add(tool("a"), { component }))).toBe("owner-invalid");
  expect(addresses(workspace)).toEqual([]);
});

test.for([
  ["without tools", []],
  ["with tools", [tool("roll")]],
] as const)(
  "add() and addComponent() refuse the name of a closed skill %s, and it refuses theirs",
  async ([, tools]) => {
    const games = defineSkill({ name: "games", description: "Games", tools });
    const workspace = createWorkspace({ skills: [games], tools: [tool("a")] });
    workspace.add(tool("b"), { component: "parts" });

    const refused = [
      catchError(() => workspace.add(tool("c"), { component: "games" })),
      catchError(() => workspace.addComponent({ name: "games", tools: [tool("c")] })),
      catchError(() => workspace.addSkill({ ...games, name: "parts" })),
    ];
    await workspace.removeSkill("games");
    workspace.addComponent({ name: "games", tools: [tool("c")] });

    expect(refused.map((error) => isKitbagError(error, "owner-invalid") && error.details)).toEqual([
      { owner: "games", reason: "it is already the name of a skill" },
      { owner: "games", reason: "it is already the name of a skill" },
      { owner: "parts", reason: "it is already the name of a component" },
    ]);
    expect(addresses(workspace)).toEqual(["a", "parts/b", "games/c"]);
    expect(workspace.getSkills()).toEqual([]);
  },
);

test("addComponent() adds all of its tools or none, in one change", () => {
  const { workspace, changes } = setUp({ tools: [tool("a")] });
  workspace.addComponent({ name: "parts", tools: [tool("b"), tool("c")] });

  const refused = codeOf(() => workspace.addComponent({ name: "parts", tools: [tool("d"), tool("c")] }));

  expect(refused).toBe("tool-duplicate");
  expect(addresses(workspace)).toEqual(["a", "parts/b", "parts/c"]);
  expect(changes).toEqual([{ added: ["parts/b", "parts/c"], removed: [], replaced: [] }]);
});

test.for([
  [undefined, "owner-invalid"],
  [null, "owner-invalid"],
  [{}, "owner-invalid"],
  [{ name: "no spaces", tools: [] }, "owner-invalid"],
  [{ name: "global", tools: [tool("a")] }, "owner-invalid"],
  [{ name: "parts" }, "option-invalid"],
  [{ name: "parts", tools: tool("a") }, "option-invalid"],
  [{ name: "parts", tools: [tool("a"), 3] }, "tool-invalid"],
] as const)("addComponent() refuses %o and adds nothing", ([component, code]) => {
  const workspace = createWorkspace();

  expect(codeOf(() => workspace.addComponent(component as never))).toBe(code);
  expect(addresses(workspace)).toEqual([]);
});

test("removeComponent() removes its tools in one change, and no others", () => {
  const { workspace, changes } = setUp({ tools: [tool("a")] });
  workspace.addComponent({ name: "parts", tools: [tool("b"), tool("c")] });
  workspace.addComponent({ name: "others", tools: [tool("b")] });
  changes.length = 0;

  const answers = [workspace.removeComponent("parts"), workspace.removeComponent("parts")];

  expect(answers).toEqual([true, false]);
  expect(addresses(workspace)).toEqual(["a", "others/b"]);
  expect(changes).toEqual([{ added: [], removed: ["parts/b", "parts/c"], replaced: [] }]);
});

test("removeComponent() takes nothing else for a component", () => {
  const workspace = createWorkspace({ tools: [tool("a")] });

  const answers = ["global", "a", "__proto__", undefined].map((name) => workspace.removeComponent(name as string));

  expect(answers).toEqual([false, false, false, false]);
  expect(addresses(workspace)).toEqual(["a"]);
});

test("remove() takes an address or a wire name, and says whether there was such a tool", () => {
  const { workspace, changes } = setUp({
    tools: [tool("a")],
    components: [{ name: "parts", tools: [tool("b"), tool("c")] }],
  });

  const answers = ["a", "parts__b", "parts/c", "a", "toString", "plugin:a", undefined].map((address) =>
    workspace.remove(address as string),
  );

  expect(answers).toEqual([true, true, true, false, false, false, false]);
  expect(workspace.getAvailableTools()).toEqual([]);
  expect(changes.map(({ removed }) => removed)).toEqual([["a"], ["parts/b"], ["parts/c"]]);
});

test("replace() puts a tool in the place of another: same order, same wire name, one change", async () => {
  const { workspace, changes } = setUp({ tools: [tool("a", "old"), tool("a.b", "old"), tool("c")] });
  const { wireName } = workspace.getTool("a.b") ?? {};

  workspace.replace(tool("a.b", "new"));

  expect(addresses(workspace)).toEqual(["a", "a.b", "c"]);
  expect(workspace.getTool("a.b")?.wireName).toBe(wireName);
  expect(await outputOf(workspace, "a.b")).toBe("new");
  expect(changes).toEqual([{ added: [], removed: [], replaced: ["a.b"] }]);
});

test("replace() refuses a tool that is not there, and says what is near", () => {
  const { workspace, changes } = setUp({ tools: [tool("search")], components: [{ name: "x", tools: [tool("send")] }] });

  const wrongName = catchError(() => workspace.replace(tool("serach")));
  const wrongOwner = catchError(() => workspace.replace(tool("send"), { component: "y" }));

  expect(isKitbagError(wrongName, "tool-not-found") && wrongName.details.nearest).toEqual(["search"]);
  expect(isKitbagError(wrongOwner, "tool-not-found") && wrongOwner.details.nearest).toEqual(["x/send"]);
  expect(changes).toEqual([]);
});

test("change() makes several changes one, after which everything is consistent", () => {
  const { workspace } = setUp({ tools: [tool("a"), tool("b"), tool("c")] });
  const seen: unknown[] = [];
  workspace.onChange((change) =>
    seen.push({
      ...toAddresses(change),
      available: addresses(workspace),
      queries: ["a", "b", "d"].map((address) => [workspace.isToolAvailable(address), workspace.getToolSource(address)]),
    }),
  );

  workspace.change(() => {
    workspace.remove("a");
    workspace.replace(tool("b"));
    workspace.add(tool("d"), { component: "parts" });
    workspace.add(tool("e"));
    workspace.remove("e");
  });

  const found = { source: "global", owner: "global" };
  expect(seen).toEqual([
    {
      added: ["parts/d"],
      removed: ["a"],
      replaced: ["b"],
      available: ["b", "c", "parts/d"],
      queries: [
        [false, undefined],
        [true, found],
        [true, { source: "component", owner: "parts" }],
      ],
    },
  ]);
});

test("change() says nothing when nothing came of it", () => {
  const { workspace, changes } = setUp({ tools: [tool("a")] });

  workspace.change(() => {
    workspace.add(tool("b"));
    workspace.remove("b");
  });
  workspace.change(() => {});

  expect(changes).toEqual([]);
});

test("change() tells a tool that was removed and added again as replaced", () => {
  const { workspace, changes } = setUp({ tools: [tool("a"), tool("b")] });

  workspace.change(() => {
    workspace.remove("a");
    workspace.add(tool("a"));
  });

  expect(changes).toEqual([{ added: [], removed: [], replaced: ["a"] }]);
  expect(addresses(workspace)).toEqual(["b", "a"]);
});

test("change() takes everything back if it throws: tools, order, wire names", async () => {
  const { workspace, changes } = setUp({
    tools: [tool("a", "old"), tool("a__b", "old"), tool("c", "old"), tool("d", "old")],
  });
  const before = workspace.getAvailableTools();

  const thrown = catchError(() =>
    workspace.change(() => {
      workspace.remove("a__b");
      workspace.add(tool("b", "new"), { component: "a" });
      workspace.replace(tool("c", "new"));
      workspace.remove("a");
      workspace.remove("c");
      workspace.add(tool("a", "new"));
      throw new Error("changed my mind");
    }),
  );

  expect(thrown).toEqual(new Error("changed my mind"));
  expect(workspace.getAvailableTools()).toEqual(before);
  expect(workspace.getTool("a__b")).toBe(before[1]);
  expect(await Promise.all(["a", "a__b", "c", "d"].map((name) => outputOf(workspace, name)))).toEqual(
    Array.from({ length: 4 }, () => "old"),
  );
  expect(changes).toEqual([]);
});

test("change() inside a change takes back only its own steps if it throws", () => {
  const { workspace, changes } = setUp({ tools: [tool("a"), tool("b"), tool("c")] });

  workspace.change(() => {
    workspace.remove("b");
    const refused = codeOf(() =>
      workspace.change(() => {
        workspace.remove("a");
        workspace.addComponent({ name: "parts", tools: [tool("d"), tool("d")] });
      }),
    );
    expect(refused).toBe("tool-duplicate");
    workspace.add(tool("e"));
  });

  expect(addresses(workspace)).toEqual(["a", "c", "e"]);
  expect(changes).toEqual([{ added: ["e"], removed: ["b"], replaced: [] }]);
});

test("change() refuses an async function, whose later steps would not belong to it", async () => {
  const { workspace, changes } = setUp({ tools: [tool("a")] });

  const isAsync = async (): Promise<void> => {
    workspace.remove("a");
    await Promise.resolve();
    throw new Error("nobody hears this");
  };

  const refused = codeOf(() => Reflect.apply(workspace.change, undefined, [isAsync]));
  await new Promise(setImmediate);

  expect(refused).toBe("option-invalid");
  expect(addresses(workspace)).toEqual(["a"]);
  expect(changes).toEqual([]);
});

test("onChange() lets listeners change the workspace: all hear everything, in the same order", () => {
  const workspace = createWorkspace();
  const heard: string[] = [];
  workspace.onChange(({ added }) => {
    for (const { address } of added) {
      heard.push(`first ${address}`);
      if (address === "a") workspace.add(tool("b"));
    }
  });
  workspace.onChange(({ added }) => heard.push(...added.map(({ address }) => `second ${address}`)));

  workspace.add(tool("a"));

  expect(heard).toEqual(["first a", "second a", "first b", "second b"]);
});

test("onChange() is told although a listener throws, and the change stands", () => {
  const workspace = createWorkspace();
  const heard: string[] = [];
  workspace.onChange(() => {
    throw new Error("I do not care");
  });
  const end = workspace.onChange(({ added }) => heard.push(...added.map(({ address }) => address)));

  workspace.add(tool("a"));
  end();
  workspace.add(tool("b"));

  expect(heard).toEqual(["a"]);
  expect(addresses(workspace)).toEqual(["a", "b"]);
});

test("getTool() and its friends never show what is injected into a tool", () => {
  const workspace = createWorkspace();
  const shown: unknown[] = [];
  workspace.onChange((change) => shown.push(change));

  workspace.add(tool("a"), { injected: { key: "very secret" } });
  workspace.replace(tool("a"), { injected: { key: "very secret too" } });
  shown.push(workspace.getTool("a"), workspace.getAvailableTools());

  expect(JSON.stringify(shown)).not.toContain("very secret");
  expect(shown.flatMap((value) => Object.keys(value as object))).not.toContain("injected");
});

test("getTool() gives what nobody can change", () => {
  const workspace = createWorkspace({ tools: [tool("a")] });
  const registered = workspace.getTool("a") as unknown as Record<string, unknown>;

  expect(() => (registered["source"] = "skill")).toThrow(TypeError);
  expect(workspace.getToolSource("a")).toEqual({ source: "global", owner: "global" });
});

test("getTool() answers for anything that plain JavaScript can ask for", () => {
  const workspace = createWorkspace({ tools: [tool("a")] });
  const asked = [undefined, null, 3, {}, [], Symbol("a"), "", "/", "a/", "a@", "x".repeat(10_000_000)] as never[];

  const answers = asked.map((address) => [
    workspace.getTool(address),
    workspace.isToolAvailable(address),
    workspace.getToolSource(address),
  ]);

  expect(answers).toEqual(asked.map(() => [undefined, false, undefined]));
});

test("a workspace with 10,000 tools adds, finds and removes each of them", () => {
  const tools = Array.from({ length: 10_000 }, (_, index) => ({ ...tool("x"), name: `tool-${index}` }));
  const { workspace, changes } = setUp({ tools: tools.slice(0, 5000) });

  for (const one of tools.slice(5000)) workspace.add(one);
  const found = tools.filter((one) => workspace.getTool(one.name)?.tool === one).length;
  const removed = tools.filter((one) => workspace.remove(one.name)).length;

  expect([found, removed, changes.length]).toEqual([10_000, 10_000, 15_000]);
  expect(workspace.getAvailableTools()).toEqual([]);
});

function tool(name: string, answer: string = name): Tool {
  return { ...defineTool({ name: "template", description: `Answers ${answer}`, run: () => answer }), name };
}

type Addresses = Record<keyof WorkspaceChange, string[]>;

function toAddresses(change: WorkspaceChange): Addresses {
  const names = (all: WorkspaceChange["added"]): string[] => all.map(({ address }) => address);
  return { added: names(change.added), removed: names(change.removed), replaced: names(change.replaced) };
}

function setUp(options: Parameters<typeof createWorkspace>[0]): { workspace: Workspace; changes: Addresses[] } {
  const workspace = createWorkspace(options);
  const changes: Addresses[] = [];
  workspace.onChange((change) => changes.push(toAddresses(change)));
  return { workspace, changes };
}

function addresses(workspace: Workspace): string[] {
  return workspace.getAvailableTools().map(({ address }) => address);
}

async function outputOf(workspace: Workspace, address: string): Promise<unknown> {
  const outcome = await workspace.call(address);
  return outcome.status === "ok" ? outcome.output : outcome.error.code;
}

function catchError(run: () => unknown): unknown {
  try {
    return run();
  } catch (cause) {
    return cause;
  }
}

function codeOf(run: () => unknown): ErrorCode | "nothing" {
  const thrown = catchError(run);
  return isKitbagError(thrown) ? thrown.code : "nothing";
}
