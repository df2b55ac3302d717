import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";

import { createWorkspace, type CallEvent, type Permissions, type Tool, type Workspace } from "kitbag";
import { expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { createScriptTool, writeFolder } from "../../test/support/run-script.ts";
import type { ScriptCode } from "../core/script-code.ts";
import { openRuntimes, type Runtimes } from "./open-runtimes.ts";
import type { RuntimesOptions } from "./runtimes-options.ts";

vi.setConfig({ testTimeout: 60_000 });

test("openRuntimes() makes runtimes for scripts, WASM modules and other MCP servers, and starts nothing", async () => {
  const { runtimes, temporary } = open();

  expect([...runtimes].map(({ kind }) => kind)).toEqual(["script", "wasm", "mcp"]);
  await runtimes.close();
  expect(readdirSync(temporary)).toEqual([]);
});

test("openRuntimes() says that there is no such sandbox only when one is needed", async () => {
  const { runtimes } = open({ sandbox: "seatbelt" });

  const outcome = await toWorkspace(runtimes, hello()).call("script", {});

  expect(outcome).toMatchObject({ status: "failed", error: { code: "sandbox-missing" } });
  await expect(runtimes.close()).resolves.toBeUndefined();
});

test("openRuntimes() starts once for calls that come at the same time", async () => {
  const { runtimes, temporary } = open();
  const workspace = toWorkspace(runtimes, hello());

  const outcomes = await Promise.all([1, 2, 3].map(() => workspace.call("script", {})));

  expect(outcomes.map((outcome) => outcome.status === "ok" && outcome.output)).toEqual(["hello", "hello", "hello"]);
  expect(findRuns(temporary)).toHaveLength(1);
});

test("findSandbox() gives the sandbox that the calls use", async () => {
  const { runtimes } = open();

  const [one, other] = await Promise.all([runtimes.findSandbox(), runtimes.findSandbox()]);

  expect(one).toBe(other);
  expect(existsSync(one.area.own)).toBe(true);
});

test("close() ends what runs and removes what was made; a later call starts anew", async () => {
  const { runtimes, temporary } = open();
  const tool = createScriptTool({ "a.sh": "echo started >&2; sleep 100" });
  const { promise: hasStarted, resolve } = Promise.withResolvers<void>();
  const onEvent = ({ type }: { type: string }): void => void (type === "call-log" && resolve());
  const running = toWorkspace(runtimes, tool).call("script", {}, { onEvent });
  await hasStarted;

  await runtimes.close();

  expect(await running).toMatchObject({ status: "failed" });
  expect(findRuns(temporary)).toEqual([]);
  expect(await toWorkspace(runtimes, hello()).call("script", {})).toMatchObject({ status: "ok", output: "hello" });
});

test("run() starts anew when a cleaner of temporary files has taken what was made, and ends what was left", async () => {
  const { runtimes, temporary } = open();
  const workspace = toWorkspace(runtimes, hello());
  const before = await workspace.call("script", {});
  const [run = ""] = findRuns(temporary);
  rmSync(join(temporary, run), { recursive: true });

  const after = await Promise.all([1, 2].map(() => workspace.call("script", {})));

  expect([before, ...after].map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  expect(findRuns(temporary)).toHaveLength(1);
});

test("close() can be called twice, and while the runtimes start", async () => {
  const { runtimes, temporary } = open();
  const starting = runtimes.findSandbox();

  await Promise.all([runtimes.close(), runtimes.close()]);
  await runtimes.close();

  await expect(starting).resolves.toBeDefined();
  expect(findRuns(temporary)).toEqual([]);
});

test("run() of one caller goes on when another gives up before there is a sandbox", async () => {
  const { runtimes } = open();
  const workspace = toWorkspace(runtimes, hello());
  const stop = new AbortController();

  const given = workspace.call("script", {}, { signal: stop.signal }).catch((cause: unknown) => cause);
  const kept = workspace.call("script", {});
  stop.abort(new Error("enough"));

  expect(await kept).toMatchObject({ status: "ok", output: "hello" });
  expect(await given).not.toMatchObject({ status: "ok" });
});

test("run() refuses a script that was changed since it was loaded", async () => {
  const { runtimes } = open();
  const tool = hello();
  const { directory, path } = tool.code as ScriptCode;
  writeFileSync(join(directory, path), "echo HELLO");

  const outcome = await toWorkspace(runtimes, tool).call("script", {});

  expect(outcome).toMatchObject({ status: "failed", error: { code: "script-changed" } });
});

test("run() shows a script the bytes that were checked, whatever is edited while it is in use", async () => {
  const { runtimes } = open();
  const tool = hello();
  const { directory, path } = tool.code as ScriptCode;
  const workspace = toWorkspace(runtimes, tool);
  await workspace.call("script", {});

  writeFileSync(join(directory, path), "echo HELLO");

  expect(await workspace.call("script", {})).toMatchObject({ status: "ok", output: "hello" });
});

test.for(["read", "write"] as const)(
  "run() refuses a script that was granted to %s the home of Kitbag",
  async (kind) => {
    const home = writeFolder({ "secrets.json": "{}" });
    const { runtimes } = open({ home });

    const outcome = await toWorkspace(runtimes, hello({ [kind]: [join(home, "secrets.json")] })).call("script", {});

    expect(outcome).toMatchObject({ status: "failed", error: { code: "permission-refused" } });
  },
);

test("run() hides the home of Kitbag from a script that was granted what is above it", async () => {
  const above = writeFolder({ "own.txt": "own", "home/secrets.json": "secret" });
  const { runtimes } = open({ home: join(above, "home") });
  const tool = createScriptTool({ "a.sh": `cd ${above}; cat own.txt; ls -A home; cat home/secrets.json || true` });

  const outcome = await toWorkspace(runtimes, { ...tool, permissions: { read: [above] } }).call("script", {});

  expect(outcome).toMatchObject({ status: "ok", output: "own" });
});

test("run() lets a script write its directory, but not what says what was granted", async () => {
  const directory = writeFolder({ "kitbag.lock": "lock", "kitbag.config.json": "{}", ".kitbag/a": "a" });
  const { runtimes } = open({ directory });
  const source = `for file in kitbag.lock kitbag.config.json .kitbag/a new; do (echo x > "$file") 2>/dev/null && echo "$file"; done; rm -f kitbag.lock 2>/dev/null; ls`;
  const tool = createScriptTool({ "a.sh": source });

  const outcome = await toWorkspace(runtimes, { ...tool, permissions: { write: ["./"] } }).call("script", {});

  expect(outcome).toMatchObject({ status: "ok", output: "new\nkitbag.config.json\nkitbag.lock\nnew" });
});

test("run() logs each connection of a script that came about, also one that it leaves open", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).end("answer"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const told: boolean[] = [];
  const { runtimes } = open({ onConnection: ({ allowed }) => void told.push(allowed) });
  const ask = (host: string): string =>
    `exec 9<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT ${host}:${port} HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' >&9; head -n 1 <&9`;
  const tool = createScriptTool({ "a.sh": `${ask("127.0.0.2")}; ${ask("127.0.0.1")}` });
  const workspace = toWorkspace(runtimes, { ...tool, permissions: { network: [`127.0.0.1:${port}`] } });
  const logs: CallEvent[] = [];

  const onEvent = (event: CallEvent): void => void (event.type === "call-log" && logs.push(event));
  const outcome = await workspace.call("script", {}, { onEvent });

  expect(outcome).toMatchObject({ status: "ok" });
  expect(told).toEqual([false, true]);
  expect(logs).toMatchObject([
    { message: `Connected to 127.0.0.1:${port}`, data: { address: "127.0.0.1", bytesDown: 6 } },
  ]);
});

test.for(["bubblewrap", "unshare"] as const)(
  "run() in %s lets a script say ~ for what it was given of it",
  async (sandbox, context) => {
    needProgram(context, sandbox === "bubblewrap" ? "bwrap" : sandbox);
    const home = writeFolder({ "notes.txt": "mine", "other.txt": "not for tools" });
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { runtimes } = open({ sandbox });
    const source =
      'cat ~/notes.txt; cat ~/other.txt 2>/dev/null || echo " hidden"; echo x > "$TMPDIR/a" && cat "$TMPDIR/a"';
    const tool = createScriptTool({ "a.sh": source });

    const outcome = await toWorkspace(runtimes, { ...tool, permissions: { read: ["~/notes.txt"] } }).call("script", {});

    expect(outcome).toMatchObject({ status: "ok", output: "mine hidden\nx" });
  },
);

test("openRuntimes() refuses a folder of packages that does not exist, by the name of the option", () => {
  expect(() => open({ wheelhouse: "/nonexistent" })).toThrow('Cannot use "wheelhouse": found "/nonexistent"');
});

function hello(permissions: Permissions = {}): Tool {
  return { ...createScriptTool({ "a.sh": "echo hello" }), permissions };
}

function toWorkspace(runtimes: Runtimes, tool: Tool): Workspace {
  return createWorkspace({ tools: [tool], runtimes });
}

/** Opens runtimes that make what they need in a folder of their own. */
function open(options: RuntimesOptions = {}): { runtimes: Runtimes; temporary: string } {
  const temporary = writeFolder({});
  const places = { directory: writeFolder({}), home: writeFolder({}) };
  vi.stubEnv("TMPDIR", temporary);
  const runtimes = openRuntimes({ ...places, ...options });
  onTestFinished(async () => {
    await runtimes.close();
    vi.unstubAllEnvs();
  });
  return { runtimes, temporary };
}

function findRuns(temporary: string): string[] {
  return readdirSync(temporary, { recursive: true, encoding: "utf8" }).filter((path) =>
    /^kitbag-work-\d+\/run-[^/]+$/u.test(path),
  );
}
