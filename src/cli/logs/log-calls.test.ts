import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { context } from "@opentelemetry/api";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import { createWorkspace, defineTool, type WorkspaceOptions } from "kitbag";
import { expect, onTestFinished, test } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { logCalls } from "./create-logger.ts";
import type { LogLevel } from "../options.ts";

test("logCalls() logs calls with what they belong to", async () => {
  const { workspace, lines } = create("debug");

  await workspace.call("outer", {}, { user: "u1" });

  const ended = { user: "u1", call: expect.any(String) as string, durationMs: expect.any(Number) as number };
  expect(lines()).toEqual([
    { level: "debug", message: "call begins", tool: "outer", user: "u1", call: expect.stringMatching(/-1$/u) },
    {
      level: "debug",
      message: "call begins",
      tool: "leaf",
      user: "u1",
      call: expect.any(String),
      parent: expect.stringMatching(/-1$/u),
    },
    { level: "debug", message: "three is fine", data: { three: 3 }, user: "u1", call: expect.stringMatching(/-2$/u) },
    { level: "info", message: "call ends", tool: "leaf", ...ended },
    { level: "info", message: "call ends", tool: "outer", ...ended },
  ]);
});

test("logCalls() logs failures as errors, with why", async () => {
  const { workspace, lines } = create("warn");

  await workspace.call("nothing", {});

  expect(lines()).toMatchObject([
    { level: "error", message: "call fails", code: "tool-not-found", reason: expect.stringContaining("Cannot find") },
  ]);
});

test("logCalls() logs approvals, large outputs and what is too late", async () => {
  const { workspace, lines } = create("debug", {
    approve: ({ address }) => (address === "leaf" ? { decision: "deny", reason: "no" } : { decision: "approve" }),
    limits: { maxOutputBytes: 10 },
  });

  await workspace.call("leaf", {});
  await workspace.call("large", {});
  await workspace.call("late", {}, { limitMs: 10 });
  await new Promise((resolve) => void setTimeout(resolve, 60));

  const messages = lines().map(({ message }) => message);
  expect(messages).toEqual(
    expect.arrayContaining([
      "an approval is asked for",
      "call is denied",
      "call is approved",
      "output is kept, only its head is handed over",
      "tool ended after its call",
    ]),
  );
});

test("logCalls() says which trace a call belongs to", async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  onTestFinished(() => context.disable());
  const { workspace, lines } = create("info", { telemetry: { tracerProvider: new TracerProvider() } });
  const trace = "0af7651916cd43dd8448eb211c80319c";

  await workspace.call("leaf", {}, { traceparent: `00-${trace}-b7ad6b7169203331-01` });

  expect(lines()).toMatchObject([{ message: "call ends", trace }]);
});

test("kitbag call --log writes JSON on standard error, and the answer stays alone on standard output", async () => {
  const project = createProject({ "tools.ts": toolFile });
  const words = ["call", "double", "--n", "4", "--module", "tools.ts", "--store", "none"];

  const quiet = await runKitbag(words, { project });
  const loud = await runKitbag([...words, "--log", "info"], { project });
  const early = await runKitbag(["--log", "debug", ...words], { project });
  const variable = await runKitbag(words, { project, env: { KITBAG_LOG: "info" } });

  expect(quiet).toMatchObject({ code: 0, stdout: "8\n", stderr: "" });
  expect(loud.stdout).toBe("8\n");
  expect(JSON.parse(loud.stderr)).toMatchObject({ level: "info", message: "call ends", tool: "double" });
  expect(early.stderr).toContain('"level":"debug","message":"call begins"');
  expect(variable.stderr.trim().split("\n")).toHaveLength(1);
});

test("kitbag --log refuses a level that there is not", async () => {
  const flag = await runKitbag(["list", "--log", "loud"]);
  const early = await runKitbag(["--log=loud", "list"]);
  const variable = await runKitbag(["list"], { env: { KITBAG_LOG: "__proto__" } });

  expect(flag).toMatchObject({ code: 2, stderr: expect.stringContaining('Cannot use --log "loud": expected debug,') });
  expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining('Cannot use --log "loud"') });
  expect(variable).toMatchObject({ code: 2, stderr: expect.stringContaining('Cannot use KITBAG_LOG "__proto__"') });
});

const toolFile = `
import { defineTool } from "kitbag";
const input = { type: "object", properties: { n: { type: "number" } } } as const;
export default [defineTool({ name: "double", description: "Doubles", input, run: ({ n }) => Number(n) * 2 })];
`;

const base = { description: "Does something", input: { type: "object" } } as const;
const leaf = defineTool({
  ...base,
  name: "leaf",
  run: (_, { log }) => {
    log("three is fine", { three: 3 });
    return 1;
  },
});
const outer = defineTool({ ...base, name: "outer", run: (_, { call }) => call("leaf", {}) as never });
const large = defineTool({ ...base, name: "large", run: () => "x".repeat(100) });
const late = defineTool({
  ...base,
  name: "late",
  run: () => new Promise((resolve) => void setTimeout(resolve, 30, 1)),
});

type Line = Record<string, unknown>;

function create(
  level: LogLevel,
  options: WorkspaceOptions = {},
): { workspace: ReturnType<typeof createWorkspace>; lines: () => Line[] } {
  const written: string[] = [];
  const workspace = createWorkspace({ tools: [leaf, outer, large, late], ...options });
  const terminal = { note: (text: string) => void written.push(text), isWatched: false };
  logCalls(workspace, { level, terminal, secrets: {} });
  const lines = (): Line[] =>
    written.map((text) => {
      const { time: _, ...line } = JSON.parse(text) as Line;
      return line;
    });
  return { workspace, lines };
}
