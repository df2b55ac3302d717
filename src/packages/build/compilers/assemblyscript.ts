import { realpathSync } from "node:fs";
import { join, relative } from "node:path";

import type { Build, CompilerCommand, CompilerKind } from "./compiler.ts";
import { atSamePlace, findPackage, versionOf } from "./installation.ts";

/** The names of the shim that stand for those of the standard library. */
const uses = ["abort", "trace", "seed", "console", "crypto", "performance", "process", "Date"];

/** The AssemblyScript compiler, which is an npm package, with its library for WASI. */
export const assemblyscript: CompilerKind = {
  languages: ["assemblyscript"],
  toCure: () => "npm install --save-dev assemblyscript@0.28.20 @assemblyscript/wasi-shim@0.1.0",
  async find(_language, { packagesFrom }) {
    const found = ["assemblyscript", "@assemblyscript/wasi-shim"].map((name) => findPackage(name, packagesFrom));
    const [compiler, shim] = found.map((folder) => folder && realpathSync(folder));
    if (compiler === undefined || shim === undefined) return undefined;
    const imports = ["binaryen", "long"]
      .map((name) => findPackage(name, [compiler]))
      .filter((one) => one !== undefined);
    if (imports.length < 2) return undefined;
    return {
      language: "assemblyscript",
      program: "asc",
      version: versionOf(compiler),
      identity: [compiler, shim, ...imports].map((folder) => `${folder}@${versionOf(folder)}`).join(" "),
      programs: [],
      mounts: [
        ...[process.execPath, compiler, shim].map(atSamePlace),
        // Node looks for what a file imports beside it, where there may be a link.
        ...imports.map((folder) => ({ source: realpathSync(folder), target: folder })),
      ],
      toCommand: (build) => toCommand(compiler, shim, build),
    };
  },
};

function toCommand(compiler: string, shim: string, { source, output, directory }: Build): CompilerCommand {
  const flags = [
    // An absolute path is not taken for one here.
    ...["--lib", relative(directory, join(shim, "assembly"))],
    ...["ASC_WASI=1", ...uses.map((name) => `${name}=wasi_${name}`)].flatMap((use) => ["--use", use]),
    ...["--exportStart", "_start", "--runtime", "incremental", "-O", "--noColors"],
  ];
  return { argv: [process.execPath, join(compiler, "bin/asc.js"), source, "--outFile", output, ...flags] };
}
