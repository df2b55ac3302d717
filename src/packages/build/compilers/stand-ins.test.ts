/** Compilers that few machines have: what they are told, with programs in their place that only say their version. */
import { chmodSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../../test/support/temporary-folder.ts";
import type { CompilerSearch } from "./compiler.ts";
import { emscripten } from "./emscripten.ts";
import { tinygo } from "./tinygo.ts";

const build = { directory: "/skill", output: "/out/tool.wasm", scratch: "/scratch" };

test("TinyGo builds a file, and a module from its own folder, for wasip1 and without the network", async () => {
  const search = standIn("tinygo", "tinygo version 0.35.0 linux/amd64 (using go version go1.23.4)");
  const compiler = await tinygo.find("go", search);

  const file = compiler?.toCommand({ ...build, source: "./a.go" });
  const module = compiler?.toCommand({ ...build, source: "./src/go.mod" });

  const flags = ["build", "-target=wasip1", "-no-debug", "-o", "/out/tool.wasm"];
  expect(compiler).toMatchObject({ language: "go", program: "tinygo", version: "0.35.0" });
  expect(file?.argv.slice(1)).toEqual([...flags, "./a.go"]);
  expect(module?.argv.slice(3, 4)).toEqual(["./src"]);
  expect(module?.argv.slice(5)).toEqual([...flags, "."]);
  expect(module?.environment).toMatchObject({ GOPROXY: "off", GOFLAGS: "-mod=vendor", HOME: "/scratch" });
});

test.for(["tinygo version 0.31.2 linux/amd64", "no version"])("TinyGo is not used if it says %j", async (about) => {
  expect(await tinygo.find("go", standIn("tinygo", about))).toBeUndefined();
});

test.for([
  ["c", "emcc"],
  ["c++", "em++"],
] as const)("Emscripten builds %s with %s into a module that imports WASI alone", async ([language, program]) => {
  const search = standIn(program, "emcc (Emscripten gcc/clang-like replacement) 4.0.1 (abc)\nCopyright");

  const compiler = await emscripten.find(language, search);

  const command = compiler?.toCommand({ ...build, source: "./a.c" });
  expect(compiler).toMatchObject({ language, program, version: "4.0.1" });
  expect(command?.argv.slice(1)).toEqual([
    ...["-Os", "-sSTANDALONE_WASM", "-sFILESYSTEM=0", "-fno-exceptions"],
    ...["./a.c", "-o", "/out/tool.wasm"],
  ]);
  expect(command?.environment?.["EM_CACHE"]).toBe("/scratch/em-cache");
});

test("compilers that are not on the PATH are not found", async () => {
  const search: CompilerSearch = { findProgram: () => undefined, home: "/", packagesFrom: [], ask: async () => "" };

  expect(await tinygo.find("go", search)).toBeUndefined();
  expect(await emscripten.find("c", search)).toBeUndefined();
});

/** A program in the place of a compiler, and what it says about itself. */
function standIn(name: string, about: string): CompilerSearch {
  const folder = realpathSync(createFolder({ [`bin/${name}`]: "#!/bin/sh\n" }));
  chmodSync(join(folder, "bin", name), 0o755);
  return {
    findProgram: (program) => (program === name ? join(folder, "bin", name) : undefined),
    home: "/",
    packagesFrom: [],
    ask: async ([program = ""]) => (basename(program) === name ? about : undefined),
  };
}
