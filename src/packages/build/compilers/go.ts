import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { Build, CompilerCommand, CompilerKind } from "./compiler.ts";
import { atSamePlace, identityOf } from "./installation.ts";

/** WASI is a target of Go since 1.21. */
const oldest = [1, 21] as const;

/** Go, 1.21 or newer. A source that is a `go.mod` is built with the whole module, which must be vendored. */
export const go: CompilerKind = {
  languages: ["go"],
  toCure: () =>
    "apt install golang-1.23-go (Debian 12: from bookworm-backports), or see https://go.dev/dl; 1.21 or newer",
  async find(_language, { findProgram, ask }) {
    for (const name of ["go", "/usr/local/go/bin/go", "/usr/lib/go-1.24/bin/go", "/usr/lib/go-1.23/bin/go"]) {
      const program = findProgram(name);
      if (program === undefined) continue;
      const own = realpathSync(program);
      const root = dirname(dirname(own));
      const mounts = own.startsWith("/usr/lib/") ? [] : [atSamePlace(root)];
      const about = await ask([own, "version"], { programs: [], mounts });
      const [, version, major = "0", minor = "0"] = /go((\d+)\.(\d+)\S*)/u.exec(about ?? "") ?? [];
      if (version === undefined || Number(major) !== oldest[0] || Number(minor) < oldest[1]) continue;
      return {
        language: "go",
        program: "go",
        version,
        identity: identityOf(own),
        programs: [],
        mounts,
        toCommand: (build) => toCommand(own, root, build),
      };
    }
    return undefined;
  },
};

function toCommand(own: string, root: string, { source, output, scratch }: Build): CompilerCommand {
  const isModule = basename(source) === "go.mod";
  const flags = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", output];
  return {
    argv: isModule ? [own, "-C", dirname(source), "build", ...flags, "."] : [own, "build", ...flags, source],
    environment: {
      GOROOT: root,
      GOOS: "wasip1",
      GOARCH: "wasm",
      CGO_ENABLED: "0",
      GOCACHE: join(scratch, "go-cache"),
      GOPATH: join(scratch, "go"),
      GOENV: "off",
      GOPROXY: "off",
      GOTOOLCHAIN: "local",
      GOTELEMETRY: "off",
    },
  };
}
