import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Build, CompilerCommand, CompilerKind } from "./compiler.ts";
import { atSamePlace, identityOf } from "./installation.ts";

/** Emscripten, for C and C++ where there is no Clang with a C library for WASI. */
export const emscripten: CompilerKind = {
  languages: ["c", "c++"],
  toCure: () => "install the Emscripten SDK: https://emscripten.org/docs/getting_started/downloads.html",
  async find(language, { findProgram, ask }) {
    const program = findProgram(language === "c" ? "emcc" : "em++");
    if (program === undefined) return undefined;
    const own = realpathSync(program);
    const mounts = own.startsWith("/usr/") ? [] : [atSamePlace(dirname(own))];
    const about = await ask([own, "--version"], { programs: [program], mounts });
    const version = /emcc[^\n]*?(\d+\.\d+\.\d+)/u.exec(about ?? "")?.[1];
    if (version === undefined) return undefined;
    return {
      language,
      program: language === "c" ? "emcc" : "em++",
      version,
      identity: identityOf(own),
      programs: [program],
      mounts,
      toCommand: (build) => toCommand(own, build),
    };
  },
};

function toCommand(own: string, { source, output, scratch }: Build): CompilerCommand {
  return {
    // A module alone, which imports WASI and nothing of JavaScript.
    argv: [own, "-Os", "-sSTANDALONE_WASM", "-sFILESYSTEM=0", "-fno-exceptions", source, "-o", output],
    environment: { EM_CACHE: join(scratch, "em-cache"), EMCC_TEMP_DIR: scratch, HOME: scratch },
  };
}
