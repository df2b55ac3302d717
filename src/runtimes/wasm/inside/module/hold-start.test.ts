import { expect, test } from "vitest";

import { moduleFromText } from "../../../../../test/support/wasm-module.ts";
import { holdStart } from "./hold-start.ts";
import { webAssembly, type Instance } from "./web-assembly.ts";

test("holdStart() lets nothing run before it is called, and then the same", async () => {
  const { bytes, start = "" } = holdStart(moduleFromText(counting()));

  const { exports } = await instantiate(bytes);
  const before = call(exports, "count");
  call(exports, start);
  const after = call(exports, "count");

  expect([before, after]).toEqual([0, 1]);
});

test("holdStart() takes a name that the module does not use", async () => {
  const own = '(func (export "kitbag:start") (result i32) (i32.const 7)) (func (export "kitbag:start_"))';

  const { bytes, start } = holdStart(moduleFromText(counting(own)));

  const { exports } = await instantiate(bytes);
  expect(start).toBe("kitbag:start__");
  expect(call(exports, "kitbag:start")).toBe(7);
});

test("holdStart() finds the function among many, and leaves all exports as they are", async () => {
  const many = Array.from(
    { length: 300 },
    (_, index) => `(func (export "f${index}") (result i32) (i32.const ${index}))`,
  );

  const { bytes, start = "" } = holdStart(moduleFromText(counting(many.join(" "))));

  const { exports } = await instantiate(bytes);
  call(exports, start);
  expect(Object.keys(exports)).toHaveLength(302);
  expect([call(exports, "count"), call(exports, "f0"), call(exports, "f299")]).toEqual([1, 0, 299]);
});

test.for([
  ["runs nothing at once", '(module (func (export "_start")))'],
  ["exports nothing", "(module (func $f) (start $f))"],
  ["is empty", "(module)"],
] as const)("holdStart() leaves a module as it is that %s", ([, text]) => {
  const module = moduleFromText(text);

  expect(holdStart(module)).toEqual({ bytes: module });
});

/** A module that counts how often the function ran that it starts with. It stands behind all others. */
function counting(functions = ""): string {
  return `(module (global $count (mut i32) (i32.const 0)) ${functions} (start $make)
    (func (export "count") (result i32) (global.get $count))
    (func $make (global.set $count (i32.add (global.get $count) (i32.const 1)))))`;
}

async function instantiate(bytes: Uint8Array): Promise<Instance> {
  return new webAssembly.Instance(await webAssembly.compile(bytes), {});
}

function call(exports: Instance["exports"], name: string): unknown {
  return (exports[name] as () => unknown)();
}
