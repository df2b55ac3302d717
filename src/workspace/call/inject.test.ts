import { expect, test } from "vitest";

import { createTool, defineTool } from "../../core/define-tool.ts";
import { injected, type FunctionCode, type Tool } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { InjectedRecord, InjectorCall } from "../registry/registered-tool.ts";

test("call() injects what the call gives before what the tool has before what the workspace has", async () => {
  const workspace = createWorkspace({ injected: { a: 1, b: 1, c: 1 } });
  workspace.add(needs("a", "b", "c"), { injected: { b: 2, c: 2 } });

  const outcome = await workspace.call("use", {}, { injected: { c: 3 } });

  expect(outcome).toEqual({ status: "ok", output: { a: 1, b: 2, c: 3 } });
});

test("call() injects what a function makes for this call, also if that takes time", async () => {
  const asked: InjectorCall[] = [];
  const make = (call: InjectorCall): { a: number } => {
    asked.push(call);
    return { a: asked.length };
  };
  const now = createWorkspace({ tools: [needs("a")], injected: make });
  const later = createWorkspace({ tools: [needs("a")], injected: async (call) => make(call) });

  const outcomes = [await now.call("use", {}, { user: "ada" }), await later.call("use")];

  expect(outcomes).toEqual([1, 2].map((a) => ({ status: "ok", output: { a } })));
  expect(asked).toEqual([
    { id: expect.any(String), tool: "use", user: "ada" },
    { id: expect.any(String), tool: "use" },
  ]);
});

test("call() injects only what the tool declares, and asks for nothing that nobody needs", async () => {
  let asked = 0;
  const plain = defineTool({
    name: "plain",
    description: "Needs nothing",
    run: (_, context) => Object.keys(context.injected),
  });
  const workspace = createWorkspace({
    tools: [plain, needs("a")],
    injected: () => {
      asked += 1;
      return { a: 1, b: 2 };
    },
  });

  const outcomes = [await workspace.call("plain"), await workspace.call("use")];

  expect(outcomes).toEqual([
    { status: "ok", output: [] },
    { status: "ok", output: { a: 1 } },
  ]);
  expect(asked).toBe(1);
});

test("call() fails before it runs when values are missing, and names them", async () => {
  const workspace = createWorkspace({ tools: [needs("key", "toString", "unset")], injected: { unset: undefined } });

  const outcome = await workspace.call("use");

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "injection-missing", details: { tool: "use", names: ["key", "toString", "unset"] } },
  });
});

test("call() takes a value that nobody set from the next who has one", async () => {
  const workspace = createWorkspace({ tools: [needs("key")], injected: { key: "from the workspace" } });

  const outcome = await workspace.call("use", {}, { injected: { key: undefined } });

  expect(outcome).toMatchObject({ status: "ok" });
});

test("call() takes __proto__ for just a name", async () => {
  const workspace = createWorkspace({
    tools: [needs("__proto__")],
    injected: JSON.parse('{"__proto__": 5}') as InjectedRecord,
  });

  const outcome = await workspace.call("use");

  expect(outcome).toMatchObject({ error: { code: "output-invalid" } });
  expect(JSON.stringify(outcome)).toContain("__proto__");
});

test.for<[string, () => never, string]>([
  ["throws", () => thrower(), "do not look"],
  ["rejects", () => Promise.reject(new Error("no database")) as never, "no database"],
  ["gives nothing", () => undefined as never, "the function gave no object"],
  ["gives null", () => null as never, "the function gave no object"],
  ["gives a text", () => "key" as never, "the function gave no object"],
  [
    "gives an object that throws",
    () =>
      ({
        get a() {
          return thrower();
        },
      }) as never,
    "do not look",
  ],
])("call() fails when the function that makes the values %s", async ([, make, reason]) => {
  const workspace = createWorkspace({ tools: [needs("a")], injected: make });

  const outcome = await workspace.call("use");

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "tool-failed", details: { reason: `the injected values could not be made: ${reason}` } },
  });
});

test("call() fails at its limit when the function that makes the values hangs", async () => {
  const workspace = createWorkspace({ tools: [needs("a")], injected: () => new Promise(() => {}) });

  const outcome = await workspace.call("use", {}, { limitMs: 10 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout" } });
});

test("call() runs nothing when the tool is removed while its values are made", async () => {
  const workspace = createWorkspace({
    tools: [needs("a")],
    injected: () => {
      workspace.remove("use");
      return { a: 1 };
    },
  });

  const outcome = await workspace.call("use");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-not-found" } });
});

test("calls inside a call get what the outer caller gave", async () => {
  const outer = defineTool({ name: "outer", description: "Calls another", run: (_, { call }) => call("use") });
  const workspace = createWorkspace({ tools: [outer, needs("a")], injected: { a: 1 } });

  const outcome = await workspace.call("outer", {}, { injected: { a: 2 } });

  expect(outcome).toMatchObject({ output: { output: { a: 2 } } });
});

const secret = "sk-live-4f9a/b+c=d";

test.for<[string, (key: string) => unknown]>([
  ["returns it", (key) => key],
  ["returns it inside a text", (key) => `the key is ${key}, keep it`],
  ["returns it deep inside, also as a key", (key) => ({ list: [{ [key]: key }] })],
  ["returns it as base64", (key) => Buffer.from(key).toString("base64")],
  ["returns it as base64 for URLs", (key) => Buffer.from(key).toString("base64url")],
  ["returns it for a URL", (key) => `https://example.com/?key=${encodeURIComponent(key)}`],
  ["returns it as hexadecimal", (key) => Buffer.from(key).toString("hex")],
  ["returns it in JSON text", (key) => JSON.stringify({ key })],
  ["throws it", (key) => Promise.reject(new Error(`wrong key ${key}`))],
  ["throws it as a text", async (key) => throwAnything(key)],
  ["yields it in one piece", (key) => pieces([key])],
  ["yields it in two pieces", (key) => pieces([`a ${key.slice(0, 7)}`, `${key.slice(7)} b`])],
  ["yields it letter by letter", (key) => pieces(key.split(""))],
  ["yields it inside objects", (key) => pieces([{ key }, [key]])],
  ["passes it to another tool", (key) => key],
])("R19: what is injected is seen nowhere when the tool %s", async ([how, use]) => {
  const leaky = defineTool({
    name: "leaky",
    description: "Lets everything out",
    inject: { key: injected<string>() },
    run(_, context) {
      context.progress(`using ${context.injected.key}`);
      if (how.startsWith("passes")) return context.call("echo", { text: context.injected.key });
      return use(context.injected.key);
    },
  });
  const echo = defineTool({
    name: "echo",
    description: "Says it again",
    input: { type: "object", properties: { text: { type: "string" } } },
    run: ({ text }) => text,
  });
  const workspace = createWorkspace({ tools: [leaky, echo], injected: { key: secret } });
  const seen: unknown[] = [];
  workspace.onEvent((event) => seen.push(event));

  seen.push(await workspace.call("leaky"), leaky, workspace.getAvailableTools());

  const text =
    JSON.stringify(seen) +
    seen
      .filter((event) => isChunk(event))
      .map(({ chunk }) => String(chunk))
      .join("");
  expect(forms(secret).filter((form) => text.includes(form))).toEqual([]);
  expect(text).toContain("[key]");
});

test("R19: texts inside lists and objects that are injected are seen nowhere either", async () => {
  const given = { config: { token: "token-in-object", list: ["token-in-list"], deep: { deeper: { deepest: "x" } } } };
  const workspace = createWorkspace({ tools: [needs("config")], injected: given });

  const outcome = await workspace.call("use");

  expect(JSON.stringify(outcome)).not.toContain("token-in");
  expect(outcome).toMatchObject({ output: { config: { token: "[config.token]", list: ["[config.list.0]"] } } });
});

test("call() looks for secrets in lists and plain objects, and not inside other things", async () => {
  const url = Object.assign(new URL("https://example.com/"), { note: "text in a URL" });
  const cycle: Record<string, unknown> = { token: "token-in-cycle" };
  cycle["self"] = cycle;
  const show = defineTool({
    name: "show",
    description: "Shows what it can",
    inject: { url: injected<{ note: string }>(), cycle: injected<{ token: string }>() },
    run: (_, context) => [context.injected.url.note, context.injected.cycle.token],
  });
  const workspace = createWorkspace({ tools: [show], injected: { url, cycle } });

  const outcome = await workspace.call("show");

  expect(outcome).toMatchObject({ status: "ok", output: ["text in a URL", expect.stringMatching(/^\[cycle/u)] });
});

test("R19: what is injected does not replace the secrets that the workspace has under the same name", async () => {
  const both = defineTool({
    name: "both",
    description: "Knows both",
    inject: { key: injected<string>() },
    run: (_, { injected: { key } }) => [key, "workspace-secret"],
  });
  const workspace = createWorkspace({
    tools: [both],
    injected: { key: "injected-secret" },
    secrets: { key: "workspace-secret" },
  });

  const outcome = await workspace.call("both");

  expect(outcome).toEqual({ status: "ok", output: ["[key]", "[key]"] });
});

function needs(...names: string[]): Tool {
  const code: FunctionCode = { kind: "function", run: (_, { injected }) => ({ ...injected }) };
  const inject = Object.fromEntries(names.map((name) => [name, {}]));
  return createTool({ name: "use", description: "Gives back what it gets", inject, code });
}

function throwAnything(value: unknown): never {
  throw value;
}

function thrower(): never {
  throw new Error("do not look");
}

async function* pieces(all: readonly unknown[]): AsyncGenerator<never, void, void> {
  for (const piece of all) yield piece as never;
}

function isChunk(value: unknown): value is { readonly chunk: unknown } {
  return typeof value === "object" && value !== null && "chunk" in value;
}

function forms(text: string): string[] {
  const bytes = Buffer.from(text);
  return [text, bytes.toString("base64"), bytes.toString("base64url"), bytes.toString("hex"), encodeURIComponent(text)];
}
