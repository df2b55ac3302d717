import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { createBuildPlace, needCompiler, type BuildPlace } from "../../../../test/support/build-kit.ts";
import { findSandbox } from "../../../sandbox/find-sandbox.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";

// Merging takes seconds, and longer where other tests run beside it.
vi.setConfig({ testTimeout: 120_000 });

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await findSandbox();
});
afterAll(() => sandbox.close());

test("a tool of JavaScript says why it failed, and stops at its memory and its stack", async (context) => {
  await needCompiler(context, sandbox, "javascript");
  const place = await build(`export default async ({ how }) => {
    if (how === "throw") throw new RangeError("too far");
    if (how === "wait") await new Promise(() => {});
    if (how === "grow") for (const all = []; ; ) all.push(new Array(1e6).fill(1));
    const deep = () => deep() + 1;
    return deep();
  };`);

  const thrown = await place.call({ how: "throw" });
  const waiting = await place.call({ how: "wait" });
  const growing = await place.call({ how: "grow" });
  const deep = await place.call({ how: "deep" });

  expect(thrown).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("RangeError: too far") },
  });
  expect(thrown).toMatchObject({ error: { message: expect.stringContaining("src/a.mjs:2:") } });
  expect(waiting).toMatchObject({ status: "failed", error: { message: expect.stringContaining("never finished") } });
  expect([growing.status, deep.status]).toEqual(["failed", "failed"]);
});

test.for([
  ["export const x = 1;", "must have a function as its default export"],
  ["throw new Error('at once');", "at once"],
] as const)("a tool of JavaScript that is %j fails when it is called", async ([code, message], context) => {
  await needCompiler(context, sandbox, "javascript");
  const place = await build(code);

  const outcome = await place.call({});

  expect(outcome).toMatchObject({ status: "failed", error: { message: expect.stringContaining(message) } });
});

test("a tool of JavaScript finds nothing of this machine, and leaves nothing for the next call", async (context) => {
  await needCompiler(context, sandbox, "javascript");
  const place = await build(`export default ({ name }) => ({
    names: ["process", "require", "fetch", "std", "os", "__log", "__tool", "__input"].filter((one) => one in globalThis),
    before: (globalThis.kept = [globalThis.kept ?? 0, name])[0],
    text: name + "\\u0000é😀",
  });`);

  const outcomes = [await place.call({ name: "a" }), await place.call({ name: "b".repeat(300_000) })];

  expect(outcomes).toMatchObject([
    { status: "ok", output: { names: [], before: 0, text: "a\0é😀" } },
    { status: "ok", output: { names: [], before: 0, text: `${"b".repeat(300_000)}\0é😀` } },
  ]);
});

test("a tool of JavaScript reaches state, calls and the network through kitbag, as far as it may", async (context) => {
  await needCompiler(context, sandbox, "javascript");
  const place = await build(`export default () => {
    kitbag.log("hello");
    kitbag.state.set("seen", { count: 2, text: "é".repeat(20_000) });
    const { count, text } = kitbag.state.get("seen");
    const attempt = (work) => { try { return work(); } catch (error) { return error.code; } };
    return {
      count,
      length: text.length,
      keys: kitbag.state.list().map(({ key }) => key),
      call: attempt(() => kitbag.call("nothing", {}).status),
      request: attempt(() => kitbag.request("https://example.com/").status),
      leaked: ["__ask"].filter((name) => name in globalThis),
    };
  };`);

  const outcome = await place.call({});

  expect(outcome).toMatchObject({
    status: "ok",
    output: { count: 2, length: 20_000, keys: ["seen"], leaked: [] },
  });
  const { call, request } = (outcome.status === "ok" ? outcome.output : {}) as { call: unknown; request: unknown };
  expect([call, request]).toEqual([expect.any(String), expect.any(String)]);
  expect(request).not.toBe(200);
});

async function build(code: string): Promise<BuildPlace> {
  const place = createBuildPlace(sandbox, { "src/a.mjs": code });
  await place.build("src/a.mjs");
  return place;
}
