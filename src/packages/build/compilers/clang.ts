import { basename, dirname, join } from "node:path";

import type { Language } from "../languages.ts";
import type { Build, Compiler, CompilerCommand, CompilerKind, CompilerSearch } from "./compiler.ts";
import { identityOf, isThere, toOwnPath } from "./installation.ts";

/** Newest first, after the plain name that other systems than Debian have. */
const suffixes = ["", "-22", "-21", "-20", "-19", "-18", "-17", "-16", "-15", "-14"];

/** Where the C library for WASI is: Debian's `wasi-libc`, or that of other systems. */
const sysroots = ["/usr", "/usr/share/wasi-sysroot"];

/** Clang with the C library for WASI. */
export const clang: CompilerKind = {
  languages: ["c", "c++"],
  toCure: (language) =>
    `apt install clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32${language === "c++" ? " libc++-19-dev-wasm32 libc++abi-19-dev-wasm32" : ""}`,
  async find(language, search) {
    const sysroot = sysroots.find((folder) => hasLibrary(folder, language));
    if (sysroot === undefined) return undefined;
    for (const suffix of suffixes) {
      const program = search.findProgram(`${language === "c" ? "clang" : "clang++"}${suffix}`);
      const found = program === undefined ? undefined : await look(program, search);
      if (program !== undefined && found !== undefined) return toCompiler(language, program, { ...found, sysroot });
    }
    return undefined;
  },
};

function hasLibrary(sysroot: string, language: Language): boolean {
  const headers = join(sysroot, "include/wasm32-wasi");
  return isThere(join(sysroot, "lib/wasm32-wasi/libc.a")) && isThere(language === "c" ? headers : join(headers, "c++"));
}

interface Found {
  /** Where it is started. */
  readonly own: string;
  readonly linker: string;
  readonly version: string;
}

/** A Clang that has no linker or no runtime library for WebAssembly compiles nothing to the end. */
async function look(program: string, { ask, findProgram }: CompilerSearch): Promise<Found | undefined> {
  const own = toClang(program);
  const needs = { programs: [program], mounts: [] };
  const beside = join(dirname(own), "wasm-ld");
  const linker = isThere(beside) ? beside : findProgram("wasm-ld");
  const [about, library] = await Promise.all([
    ask([own, "--version"], needs),
    ask([own, "--target=wasm32-wasi", "--print-libgcc-file-name"], needs),
  ]);
  const version = /version (\d\S*)/u.exec(about ?? "")?.[1];
  const isWhole = linker !== undefined && isThere((library ?? "").trim());
  return version !== undefined && isWhole ? { own, linker, version } : undefined;
}

/** It is named by what it shall compile, and beside it are its linker and its libraries. */
function toClang(program: string): string {
  const own = toOwnPath(program);
  return own === program ? own : join(dirname(own), basename(program).replace(/-\d+$/u, ""));
}

function toCompiler(language: Language, program: string, found: Found & { readonly sysroot: string }): Compiler {
  return {
    language,
    program: basename(program),
    version: found.version,
    identity: [program, join(found.sysroot, "lib/wasm32-wasi/libc.a")].map(identityOf).join(" "),
    programs: [program, found.linker],
    mounts: [],
    toCommand: (build) => toCommand(language, found, build),
  };
}

function toCommand(
  language: Language,
  { own, linker, sysroot }: Found & { readonly sysroot: string },
  { source, output }: Build,
): CompilerCommand {
  const target = [
    "--target=wasm32-wasi",
    `--sysroot=${sysroot}`,
    `-fuse-ld=${linker}`,
    "-Os",
    "-Wl,--strip-all",
    "-fno-color-diagnostics",
  ];
  // The standard library of C++ for WASI is built without exceptions.
  const dialect = language === "c++" ? ["-fno-exceptions"] : [];
  return { argv: [own, ...target, ...dialect, source, "-o", output] };
}
