import fc from "fast-check";
import { expect, test } from "vitest";

import { checkModule } from "./check-module.ts";

const start = { name: "_start", kind: 0 };
const memory = { name: "memory", kind: 2 };

test("checkModule() accepts a WASI command module", () => {
  const imports = [
    { module: "wasi_snapshot_preview1", name: "fd_write", kind: 0 },
    { module: "kitbag", name: "call", kind: 0 },
  ];

  expect(checkModule(toModule({ imports, exports: [start, memory, { name: "other", kind: 3 }] }))).toBeUndefined();
});

test.for([
  [[], "it is not a WebAssembly module"],
  [[...new TextEncoder().encode("#!/bin/sh\n")], "it is not a WebAssembly module"],
  [[0, 0x61, 0x73, 0x6d], "its version is not 1"],
  [[0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0], "it is a component; only modules (WASI preview 1) are tools"],
  [[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0], 'it has no "_start": a tool is a program with a main function'],
  [[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0x7f], "it is damaged"],
  [[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 7, 1, 0x80], "it is damaged"],
] as const)("checkModule() refuses the bytes %j", ([bytes, reason]) => {
  expect(checkModule(Uint8Array.from(bytes))).toBe(reason);
});

test.for([
  [{ imports: [], exports: [memory] }, "_start"],
  [{ imports: [], exports: [{ name: "_start", kind: 2 }, memory] }, "_start"],
  [{ imports: [], exports: [start] }, '"memory"'],
  [{ imports: [{ module: "env", name: "system", kind: 0 }], exports: [start, memory] }, '"env.system"'],
  [{ imports: [{ module: "kitbag", name: "memory", kind: 2 }], exports: [start, memory] }, '"kitbag.memory"'],
  [{ imports: [{ module: "wasi_unstable", name: "fd_write", kind: 0 }], exports: [start, memory] }, "wasi_unstable"],
] as const)("checkModule() refuses %j", ([names, reason]) => {
  expect(checkModule(toModule(names))).toContain(reason);
});

test("checkModule() never throws, whatever the bytes are", () => {
  const whole = toModule({ imports: [{ module: "kitbag", name: "call", kind: 0 }], exports: [start, memory] });
  const changed = fc.tuple(fc.nat(whole.length - 1), fc.nat(255)).map(([at, byte]) => whole.with(at, byte));
  const cut = fc.nat(whole.length).map((length) => whole.subarray(0, length));
  const prefixed = fc.uint8Array({ maxLength: 100 }).map((rest) => Uint8Array.from([...whole.subarray(0, 8), ...rest]));

  fc.assert(
    fc.property(fc.oneof(changed, cut, prefixed, fc.uint8Array()), (bytes) => {
      expect(["string", "undefined"]).toContain(typeof checkModule(bytes));
    }),
    { numRuns: 2000 },
  );
});

interface Named {
  readonly name: string;
  readonly kind: number;
}

function toModule(names: {
  readonly imports: readonly (Named & { readonly module: string })[];
  readonly exports: readonly Named[];
}): Uint8Array {
  const text = (value: string): number[] => [value.length, ...new TextEncoder().encode(value)];
  const rest = (kind: number): number[] => (kind === 2 ? [0, 1] : [0]);
  const imports = names.imports.flatMap(({ module, name, kind }) => [
    ...text(module),
    ...text(name),
    kind,
    ...rest(kind),
  ]);
  const exports = names.exports.flatMap(({ name, kind }) => [...text(name), kind, 0]);
  const section = (id: number, count: number, bytes: number[]): number[] => [id, bytes.length + 1, count, ...bytes];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(2, names.imports.length, imports),
    ...section(7, names.exports.length, exports),
  ]);
}
