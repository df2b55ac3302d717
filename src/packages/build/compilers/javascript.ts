import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";

import type { Build, CompilerCommand, CompilerKind } from "./compiler.ts";
import { atSamePlace, findPackage, versionOf } from "./installation.ts";

/** Checks the tool, merges it with the engine, and throws out what is never called. */
const script = `
"$NODE" "$PROGRAM" "$ENGINE" "$1" "$SCRATCH" &&
"$NODE" "$BINARYEN/bin/wasm-merge" "$ENGINE/quickjs.wasm" engine "$SCRATCH/glue.wat" env -o "$SCRATCH/merged.wasm" $FEATURES &&
exec "$NODE" "$BINARYEN/bin/wasm-metadce" "$SCRATCH/merged.wasm" --graph-file "$SCRATCH/roots.json" -o "$OUTPUT" $FEATURES >/dev/null`;

/** The QuickJS engine, which comes with Kitbag, and Binaryen, which comes with AssemblyScript, to put a tool into it. */
export const javascript: CompilerKind = {
  languages: ["javascript"],
  toCure: () => "npm install --save-dev assemblyscript@0.28.20 (its Binaryen merges the tool with the QuickJS engine)",
  async find(_language, { packagesFrom }) {
    const compiler = findPackage("assemblyscript", packagesFrom);
    const found = [
      findPackage("quickjs-wasi", packagesFrom),
      findPackage("binaryen", [...(compiler === undefined ? [] : [realpathSync(compiler)]), ...packagesFrom]),
    ];
    const [engine, binaryen] = found.map((folder) => folder && realpathSync(folder));
    if (engine === undefined || binaryen === undefined) return undefined;
    const folder = join(import.meta.dirname, "../inside");
    return {
      language: "javascript",
      program: "quickjs",
      version: versionOf(engine),
      identity: `${engine} ${binaryen}@${versionOf(binaryen)}`,
      programs: [],
      mounts: [process.execPath, engine, binaryen, folder].map(atSamePlace),
      toCommand: (build) => toCommand({ engine, binaryen, folder }, build),
    };
  },
};

interface Folders {
  readonly engine: string;
  readonly binaryen: string;
  readonly folder: string;
}

function toCommand({ engine, binaryen, folder }: Folders, { source, output, scratch }: Build): CompilerCommand {
  const names = ["build-javascript.js", "build-javascript.ts"];
  const program = names.map((name) => join(folder, name)).find((path) => existsSync(path)) ?? "";
  return {
    argv: ["/bin/sh", "-c", script, "javascript", source],
    environment: {
      NODE: process.execPath,
      PROGRAM: program,
      ENGINE: engine,
      BINARYEN: binaryen,
      SCRATCH: scratch,
      OUTPUT: output,
      FEATURES: "--enable-bulk-memory --enable-multivalue --enable-mutable-globals",
    },
  };
}
