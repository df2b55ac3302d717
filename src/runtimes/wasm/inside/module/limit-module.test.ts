import { expect, test } from "vitest";

import { moduleFromText } from "../../../../../test/support/wasm-module.ts";
import { limitModule } from "./limit-module.ts";
import { RefusedModule } from "./check-module.ts";
import { webAssembly } from "./web-assembly.ts";

const mebibyte = 2 ** 20;

test.for([
  ["no maximum", '(memory (export "memory") 1)'],
  ["a maximum that is too high", '(memory (export "memory") 1 65536)'],
] as const)("limitModule() lets a memory with %s grow to the limit", async ([, memory]) => {
  const bytes = moduleFromText(growing(memory));

  const pages = await run(limitModule(bytes, mebibyte));

  expect(pages).toBe(16);
});

test("limitModule() leaves a lower maximum as it is", async () => {
  const bytes = moduleFromText(growing('(memory (export "memory") 1 3)'));

  const pages = await run(limitModule(bytes, mebibyte));

  expect(pages).toBe(3);
});

test("limitModule() gives several memories the limit together", async () => {
  const bytes = moduleFromText(growing('(memory (export "memory") 1) (memory $b 0) (memory $c 0) (memory $d 1 9)'));

  const pages = await run(limitModule(bytes, mebibyte));

  expect(pages).toBe(4);
});

test("limitModule() refuses a module that begins with more memory than it may have", () => {
  const bytes = moduleFromText("(module (memory 1000))");

  expect(() => limitModule(bytes, mebibyte)).toThrow("it needs 63 MiB of memory to begin with, and may use 1 MiB");
});

test("limitModule() refuses several memories that begin with too much together", () => {
  const bytes = moduleFromText("(module (memory 10) (memory $b 10))");

  expect(() => limitModule(bytes, mebibyte)).toThrow(RefusedModule);
});

test.for([
  ["shared", "(module (memory 1 2 shared))", "its memory is shared between threads; build it without threads"],
  ["64-bit", "(module (memory i64 1))", "its memory has 64-bit addresses; build it for wasm32"],
] as const)("limitModule() refuses memory that is %s", ([, text, message]) => {
  const bytes = moduleFromText(text);

  expect(() => limitModule(bytes, mebibyte)).toThrow(message);
});

test.for([
  ["functions", "(table 1 funcref)"],
  ["anything", "(table 1 externref)"],
  ["functions, with a maximum that is too high", "(table 1 9999999 funcref)"],
  ["references of its own type", "(type $f (func)) (table 1 (ref null $f))"],
] as const)("limitModule() lets a table of %s grow to a million entries", async ([, table]) => {
  const element = table.includes("externref") ? "externref" : table.includes("$f") ? "(ref null $f)" : "funcref";
  const grown = `(func (export "run") (result i32)
    (loop $more (br_if $more (i32.ne (table.grow $t (ref.null ${nullOf(element)}) (i32.const 99999)) (i32.const -1))))
    (table.size $t))`;
  const bytes = moduleFromText(`(module ${table.replace("(table", "(table $t")} ${grown})`);

  const entries = await run(limitModule(bytes, mebibyte));

  expect(entries).toBeGreaterThan(900_000);
  expect(entries).toBeLessThanOrEqual(1_000_000);
});

test("limitModule() refuses a table that begins with more entries than it may have", () => {
  const bytes = moduleFromText("(module (table 5000000 funcref))");

  expect(() => limitModule(bytes, mebibyte)).toThrow("it has a table of 5000000 entries, and may have 1000000");
});

test("limitModule() reads a table that begins with a value of its own", async () => {
  // One type (func), one table of non-null references filled with function 0, one function that answers the table's size.
  const bytes = Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, 5, 1, 0x60, 0, 1, 0x7f],
    ...[3, 2, 1, 0],
    ...[4, 10, 1, 0x40, 0, 0x64, 0, 0, 5, 0xd2, 0, 0x0b],
    ...[7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 0],
    ...[10, 7, 1, 5, 0, 0xfc, 16, 0, 0x0b],
  ]);

  const entries = await run(limitModule(bytes, mebibyte));

  expect(entries).toBe(5);
});

test("limitModule() leaves out names and debug information", () => {
  const bytes = moduleFromText("(module (memory 1))");
  const custom = Uint8Array.from([...bytes, 0, 6, 4, 0x6e, 0x61, 0x6d, 0x65, 9]);

  expect(limitModule(custom, mebibyte)).toEqual(limitModule(bytes, mebibyte));
});

test.for([
  ["nothing", [], "it is no WASM module"],
  ["text", [...Buffer.from("#!/bin/sh\n")], "it is no WASM module"],
  ["only the magic number", [0, 0x61, 0x73, 0x6d], "unknown version"],
  ["a version that there is not", [0, 0x61, 0x73, 0x6d, 2, 0, 0, 0], "unknown version 2"],
  [
    "a component",
    [0, 0x61, 0x73, 0x6d, 13, 0, 1, 0],
    "it is a WASM component, and only modules run here; build a WASI preview 1 command",
  ],
  ["a section that is longer than the file", [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 100, 1], "it ends in the middle"],
  ["a number without an end", [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 255, 255, 255, 255, 255], "more than 32 bits"],
  ["four billion memories", [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 5, 255, 255, 255, 255, 15], "it ends in the middle"],
] as const)("limitModule() refuses %s", ([, bytes, message]) => {
  expect(() => limitModule(Uint8Array.from(bytes), mebibyte)).toThrow(message);
});

test("limitModule() gives V8 no module that was cut off, wherever it was", async () => {
  const bytes = moduleFromText(growing('(memory (export "memory") 1) (table 3 funcref)'));
  const limited = limitModule(bytes, mebibyte);

  const accepted: number[] = [];
  for (let length = 0; length < bytes.length; length += 1) {
    try {
      await webAssembly.compile(limitModule(bytes.subarray(0, length), mebibyte));
      accepted.push(length);
    } catch (cause) {
      expect(cause).toBeInstanceOf(Error);
    }
  }

  // Cut between two sections it can be a smaller module that is right; that has no code, and exports nothing.
  expect(accepted.every((length) => length < limited.length / 2)).toBe(true);
});

/** A module whose function grows its first memory as far as it can, and answers with its pages. */
function growing(memories: string): string {
  return `(module ${memories} (func (export "run") (result i32)
    (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (memory.size)))`;
}

function nullOf(element: string): string {
  return element === "externref" ? "extern" : element === "funcref" ? "func" : "$f";
}

async function run(bytes: Uint8Array): Promise<unknown> {
  const { exports } = new webAssembly.Instance(await webAssembly.compile(bytes), {});
  return (exports["run"] as () => unknown)();
}
