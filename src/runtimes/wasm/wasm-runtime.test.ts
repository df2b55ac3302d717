import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import {
  moduleFromAssemblyScript,
  moduleFromC,
  moduleFromText,
  writeModule,
} from "../../../test/support/wasm-module.ts";
import { createTool, type ToolParts } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { EgressConnection } from "../../sandbox/egress/ledger.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { Sandbox, SandboxProcess } from "../../sandbox/sandbox.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { wasmRuntime, type WasmRuntime, type WasmRuntimeOptions } from "./wasm-runtime.ts";

const mebibyte = 2 ** 20;
let sandbox: Sandbox;
let shared: WasmRuntime;
let sharedFolder: string;
let started: SandboxProcess[] = [];
let modules = 0;
const leftovers: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  sandbox = watched(await findSandbox());
  // Most tests need no host of their own.
  shared = wasmRuntime({ sandbox });
  sharedFolder = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-wasm-")));
});

afterEach(async () => {
  for (const clean of leftovers.splice(0).toReversed()) await clean();
  started = [];
});

afterAll(async () => {
  await shared.close();
  await sandbox.close();
  rmSync(sharedFolder, { recursive: true, force: true });
});

test("wasmRuntime() gives a module its input as JSON, and takes JSON as the output", async () => {
  const { call } = open(echo);

  const outcome = await call({ text: "grüße", list: [1, null, { "": true }] });

  expect(outcome).toEqual({ status: "ok", output: { text: "grüße", list: [1, null, { "": true }] } });
});

test("wasmRuntime() gives a module with several tools the same input as one with a single tool", async () => {
  const { call } = open(echo, { codeTool: "pack" });

  const outcome = await call({ a: 1 });

  expect(outcome).toEqual({ status: "ok", output: { a: 1 } });
});

test("wasmRuntime() takes text that is not JSON as the output of a tool that declares none", async () => {
  const { call } = open(printing("hello\n"));

  expect(await call({})).toEqual({ status: "ok", output: "hello" });
});

test("wasmRuntime() changes no digit of a whole number: it is text, or refused by a tool that declares an output", async () => {
  const text = "[12345678901234567890]";

  const plain = await open(printing(text)).call({});
  const declared = await open(printing(text), { output: { type: "array" } }).call({});

  expect(plain).toEqual({ status: "ok", output: text });
  expect(messageOf(declared)).toContain("[0]: expected a whole number that can be kept exactly");
});

test("wasmRuntime() refuses text that is not JSON from a tool that declares an output", async () => {
  const { call } = open(printing("hello\n"), { output: { type: "object" } });

  const outcome = await call({});

  expect(messageOf(outcome)).toBe(
    'Cannot use the output of "tool": it is wrong: expected JSON on standard output, and nothing else, because the tool says what it answers, found "hello\\n"',
  );
});

test("wasmRuntime() fails with the exit code and what was written to standard error, which is also logged", async () => {
  const { call, events } = open(
    wasi(`${print(2, "first\\nno such file: x.txt\\n")} (call $exit (i32.const 3))`, ["proc_exit"]),
  );

  const outcome = await call({});

  expect(messageOf(outcome)).toBe('Cannot finish "tool": it ended with exit code 3: first\nno such file: x.txt');
  expect(events.flatMap((event) => (event.type === "call-log" ? [event.message] : []))).toEqual([
    "first",
    "no such file: x.txt",
  ]);
});

test.for([
  ["unreachable code", "(unreachable)", "unreachable"],
  ["a division by zero", "(drop (i32.div_s (i32.const 1) (i32.const 0)))", "divide by zero"],
  ["memory that it does not have", "(drop (i32.load (i32.const -8)))", "memory access out of bounds"],
  [
    "a call through an empty table",
    "(call_indirect $t (type $none) (i32.const 0))",
    "null function or function signature",
  ],
  ["endless recursion", "(call $start)", "call stack or memory exhausted"],
] as const)("wasmRuntime() names the trap of %s", async ([, code, reason]) => {
  const { call } = open(wasi(code));

  const outcome = await call({});

  expect(messageOf(outcome)).toContain(`Cannot finish "tool": the tool failed: the module trapped: ${reason}`);
});

test("wasmRuntime() stops a memory bomb at the limit, and goes on with the next call", async () => {
  const bomb = "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)";
  const { call } = open(wasi(bomb), { options: { maxMemoryBytes: 32 * mebibyte } });

  const outcomes = [await call({}), await call({})];

  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "memory-exceeded", details: { limitBytes: 32 * mebibyte } },
    });
  }
  expect(started).toHaveLength(1);
});

test("wasmRuntime() lets a module that asks for too much memory go on with what it has", async () => {
  const greedy = `(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (if (i32.eq (memory.size) (i32.const 512)) (then (call $exit (i32.const 7))))`;
  const { call } = open(wasi(greedy, ["proc_exit"]), { options: { maxMemoryBytes: 32 * mebibyte } });

  expect(messageOf(await call({}))).toContain("exit code 7");
});

test("wasmRuntime() gives memory of calls that ended back, however many there were", async () => {
  const filling = `(drop (memory.grow (i32.const 900))) (memory.fill (i32.const 4096) (i32.const 1) (i32.const 58000000))
    ${print(1, "1")}`;
  const { call } = open(wasi(filling), { options: { workers: 1, maxMemoryBytes: 64 * mebibyte } });

  // 30 calls of 58 MB each are 1.7 GB, and the host may have 0.6.
  for (let round = 0; round < 30; round += 1) expect(await call({})).toEqual({ status: "ok", output: 1 });

  expect(started).toHaveLength(1);
});

test("wasmRuntime() stops a table bomb", async () => {
  const bomb = `(loop $more (br_if $more (i32.ne (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1))))
    (if (i32.le_u (table.size $t) (i32.const 1000000)) (then (call $exit (i32.const 7))))`;
  const { call } = open(wasi(bomb, ["proc_exit"]));

  expect(messageOf(await call({}))).toContain("exit code 7");
});

test("wasmRuntime() survives a module that fills the heap of V8 with objects", async () => {
  const list = `(local $head (ref null $node))
    (loop $more (local.set $head (struct.new $node (local.get $head) (i64.const 1))) (br $more))`;
  const { call, add } = open(wasi(list, [], "(type $node (struct (field (ref null $node)) (field i64)))"), {
    options: {},
  });
  add("echo", echo);

  const outcome = await call({});

  expect(outcome).toMatchObject({ status: "failed", error: { code: "memory-exceeded" } });
  expect(await call({ a: 1 }, { tool: "echo" })).toEqual({ status: "ok", output: { a: 1 } });
});

test("wasmRuntime() answers a user whose calls stand beside endless ones of another user of the skill", async () => {
  const { call, add } = open(endless, { options: { workers: 1 } });
  add("echo", echo);
  const stop = new AbortController();
  const endlessCalls = [1, 2, 3].map(() => call({}, { user: "alice", signal: stop.signal }));

  const outcome = await call({ a: 1 }, { tool: "echo", user: "bob" });

  stop.abort();
  await Promise.allSettled(endlessCalls);
  expect(outcome).toEqual({ status: "ok", output: { a: 1 } });
});

test("wasmRuntime() makes calls again, each alone, when one of them has ended their host for its memory", async () => {
  const { call, add } = open(busyFor(300_000_000), { options: { workers: 2, sandbox: starved() } });
  add("echo", echo);
  await call({}, { tool: "echo" });
  const calls = [call({}), call({})];
  await new Promise((resolve) => setTimeout(resolve, 100));

  started[0]?.kill();

  expect(await Promise.all(calls)).toEqual([
    { status: "ok", output: 1 },
    { status: "ok", output: 1 },
  ]);
  expect(started).toHaveLength(3);
});

test("wasmRuntime() blames a call for the memory of its host only if it was alone there", async () => {
  const { granted } = makeGrants();
  const alone = open(endless, { options: { sandbox: starved() } });
  const blamed = alone.call({});
  await waitForHost();
  started[0]?.kill();
  const shown = await blamed;
  const beside = open(endless, { options: { workers: 2, sandbox: starved() }, permissions: { write: [granted] } });
  const calls = [beside.call({}), beside.call({})];
  await waitForHost(2);

  started[1]?.kill();

  expect(shown).toMatchObject({ error: { code: "memory-exceeded" } });
  for (const outcome of await Promise.all(calls)) {
    expect(outcome).toMatchObject({ error: { code: "sandbox-failed" } });
    expect(messageOf(outcome)).toContain("1 other calls of this user and skill ran in it; this one was not made again");
  }
});

test("wasmRuntime() ends an endless loop at the deadline of the call, and goes on with the next", async () => {
  const { call, add } = open(endless, { options: { workers: 1 } });
  add("echo", echo);

  const outcome = await call({}, { limitMs: 500 });
  const next = await call({ a: 1 }, { tool: "echo" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout" } });
  expect(next).toEqual({ status: "ok", output: { a: 1 } });
  expect(started).toHaveLength(1);
});

test("wasmRuntime() ends a module that sleeps, when the caller cancels", async () => {
  const sleep = `(i64.store (i32.const 24) (i64.const 3600000000000)) (i32.store (i32.const 16) (i32.const 1))
    (drop (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200)))`;
  const { call } = open(wasi(sleep, ["poll_oneoff"]));
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 300);

  const outcome = await call({}, { signal: controller.signal });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-cancelled" } });
});

test("wasmRuntime() ends a module that uses more CPU time than it may, long before the deadline", async () => {
  const { call } = open(endless, { options: { maxCpuMs: 300 } });

  const outcome = await call({}, { limitMs: 25_000 });

  expect(messageOf(outcome)).toContain("it used more than 300 ms of CPU time");
});

test("wasmRuntime() does not count the CPU time of one call for the next", async () => {
  const { call } = open(busyFor(60_000_000), { options: { workers: 1, maxCpuMs: 500 } });

  const outcomes: ToolOutcome[] = [];
  for (let round = 0; round < 30; round += 1) outcomes.push(await call({}));

  expect(outcomes.every(({ status }) => status === "ok")).toBe(true);
});

test.for([1, 2])("wasmRuntime() stops a module that floods descriptor %d", async (descriptor) => {
  const { call } = open(wasi(`(loop $more ${write(descriptor, 0, 65_536)} (br $more))`), {
    options: { maxOutputBytes: mebibyte },
  });

  const outcome = await call({});

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "output-flooded", details: { limitBytes: mebibyte } },
  });
});

test("wasmRuntime() stops a flood of a module that catches what ends it", async () => {
  const flood = `(loop $more (try (do ${write(1, 0, 65_536)}) (catch_all)) (br_if $more (i32.const 1)))`;
  const { call } = open(wasi(flood), { options: { maxOutputBytes: mebibyte, maxCpuMs: 1000 } });

  const outcome = await call({});

  expect(outcome.status).toBe("failed");
});

test("wasmRuntime() hands over an input and an output of 8 MB", async () => {
  const { call } = open(wasi(`${readInput(9_000_000)} ${writeInput}`, ["fd_read"], "", 150));
  const text = "x".repeat(8_000_000);

  const outcome = await call({ text });

  expect(outcome.status === "ok" && (outcome.output as { text: string }).text.length).toBe(8_000_000);
});

test.for([
  ["a function of the environment", '(import "env" "abort" (func))', 'the function "env.abort"'],
  [
    "a function that WASI does not have",
    '(import "wasi_snapshot_preview1" "system" (func))',
    '"wasi_snapshot_preview1.system"',
  ],
  ["an older WASI", '(import "wasi_unstable" "fd_write" (func))', '"wasi_unstable.fd_write"'],
  ["a function that Kitbag does not have", '(import "kitbag" "exec" (func))', '"kitbag.exec"'],
  ["a name of the prototype", '(import "__proto__" "constructor" (func))', '"__proto__.constructor"'],
  ["memory", '(import "env" "memory" (memory 1))', 'the memory "env.memory"'],
  ["a table", '(import "env" "table" (table 1 funcref))', 'the table "env.table"'],
  ["a global", '(import "kitbag" "call" (global i32))', 'the global "kitbag.call"'],
] as const)("wasmRuntime() refuses a module that imports %s", async ([, text, name]) => {
  const { call } = open(
    moduleFromText(`(module ${text} (memory $m 1) (export "memory" (memory $m)) (func (export "_start")))`),
  );

  const outcome = await call({});

  expect(messageOf(outcome)).toContain(name);
  expect(messageOf(outcome)).toContain(
    "which there is not; only functions of wasi_snapshot_preview1, kitbag.call and kitbag.read",
  );
});

test.for([
  ["no _start", '(module (memory (export "memory") 1))', 'it exports no function "_start"'],
  [
    "a _start that is a global",
    '(module (memory (export "memory") 1) (global (export "_start") i32 (i32.const 1)))',
    "_start",
  ],
  ["no memory", '(module (func (export "_start")))', 'it exports no memory named "memory"'],
  ["a memory that is a function", '(module (func (export "_start")) (func (export "memory")))', "exports no memory"],
  [
    "too much memory",
    '(module (memory (export "memory") 9000) (func (export "_start")))',
    "it needs 563 MiB of memory",
  ],
  [
    "a shared memory",
    '(module (memory (export "memory") 1 2 shared) (func (export "_start")))',
    "shared between threads",
  ],
] as const)("wasmRuntime() refuses a module with %s", async ([, text, reason]) => {
  const { call } = open(moduleFromText(text));

  const outcome = await call({});

  expect(messageOf(outcome)).toContain('Cannot finish "tool": the tool failed: the module cannot run here: ');
  expect(messageOf(outcome)).toContain(reason);
});

test.for([
  ["no module", () => Buffer.from("#!/bin/sh\necho hi\n")],
  ["an empty file", () => new Uint8Array(0)],
  ["a module that was cut off", () => echo.subarray(0, -40)],
  ["code that is not right", () => Uint8Array.from(echo, (byte, index) => (index > echo.length - 20 ? 0xff : byte))],
  ["a component", () => Uint8Array.from([0, 0x61, 0x73, 0x6d, 13, 0, 1, 0])],
] as const)("wasmRuntime() refuses %s, and its host goes on", async ([, make]) => {
  const { call, add } = open(make(), { options: {} });
  add("echo", echo);

  const outcome = await call({});

  expect(messageOf(outcome)).toContain("the module cannot run here: it is ");
  expect(await call({ a: 1 }, { tool: "echo" })).toEqual({ status: "ok", output: { a: 1 } });
  expect(started).toHaveLength(1);
});

test("wasmRuntime() survives a module that imports functions with types of its own", async () => {
  const { call } = open(
    moduleFromText(`(module
      (import "wasi_snapshot_preview1" "fd_write" (func $a (param externref i64 f64 funcref) (result i32)))
      (import "wasi_snapshot_preview1" "args_get" (func $b (param i64) (result i64)))
      (import "kitbag" "read" (func $c (param f64 externref) (result f32)))
      (memory (export "memory") 1)
      (func $start (export "_start")
        (drop (call $a (ref.null extern) (i64.const -1) (f64.const nan) (ref.func $start)))
        (drop (call $c (f64.const inf) (ref.null extern)))
        (drop (call $b (i64.const 1)))))`),
  );

  const outcome = await call({});

  expect(messageOf(outcome)).toContain("the module trapped");
});

test("wasmRuntime() runs nothing when the file is not the one that was hashed", async () => {
  const { call, file } = open(echo, { options: {} });
  writeFileSync(file, printing("evil"));

  expect(await call({})).toMatchObject({ status: "failed", error: { code: "script-changed" } });
});

test("wasmRuntime() fails when the file is gone", async () => {
  const { call, file } = open(echo, { options: {} });
  rmSync(file);

  expect(await call({})).toMatchObject({ status: "failed", error: { code: "script-changed" } });
});

test("wasmRuntime() reads the module once, and goes on with the bytes that were hashed", async () => {
  const { call, file } = open(echo);
  await call({ a: 1 });
  writeFileSync(file, printing("evil"));

  expect(await call({ a: 2 })).toEqual({ status: "ok", output: { a: 2 } });
});

test("wasmRuntime() shows nothing of one call to the next", async () => {
  const counter = `(i32.store (i32.const 60000) (i32.add (i32.load (i32.const 60000)) (i32.const 1)))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (if (i32.or (i32.ne (i32.load (i32.const 60000)) (i32.const 1)) (i32.ne (global.get $calls) (i32.const 1)))
      (then (call $exit (i32.const 9))))
    ${print(1, "1")}`;
  const { call } = open(wasi(counter, ["proc_exit"], "(global $calls (mut i32) (i32.const 0))"), {
    options: { workers: 1 },
  });

  const outcomes = await Promise.all(Array.from({ length: 20 }, () => call({})));

  expect(outcomes).toEqual(Array.from({ length: 20 }, () => ({ status: "ok", output: 1 })));
});

test("wasmRuntime() runs what a module does while it is instantiated, once for each call", async () => {
  const definitions = `(global $made (mut i32) (i32.const 0)) (start $make)
    (func $make (global.set $made (i32.add (global.get $made) (i32.const 1))))`;
  const code = `(if (i32.ne (global.get $made) (i32.const 1)) (then (unreachable))) ${print(1, "1")}`;
  const { call } = open(wasi(code, [], definitions));

  const outcomes = [await call({}), await call({}), await call({})];

  expect(outcomes).toEqual(Array.from({ length: 3 }, () => ({ status: "ok", output: 1 })));
});

test("wasmRuntime() runs nothing of a module before its call, not even what it does first of all", async () => {
  const spinning = wasi("", [], "(start $spin) (func $spin (loop $again (br $again)))");
  const { call } = open(spinning, { options: { maxCpuMs: 300 } });

  const outcomes = [await call({}), await call({})];

  for (const outcome of outcomes) expect(messageOf(outcome)).toContain("it used more than 300 ms of CPU time");
});

test("wasmRuntime() names the trap of a module that cannot be instantiated, each time", async () => {
  const { call } = open(wasi("", [], '(data (i32.const 999999) "outside")'));

  const outcomes = [await call({}), await call({})];

  for (const outcome of outcomes)
    expect(messageOf(outcome)).toContain("the module trapped: WebAssembly.Instance(): data segment");
});

test("wasmRuntime() answers 1,000 calls at once, each with its own output", async () => {
  const { call } = open(echo, { options: { workers: 2 } });

  const outcomes = await Promise.all(Array.from({ length: 1000 }, (_, index) => call({ index })));

  expect(outcomes).toEqual(Array.from({ length: 1000 }, (_, index) => ({ status: "ok", output: { index } })));
  expect(started).toHaveLength(1);
});

test("wasmRuntime() finishes calls beside others that are stopped, trap or flood", async () => {
  const { call, add } = open(endless, { options: { workers: 2, maxOutputBytes: mebibyte } });
  add("echo", echo);
  add("trap", wasi("(unreachable)"));
  add("flood", wasi(`(loop $more ${write(1, 0, 65_536)} (br $more))`));

  const outcomes = await Promise.all([
    call({}, { limitMs: 300 }),
    ...Array.from({ length: 30 }, (_, index) => call({ index }, { tool: ["echo", "trap", "flood"][index % 3] })),
    call({}, { limitMs: 300 }),
  ]);

  const codes = outcomes.map((outcome) => (outcome.status === "ok" ? "ok" : outcome.error.code));
  const middle = Array.from({ length: 10 }, () => ["ok", "tool-failed", "output-flooded"]).flat();
  expect(codes).toEqual(["call-timeout", ...middle, "call-timeout"]);
});

test("wasmRuntime() starts a new host when the old one was killed, and makes calls again that changed nothing", async () => {
  const { call, add } = open(busyFor(300_000_000), { options: { workers: 1 } });
  add("echo", echo);
  await call({ a: 1 }, { tool: "echo" });
  const interrupted = call({});
  await new Promise((resolve) => setTimeout(resolve, 100));

  started[0]?.kill();
  const next = await call({ a: 2 }, { tool: "echo" });

  expect(next).toEqual({ status: "ok", output: { a: 2 } });
  expect(await interrupted).toEqual({ status: "ok", output: 1 });
  expect(started).toHaveLength(2);
});

test("wasmRuntime() fails calls of a host that was killed, if they may have changed something", async () => {
  const { granted } = makeGrants();
  const { call } = open(endless, { options: { workers: 1 }, permissions: { write: [granted] } });
  const lost = call({});
  while (started.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 2000));

  started[0]?.kill();

  expect(await lost).toMatchObject({ status: "failed", error: { code: "sandbox-failed" } });
  expect(started).toHaveLength(1);
});

test("wasmRuntime() fails clearly when the host does not start", async () => {
  const broken: Sandbox = {
    ...sandbox,
    start: (profile) => sandbox.start(profile, ["sh", "-c", "echo broken >&2; exit 9"]),
  };
  const { call } = open(echo, { options: { sandbox: broken } });

  const outcomes = await Promise.all([call({}), call({}), call({})]);

  for (const outcome of outcomes) {
    expect(messageOf(outcome)).toContain("the host of WASM modules is gone: it ended with exit code 9: broken");
  }
});

test("wasmRuntime() ends a host that says what cannot be read", async () => {
  const evil: Sandbox = {
    ...sandbox,
    start: (profile) =>
      sandbox.start(profile, ["sh", "-c", "head -c 100000 /dev/zero | tr '\\0' '\\377' >&3; sleep 60"]),
  };
  const { call } = open(echo, { options: { sandbox: evil } });

  const outcome = await call({});

  expect(messageOf(outcome)).toContain("it said something that cannot be read");
});

test("wasmRuntime() ends its host when it is not used, and starts it again", async () => {
  const { call } = open(echo, { options: { idleMs: 100 } });
  const first = await call({ a: 1 });

  await started[0]?.exit;
  const again = await call({ a: 2 });

  expect([first, again]).toEqual([
    { status: "ok", output: { a: 1 } },
    { status: "ok", output: { a: 2 } },
  ]);
  expect(started).toHaveLength(2);
});

test("wasmRuntime() has one host for each skill, and close() ends them all", async () => {
  const one = open(echo, { options: {} });
  const other = open(echo, { runtime: one.runtime });

  await Promise.all([one.call({}), other.call({}), one.call({})]);
  const running = started.length;
  await one.runtime.close();

  expect(running).toBe(2);
  await Promise.all(started.map(({ exit }) => exit));
});

test("close() ends the calls that run, and starts nothing for them", async () => {
  const { call, runtime } = open(endless, { options: {} });
  const running = call({});
  while (started.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 500));

  await runtime.close();

  expect(await running).toMatchObject({ status: "failed", error: { code: "sandbox-failed" } });
  expect(started).toHaveLength(1);
});

test("wasmRuntime() keeps no program alive that has nothing else to do", { timeout: 300_000 }, async ({ signal }) => {
  const directory = makeFolder();
  const code = writeModule(directory, echo);
  const program = `
    import { createWorkspace } from "kitbag";
    import { createTool } from "${join(import.meta.dirname, "../../core/define-tool.ts")}";
    import { findSandbox } from "${join(import.meta.dirname, "../../sandbox/find-sandbox.ts")}";
    import { wasmRuntime } from "${join(import.meta.dirname, "wasm-runtime.ts")}";
    const sandbox = await findSandbox();
    const code = ${JSON.stringify(code)};
    const tool = createTool({ name: "tool", description: "Echo", input: { type: "object", additionalProperties: true }, code });
    const workspace = createWorkspace({ tools: [tool], runtimes: [wasmRuntime({ sandbox, idleMs: 2 ** 31 - 1 })] });
    console.log(JSON.stringify(await workspace.call("tool", { a: 1 })));`;
  const args = ["--conditions=@kitbag/source", "--input-type=module", "--eval", program];

  // A program that is kept alive does not end: the limit of the test ends it.
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: join(import.meta.dirname, "../../.."),
    signal,
  });

  expect(JSON.parse(stdout)).toEqual({ status: "ok", output: { a: 1 } });
});

test("wasmRuntime() refuses the permission to start programs", async () => {
  const { call } = open(echo, { permissions: { run: ["git"] } });

  expect(messageOf(await call({}))).toContain("a WASM module cannot start programs");
});

test("wasmRuntime() refuses the permission for Unix sockets", async () => {
  const { call } = open(echo, { permissions: { sockets: "private" } });

  expect(messageOf(await call({}))).toContain("a WASM module cannot make sockets");
});

test("kitbag.call() keeps state, and tells progress, logs and pieces of the output", async () => {
  const { call, events } = open(asking);

  const answers = [
    await call({ fn: "state.set", key: "a", value: { n: 1 } }),
    await call({ fn: "state.get", key: "a" }),
    await call({ fn: "state.list" }),
    await call({ fn: "state.delete", key: "a" }),
    await call({ fn: "state.get", key: "a" }),
    await call({ fn: "log", message: "half", data: [1] }),
    await call({ fn: "progress", done: 1, total: 2 }),
    await call({ fn: "chunk", value: "piece" }),
    await call({ fn: "spend", costUsd: 0.25 }),
  ].map((outcome) => (outcome.status === "ok" ? outcome.output : outcome.error.message));

  expect(answers).toMatchObject([
    { ok: true, value: 1 },
    { ok: true, value: { n: 1 } },
    { ok: true, value: [{ key: "a", value: { n: 1 } }] },
    { ok: true, value: true },
    { ok: true, value: null },
    { ok: true, value: null },
    { ok: true, value: null },
    { ok: true, value: null },
    { ok: true, value: null },
  ]);
  expect(events.at(-1)).toMatchObject({ type: "call-end", costUsd: 0.25 });
  expect(events).toContainEqual(expect.objectContaining({ type: "call-log", message: "half", data: [1] }));
  expect(events).toContainEqual(expect.objectContaining({ type: "call-progress", progress: { done: 1, total: 2 } }));
  expect(events).toContainEqual(expect.objectContaining({ type: "call-chunk", chunk: "piece" }));
});

test("kitbag.call() writes only over the version or value that a module expects", async () => {
  const { call } = open(asking);
  const write = { fn: "state.compareAndSet", key: "a" };

  const answers = [
    await call({ ...write, version: 0, value: 1 }),
    await call({ ...write, version: 0, value: 2 }),
    await call({ ...write, expected: 1, value: 3 }),
    await call({ fn: "state.read", key: "a" }),
  ].map((outcome) => (outcome.status === "ok" ? outcome.output : outcome.error.message));

  expect(answers).toMatchObject([{ value: true }, { value: false }, { value: true }, { value: { value: 3 } }]);
});

test("kitbag.call() calls another tool, the same way every call takes", async () => {
  const { call, add } = open(asking, { options: { workers: 2 } });
  add("echo", echo);

  const outcome = await call({ fn: "call", tool: "echo", input: { a: 1 } });
  const missing = await call({ fn: "call", tool: "eco", input: {} });

  expect(outcome).toEqual({ status: "ok", output: { ok: true, value: { status: "ok", output: { a: 1 } } } });
  expect(missing).toMatchObject({
    output: { ok: true, value: { status: "failed", error: { code: "tool-not-found" } } },
  });
});

test.for([
  ["an unknown function", { fn: "exec" }, "state.get, state.read, state.set"],
  ["a name of the prototype", { fn: "__proto__" }, "state.get, state.read, state.set"],
  ["no function", { key: "a" }, '"fn"'],
  ["a key that is no text", { fn: "state.get", key: 7 }, '"key"'],
  ["a version that is none", { fn: "state.compareAndSet", key: "a", version: { version: 7 }, value: 1 }, '"version"'],
  ["a time that is a text", { fn: "state.set", key: "a", value: 1, expiresInMs: "50" }, '"expiresInMs"'],
  ["nothing to keep", { fn: "state.set", key: "a" }, '"value"'],
  ["a key that cannot be", { fn: "state.get", key: "" }, "key"],
  ["a request without the permission", { fn: "http.request", url: "http://127.0.0.1/" }, "it declares no host"],
] as const)("kitbag.call() answers with an error for %s", async ([, request, message]) => {
  const { call } = open(asking);

  const outcome = await call(request);

  expect(outcome).toMatchObject({ status: "ok", output: { ok: false } });
  expect(JSON.stringify(outcome)).toContain(JSON.stringify(message).slice(1, -1));
});

test("kitbag.call() sends requests to the hosts that the tool declares, and to no other", async () => {
  const { port } = await serve((request, response) =>
    response.end(`${request.method} ${request.url} ${String(request.headers["a"])}`),
  );
  const other = await serve((_, response) => response.end("secret"));
  const told: unknown[] = [];
  const options = { onConnection: ({ port: to, allowed }: EgressConnection) => void told.push([to, allowed]) };
  const { call, events } = open(asking, { options, permissions: { network: [`127.0.0.1:${port}`] } });

  const allowed = await call({ fn: "http.request", url: `http://127.0.0.1:${port}/x`, headers: { a: 1 } });
  const refused = await call({ fn: "http.request", url: `http://127.0.0.1:${other.port}/` });

  expect(allowed).toMatchObject({ output: { ok: true, value: { status: 200, body: "GET /x 1" } } });
  expect(refused).toMatchObject({ output: { ok: false, code: "network-refused" } });
  expect(told).toEqual([
    [port, true],
    [other.port, false],
  ]);
  expect(events.filter(({ type }) => type === "call-log")).toMatchObject([
    { message: `Connected to 127.0.0.1:${port}` },
  ]);
});

test("kitbag.call() hands over bytes that are no text in base64", async () => {
  const { port } = await serve((request, response) => void request.pipe(response));
  const { call } = open(asking, { permissions: { network: [`127.0.0.1:${port}`] } });
  const bodyBase64 = Buffer.from([0, 255, 254, 1]).toString("base64");

  const outcome = await call({ fn: "http.request", url: `http://127.0.0.1:${port}/`, method: "POST", bodyBase64 });

  expect(outcome).toMatchObject({ output: { ok: true, value: { status: 200, bodyBase64 } } });
});

test("wasmRuntime() ends a module that waits for an answer, at the deadline", async () => {
  const { port } = await serve(() => {});
  const { call } = open(asking, { permissions: { network: [`127.0.0.1:${port}`] } });

  const outcome = await call({ fn: "http.request", url: `http://127.0.0.1:${port}/` }, { limitMs: 300 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout" } });
});

test("wasmRuntime() runs AssemblyScript", async () => {
  const source = `
    const input = process.stdin;
    const buffer = new ArrayBuffer(1000);
    const count = input.read(buffer);
    const text = String.UTF8.decode(buffer.slice(0, count));
    process.stdout.write('{"length":' + text.length.toString() + ',"text":' + text + '}');`;
  const { call } = open(moduleFromAssemblyScript(source));

  expect(await call({ a: 1 })).toEqual({ status: "ok", output: { length: 7, text: { a: 1 } } });
});

test("wasmRuntime() gives a program in C its name, its environment and the clock, and no other file", async (context) => {
  needProgram(context, "clang-19");
  const values = new Map([
    ["TEST_VALUE", { value: "seen", shown: true } as const],
    ["HOME", { value: "never", shown: true } as const],
  ]);
  const { call } = open(moduleFromC(facts), {
    permissions: { env: ["TEST_VALUE", "TEST_NOTHING"] },
    options: { findSecret: (name) => values.get(name) },
  });

  const outcome = await call({});

  expect(outcome).toEqual({
    status: "ok",
    output: { name: "tool", value: "seen", home: false, clock: true, files: 0 },
  });
});

test("wasmRuntime() shows no secret that a program in C prints", async (context) => {
  needProgram(context, "clang-19");
  const { call } = open(moduleFromC(facts), {
    permissions: { env: ["TEST_VALUE"] },
    options: { findSecret: () => "a-long-secret-value" },
  });

  const outcome = await call({});

  expect(outcome.status).toBe("ok");
  expect(JSON.stringify(outcome)).not.toContain("a-long-secret-value");
});

test("wasmRuntime() lets a program in C use exactly the directories that were granted", async (context) => {
  needProgram(context, "clang-19");
  const { granted, readable, secret } = makeGrants();
  symlinkSync(secret, join(granted, "link"));
  const { call } = open(moduleFromC(files), { permissions: { read: [readable], write: [granted] } });

  const outcome = await call({});
  const ask = async (operation: string, path: string): Promise<unknown> => {
    const answer = await call({ [operation]: path });
    return answer.status === "ok" ? answer.output : answer.error.message;
  };

  expect(outcome.status).toBe("ok");
  expect(await ask("read", join(readable, "a.txt"))).toBe("readable");
  expect(await ask("write", join(granted, "sub/new.txt"))).toBe("written");
  expect(readFileSync(join(granted, "sub/new.txt"), "utf8")).toBe("data");
  expect(await ask("list", granted)).toBe("link sub ");
  for (const path of [
    join(granted, "link"),
    secret,
    `${readable}/../secret.txt`,
    "/etc/passwd",
    "/opt/node",
    "/proc/self/environ",
  ]) {
    expect(await ask("read", path)).toMatch(/^error/u);
  }
  expect(await ask("write", join(readable, "new.txt"))).toMatch(/^error/u);
  expect(await ask("write", join(readable, "a.txt"))).toMatch(/^error/u);
});

test("wasmRuntime() lets a program in C use a single file that was granted, and no other beside it", async (context) => {
  needProgram(context, "clang-19");
  const { readable } = makeGrants();
  writeFileSync(join(readable, "b.txt"), "other");
  const { call } = open(moduleFromC(files), { permissions: { read: [join(readable, "a.txt")] } });

  expect(await call({ read: join(readable, "a.txt") })).toEqual({ status: "ok", output: "readable" });
  expect(await call({ read: join(readable, "b.txt") })).toMatchObject({ output: expect.stringMatching(/^error/u) });
});

const facts = `
  #include <dirent.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <time.h>
  int main(int argc, char **argv) {
    DIR *root = opendir("/");
    const char *value = getenv("TEST_VALUE");
    printf("{\\"name\\":\\"%s\\",\\"value\\":\\"%s\\",\\"home\\":%s,\\"clock\\":%s,\\"files\\":%d}", argv[0], value ? value : "",
      getenv("HOME") ? "true" : "false", time(NULL) > 1700000000 ? "true" : "false", root ? 1 : 0);
    return 0;
  }`;

/** Reads, writes or lists the path in \`{"read":"…"}\`; prints what came of it as a JSON text. */
const files = `
  #include <dirent.h>
  #include <errno.h>
  #include <stdio.h>
  #include <stdlib.h>
  #include <string.h>
  #include <sys/stat.h>
  static int compare(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }
  int main(void) {
    char input[4096] = {0}, out[4096] = {0};
    fread(input, 1, sizeof input - 1, stdin);
    char *operation = strtok(input, "{}\\":"), *path = strtok(NULL, "{}\\":");
    if (!operation) { printf("\\"nothing\\""); return 0; }
    if (!strcmp(operation, "read")) {
      FILE *file = fopen(path, "r");
      if (file) fread(out, 1, sizeof out - 1, file);
    } else if (!strcmp(operation, "write")) {
      char folder[4096]; strcpy(folder, path); *strrchr(folder, '/') = 0; mkdir(folder, 0755);
      FILE *file = fopen(path, "w");
      if (file && fputs("data", file) >= 0 && !fclose(file)) strcpy(out, "written");
    } else {
      DIR *folder = opendir(path); struct dirent *entry; char *names[64]; int count = 0;
      while (folder && (entry = readdir(folder))) if (entry->d_name[0] != '.') names[count++] = strdup(entry->d_name);
      qsort(names, count, sizeof *names, compare);
      for (int i = 0; i < count; i++) { strcat(out, names[i]); strcat(out, " "); }
    }
    if (!*out) sprintf(out, "error %d %s", errno, strerror(errno));
    printf("\\"%s\\"", out);
    return 0;
  }`;

const signatures: Readonly<Record<string, string>> = {
  fd_write: "$write (param i32 i32 i32 i32) (result i32)",
  fd_read: "$read (param i32 i32 i32 i32) (result i32)",
  proc_exit: "$exit (param i32)",
  poll_oneoff: "$poll (param i32 i32 i32 i32) (result i32)",
};

/** A WASI command with this code in its start function. Text is at 1024, what it reads from 4096 on. */
function wasi(code: string, imports: readonly string[] = [], definitions = "", pages = 2): Uint8Array {
  const texts: string[] = [];
  const filled = code.replaceAll(/\{\{(.*?)\}\}/gsu, (_, text: string) => {
    texts.push(text);
    return "";
  });
  const imported = ["fd_write", ...imports].map(
    (name) => `(import "wasi_snapshot_preview1" "${name}" (func ${signatures[name]}))`,
  );
  const data = texts.map((text, index) => `(data (i32.const ${1024 + index * 512}) "${text}")`);
  return moduleFromText(`(module (type $none (func)) ${imported.join(" ")} ${definitions}
    (memory (export "memory") ${pages}) (table $t 1 funcref) ${data.join(" ")}
    (func $start (export "_start") ${filled}))`);
}

/** Code that writes memory to a descriptor. */
function write(descriptor: number, place: number, length: number): string {
  return `(i32.store (i32.const 0) (i32.const ${place})) (i32.store (i32.const 4) (i32.const ${length}))
    (drop (call $write (i32.const ${descriptor}) (i32.const 0) (i32.const 1) (i32.const 8)))`;
}

/** Code that prints a text; one for each module. */
function print(descriptor: number, text: string): string {
  return `{{${text}}} ${write(descriptor, 1024, Buffer.from(text.replaceAll("\\n", "\n")).length)}`;
}

function readInput(room: number): string {
  return `(i32.store (i32.const 0) (i32.const 4096)) (i32.store (i32.const 4) (i32.const ${room}))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))`;
}

const writeInput = `(i32.store (i32.const 0) (i32.const 4096)) (i32.store (i32.const 4) (i32.load (i32.const 16)))
  (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))`;

const echo = wasi(`${readInput(60_000)} ${writeInput}`, ["fd_read"]);
const endless = wasi("(loop $more (br $more))");
/** Asks for what is in its input, and prints the answer, which it reads in two pieces. */
const asking = wasi(
  `${readInput(60_000)}
  (i32.store (i32.const 20) (call $ask (i32.const 4096) (i32.load (i32.const 16))))
  (drop (call $answer (i32.const 4096) (i32.const 5)))
  (drop (call $answer (i32.const 4101) (i32.const 60000)))
  (i32.store (i32.const 16) (i32.load (i32.const 20))) ${writeInput}`,
  ["fd_read"],
  `(import "kitbag" "call" (func $ask (param i32 i32) (result i32)))
  (import "kitbag" "read" (func $answer (param i32 i32) (result i32)))`,
);

/** Counts, then prints 1. */
function busyFor(rounds: number): Uint8Array {
  return wasi(`(local $n i32) (loop $more
    (local.set $n (i32.add (local.get $n) (i32.const 1))) (br_if $more (i32.lt_u (local.get $n) (i32.const ${rounds}))))
    ${print(1, "1")}`);
}

function printing(text: string): Uint8Array {
  return wasi(print(1, text.replaceAll("\n", "\\n")));
}

interface OpenOptions {
  readonly options?: Partial<WasmRuntimeOptions>;
  readonly runtime?: WasmRuntime;
  readonly permissions?: ToolParts["permissions"];
  readonly output?: ToolParts["output"];
  readonly codeTool?: string;
}

interface CallSettings {
  readonly user?: string;
  readonly tool?: string | undefined;
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

interface Opened {
  /** Where the module is. */
  readonly file: string;
  readonly runtime: WasmRuntime;
  readonly events: readonly CallEvent[];
  call(input: object, settings?: CallSettings): Promise<ToolOutcome>;
  /** Adds a tool of the same skill. */
  add(name: string, bytes: Uint8Array): void;
}

/** A workspace with a tool named `tool`, which is this module. */
function open(bytes: Uint8Array, { options, permissions, output, codeTool, ...given }: OpenOptions = {}): Opened {
  const isShared = options === undefined && given.runtime === undefined;
  const runtime = isShared ? shared : (given.runtime ?? wasmRuntime({ sandbox, ...options }));
  if (!isShared) leftovers.push(() => runtime.close());
  const directory = isShared ? sharedFolder : makeFolder();
  const file = `tool-${modules++}.wasm`;
  const events: CallEvent[] = [];
  const workspace: Workspace = createWorkspace({
    runtimes: [runtime],
    limits: { maxOutputBytes: 32 * mebibyte },
  });
  workspace.onEvent((event) => events.push(event));
  const add = (name: string, content: Uint8Array): void => {
    const code = writeModule(directory, content, name === "tool" ? file : `${name}.wasm`);
    const input = { type: "object", additionalProperties: true } as const;
    const own = name === "tool" && {
      uses: ["echo"],
      ...(permissions !== undefined && { permissions }),
      ...(output !== undefined && { output }),
    };
    const parts = {
      name,
      description: `The tool ${name}`,
      input,
      code: { ...code, ...(codeTool !== undefined && { tool: codeTool }) },
    };
    workspace.add(createTool({ ...parts, ...own }));
  };
  add("tool", bytes);
  return {
    file: join(directory, file),
    runtime,
    events,
    add,
    call: (input, { tool = "tool", limitMs = 20_000, ...settings } = {}) =>
      workspace.call(tool, input, { limitMs, ...settings }),
  };
}

/** The same sandbox; whatever ends in it has used too much memory. */
function starved(): Sandbox {
  return {
    ...sandbox,
    async start(...given) {
      const one = await sandbox.start(...given);
      return { ...one, exit: one.exit.then((status) => ({ ...status, outOfMemory: true })) };
    },
  };
}

/** Waits until so many hosts were started, and the last one has begun its calls. */
async function waitForHost(count = 1): Promise<void> {
  while (started.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 2000));
}

/** The same sandbox; what it starts is remembered. */
function watched(inner: Sandbox): Sandbox {
  return {
    ...inner,
    async start(...given) {
      const one = await inner.start(...given);
      started.push(one);
      return one;
    },
  };
}

async function serve(answer: RequestListener): Promise<AddressInfo> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  leftovers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server.address() as AddressInfo;
}

function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-wasm-")));
  leftovers.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function makeGrants(): { granted: string; readable: string; secret: string } {
  const folder = makeFolder();
  const [granted, readable, secret] = [join(folder, "granted"), join(folder, "readable"), join(folder, "secret.txt")];
  mkdirSync(granted);
  mkdirSync(readable);
  writeFileSync(join(readable, "a.txt"), "readable");
  writeFileSync(secret, "secret");
  return { granted, readable, secret };
}

function messageOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.message : `ok: ${JSON.stringify(outcome.output)}`;
}
