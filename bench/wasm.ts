import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { createPlugin } from "@extism/extism";
import { createWorkspace, defineTool, type Tool, type Workspace } from "kitbag";
import { openRuntimes } from "kitbag/runtimes";

import type { Contender, Question } from "./question.ts";

const calls = 300;
const atOnce = 100;
/** Each starts a thread, so there are fewer. */
const threadCalls = 10;
const input = { text: "one two three four five six seven eight nine ten" };

/** What both modules do: they read the text, mix it with 80 KB of data of their own, and answer in JSON. */
const work = (data: string): string => `
  const data: string = "${data}";
  function work(input: string): string {
    let mixed: u32 = 2166136261;
    for (let i = 0; i < input.length; i++) {
      mixed = (mixed ^ <u32>(input.charCodeAt(i) ^ data.charCodeAt((i * 797) % data.length))) * 16777619;
    }
    return '{"length":' + input.length.toString() + ',"mixed":' + mixed.toString() + '}';
  }
  function stop(a: usize, b: usize, c: u32, d: u32): void { unreachable(); }`;

const wasiCommand = `
  @external("wasi_snapshot_preview1", "fd_read") declare function fd_read(a: u32, b: usize, c: u32, d: usize): u32;
  @external("wasi_snapshot_preview1", "fd_write") declare function fd_write(a: u32, b: usize, c: u32, d: usize): u32;
  export function _start(): void {
    const vector = heap.alloc(16), buffer = heap.alloc(4096);
    store<usize>(vector, buffer);
    store<u32>(vector + 4, 4096);
    fd_read(0, vector, 1, vector + 8);
    const output = String.UTF8.encode(work(String.UTF8.decodeUnsafe(buffer, load<u32>(vector + 8))));
    store<usize>(vector, changetype<usize>(output));
    store<u32>(vector + 4, output.byteLength);
    fd_write(1, vector, 1, vector + 8);
  }`;

const extismPlugin = `
  @external("extism:host/env", "input_length") declare function input_length(): u64;
  @external("extism:host/env", "input_load_u8") declare function input_load_u8(offset: u64): u32;
  @external("extism:host/env", "alloc") declare function alloc(length: u64): u64;
  @external("extism:host/env", "store_u8") declare function store_u8(offset: u64, value: u32): void;
  @external("extism:host/env", "output_set") declare function output_set(offset: u64, length: u64): void;
  export function run(): i32 {
    const length = <u32>input_length(), buffer = heap.alloc(length);
    for (let i: u32 = 0; i < length; i++) store<u8>(buffer + i, <u8>input_load_u8(i));
    const output = Uint8Array.wrap(String.UTF8.encode(work(String.UTF8.decodeUnsafe(buffer, length))));
    const place = alloc(output.length);
    for (let i = 0; i < output.length; i++) store_u8(place + i, output[i]);
    output_set(place, output.length);
    return 0;
  }`;

const question: Question = {
  title: "What does a call of a WASM tool cost?",
  text: `A module of 100 KB reads its input, computes and answers in JSON, in a new instance each time. Kitbag: through all phases of \`workspace.call\`, in a thread of a process in the sandbox; the median of ${calls} calls, each awaited, and ${atOnce} calls at once on two threads. Extism: the same code with its own functions for input and output, a new plugin for each call; in a thread it can be stopped, in the main thread it cannot.`,
  unit: "ms a call",
  rounds: 15,
  targets: [
    { text: "kitbag", unit: "ms", limit: 0.5, value: (cost) => cost("kitbag") },
    {
      text: "kitbag to extism in a thread",
      unit: "×",
      limit: 0.05,
      value: (cost) => cost("kitbag") / cost("extism, in a thread"),
    },
  ],
  async contenders() {
    // Extism loads Node's own WASI, which warns each time.
    process.env["NODE_NO_WARNINGS"] = "1";
    process.removeAllListeners("warning");
    const [wasi, extism] = makeModules();
    const workspace = makeWorkspace(wasi);
    const module = await compileModule(extism);
    const expected = await callKitbag(workspace);
    return [
      { name: "kitbag", measure: () => medianOf(calls, () => callKitbag(workspace)) },
      { name: `kitbag, ${atOnce} at once`, measure: () => measureAtOnce(() => callKitbag(workspace)) },
      extismContender("extism, in a thread", { module, runInWorker: true, expected }),
      extismContender("extism, in the main thread", { module, runInWorker: false, expected }),
    ];
  },
};

export default question;

/** Node's types do not have this. */
function compileModule(bytes: Uint8Array): Promise<object> {
  const api = globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } };
  return api.WebAssembly.compile(bytes);
}

/** The two modules, compiled from AssemblyScript, which is always there. */
function makeModules(): [wasi: Uint8Array, extism: Uint8Array] {
  const letters = Array.from({ length: 40_000 }, (_, index) => String.fromCharCode(97 + ((index * 7919) % 26))).join(
    "",
  );
  return [compile(work(letters) + wasiCommand), compile(work(letters) + extismPlugin)];
}

function compile(source: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
  const compiler = resolve(import.meta.dirname, "../node_modules/assemblyscript/bin/asc.js");
  try {
    writeFileSync(join(folder, "tool.ts"), source);
    const options = ["-o", "tool.wasm", "-O", "--runtime", "stub", "--use", "abort=tool/stop"];
    execFileSync(process.execPath, [compiler, "tool.ts", ...options], { cwd: folder });
    return new Uint8Array(readFileSync(join(folder, "tool.wasm")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeWorkspace(bytes: Uint8Array): Workspace {
  const directory = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "mix.wasm"), bytes);
  const described = defineTool({
    name: "mix",
    description: "Mixes a text",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    output: { type: "object" },
    run: () => null,
  });
  const code = { kind: "wasm", directory, path: "mix.wasm", digest: `sha256:${hash("sha256", bytes)}` };
  const tool: Tool = { ...described, code };
  return createWorkspace({ tools: [tool], runtimes: openRuntimes({ warm: false }) });
}

async function callKitbag(workspace: Workspace): Promise<string> {
  const outcome = await workspace.call("mix", input);
  if (outcome.status !== "ok") throw new Error(outcome.error.message);
  return JSON.stringify(outcome.output);
}

interface ExtismOptions {
  readonly module: object;
  readonly runInWorker: boolean;
  /** Nobody can leave out work whose answer is looked at. */
  readonly expected: string;
}

function extismContender(name: string, { module, runInWorker, expected }: ExtismOptions): Contender {
  const text = JSON.stringify(input);
  return {
    name,
    measure: () =>
      medianOf(runInWorker ? threadCalls : calls, async () => {
        const plugin = await createPlugin({ wasm: [{ module }] }, { runInWorker, useWasi: false });
        const output = await plugin.call("run", text);
        await plugin.close();
        if (output?.text() !== expected) throw new Error(`Cannot trust the measurement: ${output?.text()}`);
      }),
  };
}

/** The median time of `count` uses, one after the other. */
async function medianOf(count: number, use: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = performance.now();
    await use();
    times.push(performance.now() - start);
  }
  return times.toSorted((left, right) => left - right)[Math.floor(count / 2)] ?? NaN;
}

async function measureAtOnce(use: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: atOnce }, use));
  return (performance.now() - start) / atOnce;
}
