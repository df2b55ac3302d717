import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

import binaryen from "assemblyscript/binaryen";

import type { WasmCode } from "../../src/core/script-code.ts";

/** Makes a module of its text form. All proposals that V8 knows are allowed. */
export function moduleFromText(text: string): Uint8Array {
  const module = binaryen.parseText(text);
  module.setFeatures(binaryen.Features.All);
  try {
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

/** Compiles C with clang; see `needProgram`. */
export function moduleFromC(source: string): Uint8Array {
  const options = ["--target=wasm32-wasi", "--sysroot=/usr", "-Os"];
  return compile("tool.c", source, ["clang-19", ...options, "tool.c", "-o", "tool.wasm"]);
}

/** The names of the shim that stand for those of the standard library. */
const shimmed = "abort trace seed console crypto performance process Date"
  .split(" ")
  .map((name) => `${name}=wasi_${name}`);

/** Compiles AssemblyScript as a WASI command. */
export function moduleFromAssemblyScript(source: string): Uint8Array {
  const packages = join(import.meta.dirname, "../../node_modules");
  const compiler = join(packages, "assemblyscript/bin/asc.js");
  const library = relative(tmpdir(), join(packages, "@assemblyscript/wasi-shim/assembly"));
  const options = ["--lib", `../${library}`, "--use", "ASC_WASI=1", ...shimmed.flatMap((use) => ["--use", use])];
  const output = ["-o", "tool.wasm", "-O", "--exportStart", "_start"];
  return compile("tool.ts", source, [process.execPath, compiler, "tool.ts", ...output, ...options]);
}

const compiled = new Map<string, Uint8Array>();

/** Compiles once what several tests use. */
function compile(file: string, source: string, command: readonly string[]): Uint8Array {
  const bytes = compiled.get(source) ?? runCompiler(file, source, command);
  compiled.set(source, bytes);
  return bytes;
}

function runCompiler(file: string, source: string, [program = "", ...args]: readonly string[]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-compile-"));
  try {
    writeFileSync(join(folder, file), source);
    execFileSync(program, args, { cwd: folder });
    return readFileSync(join(folder, "tool.wasm"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes a module into a folder, and says where it is. */
export function writeModule(directory: string, bytes: Uint8Array, path = "tool.wasm"): WasmCode {
  writeFileSync(join(directory, path), bytes);
  return { kind: "wasm", directory, path, digest: `sha256:${hash("sha256", bytes)}` };
}
