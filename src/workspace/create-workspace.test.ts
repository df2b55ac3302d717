import { expect, test } from "vitest";

import { createTool, defineTool } from "../core/define-tool.ts";
import { isKitbagError } from "../core/errors.ts";
import type { Runtime } from "../core/runtime.ts";
import { memoryStore } from "../store/memory-store.ts";
import { createWorkspace } from "./create-workspace.ts";

const greet = defineTool({ name: "greet", description: "Greets", run: () => "hello" });

test.for([
  [null, "options", "expected an object"],
  ["tools", "options", "expected an object"],
  [{ tolls: [] }, "tolls", 'expected "tools"'],
  [{ somethingElse: 1 }, "somethingElse", "expected one of tools, components"],
  [JSON.parse('{"__proto__": {}}'), "__proto__", "an unknown option"],
  [{ constructor: 1 }, "constructor", "an unknown option"],
  [{ tools: greet }, "tools", "expected a list of tools"],
  [{ tools: "greet" }, "tools", "expected a list of tools"],
  [{ components: {} }, "components", "expected a list of components"],
  [{ skills: 3 }, "skills", "found 3, expected a list of skills"],
  [{ runtimes: null }, "runtimes", "found null"],
  [{ runtimes: [{}] }, "runtimes[0]", "expected a runtime"],
  [{ runtimes: [{ kind: "x", run: () => 1 }, null] }, "runtimes[1]", "found null"],
  [{ limits: 5 }, "limits", "expected an object"],
  [{ limits: { limitMs: 0 } }, "limits.limitMs", "found 0, expected a number above 0"],
  [{ limits: { limitMs: Number.NaN } }, "limits.limitMs", "found NaN"],
  [{ limits: { maxDepth: "3" } }, "limits.maxDepth", "a string that is not one"],
  [{ limits: { maxdepht: 3 } }, "limits.maxdepht", 'expected "maxDepth"'],
  [{ limits: { zzz: 3 } }, "limits.zzz", "expected one of limitMs"],
  [{ injected: "key" }, "injected", "expected an object or a function"],
  [{ approve: true }, "approve", "found true, expected a function"],
  [{ store: {} }, "store", "expected a store"],
  [{ store: memoryStore }, "store", "expected a store"],
  [{ store: Promise.resolve(memoryStore()) }, "store", "found a promise that was not awaited, expected a store"],
  [{ secrets: { token: 12345 } }, "secrets", "expected an object of texts"],
  [{ secrets: { token: "abc" } }, "secrets.token", "too short"],
] as const)("createWorkspace() refuses %j", ([options, option, text]) => {
  const refused = catchError(() => createWorkspace(options as never));

  expect(isKitbagError(refused, "option-invalid") && refused.details.option).toBe(option);
  expect((refused as Error).message).toContain(text);
});

test("createWorkspace() takes options that say nothing", async () => {
  const nothing = { tools: undefined, limits: { limitMs: undefined }, secrets: { unset: "" }, store: undefined };

  const workspace = createWorkspace({ ...(nothing as object), tools: [greet] });

  expect(await workspace.call("greet")).toEqual({ status: "ok", output: "hello" });
});

test("createWorkspace() never shows a secret that was given in a wrong way", () => {
  const secret = "hunter2-hunter2";
  const wrong = [
    { secrets: secret },
    { secrets: { a: [secret] } },
    { approve: secret },
    { injected: secret },
    { store: secret },
    { limits: secret },
    { limits: { limitMs: secret } },
    { tools: secret },
  ];

  const messages = wrong.map((options) => String(catchError(() => createWorkspace(options as never))));

  expect(messages.filter((message) => message.includes(secret))).toEqual([]);
  expect(messages.every((message) => message.startsWith("KitbagError: Cannot use"))).toBe(true);
});

test("createWorkspace() refuses two tools of one owner with the same name", () => {
  const refused = catchError(() => createWorkspace({ tools: [greet, greet] }));

  expect(isKitbagError(refused, "tool-duplicate")).toBe(true);
});

test("createWorkspace() takes any iterable", async () => {
  const workspace = createWorkspace({ tools: new Set([greet]), components: new Map().values() });

  expect(await workspace.call("greet")).toMatchObject({ status: "ok" });
});

test("createWorkspace() runs tools in the runtime of their kind, and lets one be put in the place of ours", async () => {
  const upper: Runtime = { kind: "upper", run: (tool) => tool.name.toUpperCase() };
  const fake: Runtime = { kind: "function", run: () => "not run" };
  const shout = createTool({ name: "shout", description: "Shouts", code: { kind: "upper" } });
  const workspace = createWorkspace({ tools: [greet, shout], runtimes: [upper, fake] });

  const outcomes = await Promise.all([workspace.call("shout"), workspace.call("greet")]);

  expect(outcomes).toEqual([
    { status: "ok", output: "SHOUT" },
    { status: "ok", output: "not run" },
  ]);
});

test("createWorkspace() makes workspaces that do not know of each other", async () => {
  const one = createWorkspace({ tools: [greet] });
  const other = createWorkspace();
  const heard: string[] = [];
  other.onEvent((event) => heard.push(event.type));

  const outcomes = await Promise.all([one.call("greet"), other.call("greet")]);

  expect(outcomes.map(({ status }) => status)).toEqual(["ok", "failed"]);
  expect(heard).toEqual(["call-start", "call-end"]);
});

test.for([
  [undefined, undefined, "middleware"],
  ["log", undefined, "middleware"],
  [(): never => undefined as never, null, "options"],
  [(): never => undefined as never, "resolve", "options"],
  [(): never => undefined as never, { befor: "run" }, "befor"],
  [(): never => undefined as never, { before: "record" }, "before"],
  [(): never => undefined as never, { before: "redact" }, "before"],
  [(): never => undefined as never, { before: "cap" }, "before"],
  [(): never => undefined as never, { before: "toString" }, "before"],
] as const)("use() refuses %o with %o", ([middleware, options, option]) => {
  const workspace = createWorkspace({ tools: [greet] });

  const refused = catchError(() => workspace.use(middleware as never, options as never));

  expect(isKitbagError(refused, "option-invalid") && refused.details.option).toBe(option);
});

test.for([undefined, null, {}, "listener"])("onEvent() and onChange() refuse %o", (listener) => {
  const workspace = createWorkspace();

  const refused = [
    catchError(() => workspace.onEvent(listener as never)),
    catchError(() => workspace.onChange(listener as never)),
  ];

  expect(refused.every((cause) => isKitbagError(cause, "option-invalid"))).toBe(true);
});

function catchError(run: () => unknown): unknown {
  try {
    return run();
  } catch (cause) {
    return cause;
  }
}
