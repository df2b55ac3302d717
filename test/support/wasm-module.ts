import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
  const folder = mkdtempSync(join(tmpdir(), "kitbag-c-"));
  try {
    writeFileSync(join(folder, "tool.c"), source);
    const target = ["--target=wasm32-wasi", "--sysroot=/usr", "-Os"];
    execFileSync("clang-19", [...target, "tool.c", "-o", "tool.wasm"], { cwd: folder });
    return readFileSync(join(folder, "tool.wasm"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compiles AssemblyScript as a WASI command. */
export async function moduleFromAssemblyScript(source: string): Promise<Uint8Array> {
  const { main } = await import("assemblyscript/asc");
  let bytes: Uint8Array | undefined;
  const config = "node_modules/@assemblyscript/wasi-shim/asconfig.json";
  const args = ["tool.ts", "--outFile", "tool.wasm", "-O", "--config", config];
  const { error, stderr } = await main(args, {
    readFile: (name) => (name === "tool.ts" ? source : existsSync(name) ? readFileSync(name, "utf8") : null),
    writeFile: (name, content) => {
      if (name === "tool.wasm") bytes = content as Uint8Array;
    },
    listFiles: () => [],
  });
  if (bytes === undefined) throw error ?? new Error(stderr.toString());
  return bytes;
}

/** Writes a module into a folder, and says where it is. */
export function writeModule(directory: string, bytes: Uint8Array, path = "tool.wasm"): WasmCode {
  writeFileSync(join(directory, path), bytes);
  return { kind: "wasm", directory, path, digest: `sha256:${hash("sha256", bytes)}` };
}
