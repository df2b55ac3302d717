import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { Build, CompilerCommand, CompilerKind } from "./compiler.ts";
import { atSamePlace, identityOf } from "./installation.ts";

/** The target `wasip1` is there since TinyGo 0.32. */
const oldestMinor = 32;

/** TinyGo, where there is no Go that is new enough. Its modules are much smaller. */
export const tinygo: CompilerKind = {
  languages: ["go"],
  toCure: () => "install TinyGo 0.32 or newer: https://tinygo.org/getting-started/install",
  async find(_language, { findProgram, ask }) {
    const [program, helper] = [findProgram("tinygo"), findProgram("go")];
    if (program === undefined) return undefined;
    const own = realpathSync(program);
    const root = dirname(dirname(own));
    const mounts = own.startsWith("/usr/") ? [] : [atSamePlace(root)];
    const programs = [program, ...(helper === undefined ? [] : [helper])];
    const about = await ask([own, "version"], { programs, mounts });
    const [, version, major = "0", minor = "0"] = /tinygo version ((\d+)\.(\d+)\S*)/u.exec(about ?? "") ?? [];
    if (version === undefined || (major === "0" && Number(minor) < oldestMinor)) return undefined;
    return {
      language: "go",
      program: "tinygo",
      version,
      identity: identityOf(own),
      programs,
      mounts,
      toCommand: (build) => toCommand(own, root, build),
    };
  },
};

function toCommand(own: string, root: string, { source, output, scratch }: Build): CompilerCommand {
  const isModule = basename(source) === "go.mod";
  const flags = ["build", "-target=wasip1", "-no-debug", "-o", output];
  // A module is built from its own folder.
  const inFolder = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', dirname(source), own, ...flags, "."];
  return {
    argv: isModule ? inFolder : [own, ...flags, source],
    ...(isModule && { folder: dirname(source) }),
    environment: {
      ...(own.startsWith("/usr/") ? {} : { TINYGOROOT: root }),
      HOME: scratch,
      GOCACHE: join(scratch, "go-cache"),
      GOPATH: join(scratch, "go"),
      GOENV: "off",
      ...(isModule && { GOFLAGS: "-mod=vendor" }),
      GOPROXY: "off",
      GOTOOLCHAIN: "local",
    },
  };
}
