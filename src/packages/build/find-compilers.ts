import { homedir } from "node:os";

import { findProgram } from "../../sandbox/programs.ts";
import { type Sandbox, defaultLimits } from "../../sandbox/sandbox.ts";
import { assemblyscript } from "./compilers/assemblyscript.ts";
import { clang } from "./compilers/clang.ts";
import type { Compiler, CompilerKind, CompilerSearch } from "./compilers/compiler.ts";
import { emscripten } from "./compilers/emscripten.ts";
import { go } from "./compilers/go.ts";
import { javascript } from "./compilers/javascript.ts";
import { rust } from "./compilers/rust.ts";
import { tinygo } from "./compilers/tinygo.ts";
import { zig } from "./compilers/zig.ts";
import { type Language, languages } from "./languages.ts";
import { runSandboxed } from "./run-compiler.ts";

/** The compiler of a language on this machine, or how to get one. */
export type CompilerReport =
  | { readonly language: Language; readonly program: string; readonly version: string }
  | { readonly language: Language; readonly cure: string };

/** What {@link findCompilers} looks through. */
export interface FindCompilersOptions {
  /** Compilers are asked for their version inside of it. */
  readonly sandbox: Sandbox;
  /** Folders in whose `node_modules`, or above, compilers may be installed. */
  readonly packagesFrom?: readonly string[];
}

/** Finds the compilers of all languages that tools can be built from. */
export function findCompilers({ sandbox, packagesFrom = [] }: FindCompilersOptions): Promise<CompilerReport[]> {
  const search = createSearch(sandbox, packagesFrom);
  return Promise.all(
    languages.map(async (language) => {
      const found = await findCompiler(language, search);
      if (found === undefined) return { language, cure: toCure(language) };
      return { language, program: found.program, version: found.version };
    }),
  );
}

/** Finds the compiler that is used for a language. */
export async function findCompiler(language: Language, search: CompilerSearch): Promise<Compiler | undefined> {
  for (const kind of compilerKinds) {
    const found = kind.languages.includes(language) ? await kind.find(language, search) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** How to get a compiler of a language. */
export function toCure(language: Language): string {
  const first = compilerKinds.find(({ languages }) => languages.includes(language));
  return first === undefined ? "Kitbag knows no compiler for it" : first.toCure(language);
}

/** The compilers that Kitbag knows; for each language the first that is there is used. */
const compilerKinds: readonly CompilerKind[] = [clang, emscripten, rust, assemblyscript, zig, go, tinygo, javascript];

const askLimitMs = 20_000;
const askBytes = 64 * 1024;

/** Looks for compilers on this machine; for those that are npm packages in `packagesFrom`, and where Kitbag itself is installed. */
export function createSearch(sandbox: Sandbox, packagesFrom: readonly string[] = []): CompilerSearch {
  return {
    findProgram,
    home: homedir(),
    packagesFrom: [...packagesFrom, import.meta.dirname],
    async ask(command, { programs, mounts }) {
      const limits = { ...defaultLimits, memoryBytes: 1024 * 1024 * 1024 };
      const profile = { mounts, programs, environment: {}, limits };
      const { exit, stdout } = await runSandboxed({
        sandbox,
        profile,
        command,
        limitMs: askLimitMs,
        maxBytes: askBytes,
      });
      return exit.code === 0 ? new TextDecoder().decode(stdout) : undefined;
    },
  };
}
