import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { vendoredCrates } from "../../install/rust/rust-installer.ts";
import type { Build, Compiler, CompilerCommand, CompilerKind, CompilerSearch } from "./compiler.ts";
import { atSamePlace, identityOf, isThere, toOwnPath } from "./installation.ts";

/** The name of the target since Rust 1.84, and before. */
const targets = ["wasm32-wasip1", "wasm32-wasi"];

/** rustc, and cargo for sources that are a `Cargo.toml`, each with the standard library for WASI. */
export const rust: CompilerKind = {
  languages: ["rust"],
  toCure: () => "apt install rustc cargo libstd-rust-dev-wasm32 lld-14, or: rustup target add wasm32-wasip1",
  async find(_language, search) {
    for (const toolchain of findToolchains(search)) {
      const compiler = await toCompiler(toolchain, search);
      if (compiler !== undefined) return compiler;
    }
    return undefined;
  },
};

interface Toolchain {
  readonly root: string;
  readonly rustc: string;
  readonly target: string;
}

/** The system's own, then those of rustup; each only if it can make WASI modules. What is in `PATH` may be rustup's proxy. */
function findToolchains({ findProgram, home }: CompilerSearch): Toolchain[] {
  const system = findProgram("rustc");
  const roots = system === undefined ? [] : [dirname(dirname(system))];
  const rustup = join(home, ".rustup/toolchains");
  if (isThere(rustup)) roots.push(...readdirSync(rustup).map((name) => join(rustup, name)));
  return roots.flatMap((root) => {
    const rustc = join(root, "bin/rustc");
    const target = targets.find((name) => isThere(join(root, "lib/rustlib", name, "lib")));
    return target === undefined || !isThere(rustc) ? [] : [{ root, rustc, target }];
  });
}

async function toCompiler(toolchain: Toolchain, search: CompilerSearch): Promise<Compiler | undefined> {
  const { root, rustc, target } = toolchain;
  const isSystem = root === "/usr";
  const cargo = isThere(join(root, "bin/cargo")) ? join(root, "bin/cargo") : undefined;
  const programs = isSystem ? [rustc, ...(cargo === undefined ? [] : [cargo])] : [];
  const mounts = isSystem ? [] : [atSamePlace(root)];
  const about = await search.ask([rustc, "-vV"], { programs, mounts });
  const version = /^release: (\S+)$/mu.exec(about ?? "")?.[1];
  if (version === undefined) return undefined;
  const linker = findLinker(toolchain, /^LLVM version: (\d+)/mu.exec(about ?? "")?.[1], search);
  if (linker === undefined) return undefined;
  const host = /^host: (\S+)$/mu.exec(about ?? "")?.[1] ?? "unknown";
  return {
    language: "rust",
    program: "rustc",
    version,
    identity: `${identityOf(rustc)} ${target} ${linker}`,
    programs,
    mounts,
    toCommand: (build) =>
      basename(build.source) === "Cargo.toml"
        ? cargoCommand({ rustc, cargo, host, target, linker }, build)
        : rustcCommand({ rustc, target, linker }, build),
    findCargo: () => findFetcher(cargo, search),
    explain: (messages) => explainCargo(messages, version),
  };
}

/** The first minor version of Cargo that reads an index without a copy of all of it. */
const sparseSince = 68;

/** Which Cargo fetches need not be the one that builds: that of the system is often too old for it. */
async function findFetcher(own: string | undefined, { home, ask }: CompilerSearch): Promise<string | undefined> {
  const rustup = join(home, ".rustup/toolchains");
  const others = isThere(rustup) ? readdirSync(rustup).map((name) => join(rustup, name, "bin/cargo")) : [];
  for (const cargo of [own, ...others]) {
    if (cargo === undefined || !isThere(cargo)) continue;
    const root = dirname(dirname(cargo));
    const needs = root === "/usr" ? { programs: [cargo], mounts: [] } : { programs: [], mounts: [atSamePlace(root)] };
    const [, minor] = /^cargo 1\.(\d+)/u.exec((await ask([cargo, "--version"], needs)) ?? "") ?? [];
    if (Number(minor) >= sparseSince) return cargo;
  }
  return own;
}

/** Cargo speaks of flags that we gave it, and of lock files by their number. */
function explainCargo(messages: string, version: string): string | undefined {
  const [, crate] = /no matching package named `([^`]+)` found/u.exec(messages) ?? [];
  if (crate !== undefined) {
    return `the crate "${crate}" is not in the package; write it into Cargo.lock (cargo generate-lockfile), or run cargo vendor again:`;
  }
  if (/lock file version \S+ (?:requires|was found)|does not understand this lock file/u.test(messages)) {
    return `Cargo.lock was written by a newer Cargo than ${version}, which is what builds here; set "version = 3" in it, or install a newer Rust (rustup target add wasm32-wasip1):`;
  }
  return undefined;
}

/** Its own linker, or one of the very LLVM that it was made with: a newer one does not read its libraries. */
function findLinker({ root }: Toolchain, llvm: string | undefined, search: CompilerSearch): string | undefined {
  const own = readdirSync(join(root, "lib/rustlib"))
    .map((name) => join(root, "lib/rustlib", name, "bin/rust-lld"))
    .find(isThere);
  if (own !== undefined) return own;
  const program = search.findProgram(`wasm-ld-${llvm}`) ?? search.findProgram("wasm-ld");
  return program === undefined ? undefined : join(dirname(toOwnPath(program)), "wasm-ld");
}

interface RustTools {
  readonly rustc: string;
  /** What this machine is called by Rust. */
  readonly host: string;
  readonly target: string;
  readonly linker: string;
}

const optimised = ["opt-level=s", "panic=abort", "lto=fat", "codegen-units=1", "strip=symbols"];

function rustcCommand({ rustc, target, linker }: Omit<RustTools, "host">, { source, output }: Build): CompilerCommand {
  const options = [...optimised, `linker=${linker}`].flatMap((option) => ["-C", option]);
  const flags = ["--target", target, "--edition", "2021", "--crate-name", "tool", "--color", "never", ...options];
  return { argv: [rustc, ...flags, source, "-o", output] };
}

/** Shown as the linker that is missing, when a package wants to run code of its own while it is built. */
const noLinker = "for build scripts and procedural macros, which do not run here,";

/**
 * Builds a copy, because Cargo writes beside its sources, and takes the only module that comes out, because Cargo names it. It runs
 * in the package's own folder: only there Cargo reads the configuration that says where crates are vendored.
 */
const cargoScript = `
cp -R . "$SCRATCH/skill" && cd "$SCRATCH/skill/$FOLDER" && "$@" || exit 1
set -- "$MODULES"/*.wasm
[ -e "$1" ] || { echo "error: the package has no program; it needs a src/main.rs" >&2; exit 1; }
[ $# -eq 1 ] || { echo "error: the package has more than one program; keep one" >&2; exit 1; }
exec mv -- "$1" "$OUTPUT"`;

function cargoCommand(tools: RustTools & { readonly cargo: string | undefined }, build: Build): CompilerCommand {
  const { cargo = "cargo", rustc, host, target, linker } = tools;
  const { source, scratch, output, crates } = build;
  const flags = ["--release", "--offline", "--target", target, "--color", "never", "--quiet"];
  // Cargo decides itself how libraries are linked.
  const options = [...optimised.filter((option) => option !== "lto=fat"), `linker=${linker}`];
  const folder = dirname(source).replace(/^\.\//u, "");
  return {
    argv: [
      "/bin/sh",
      "-c",
      cargoScript,
      "cargo",
      cargo,
      "build",
      ...flags,
      ...(crates === undefined ? [] : vendoredCrates(crates)),
    ],
    environment: {
      RUSTC: rustc,
      RUSTFLAGS: options.map((option) => `-C ${option}`).join(" "),
      CARGO_PROFILE_RELEASE_LTO: "fat",
      [`CARGO_TARGET_${host.replaceAll("-", "_").toUpperCase()}_LINKER`]: noLinker,
      CARGO_HOME: join(scratch, "cargo"),
      CARGO_TARGET_DIR: join(scratch, "target"),
      MODULES: join(scratch, "target", target, "release"),
      SCRATCH: scratch,
      FOLDER: folder,
      OUTPUT: output,
    },
    ...(folder !== "." && { folder }),
  };
}
