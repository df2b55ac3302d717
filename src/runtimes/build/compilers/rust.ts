import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

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
  return {
    language: "rust",
    program: "rustc",
    version,
    identity: `${identityOf(rustc)} ${target} ${linker}`,
    programs,
    mounts,
    toCommand: (build) =>
      basename(build.source) === "Cargo.toml"
        ? cargoCommand({ rustc, cargo, target, linker }, build)
        : rustcCommand({ rustc, target, linker }, build),
  };
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
  readonly target: string;
  readonly linker: string;
}

const optimised = ["opt-level=s", "panic=abort", "lto=fat", "codegen-units=1", "strip=symbols"];

function rustcCommand({ rustc, target, linker }: RustTools, { source, output }: Build): CompilerCommand {
  const options = [...optimised, `linker=${linker}`].flatMap((option) => ["-C", option]);
  const flags = ["--target", target, "--edition", "2021", "--crate-name", "tool", "--color", "never", ...options];
  return { argv: [rustc, ...flags, source, "-o", output] };
}

/** Cargo names the module after the package, so the only one that there is is taken. Whatever it depends on must be vendored. */
function cargoCommand(tools: RustTools & { readonly cargo: string | undefined }, build: Build): CompilerCommand {
  const { cargo = "cargo", rustc, target, linker } = tools;
  const flags = [
    "--release",
    "--offline",
    "--target",
    target,
    "--manifest-path",
    build.source,
    "--color",
    "never",
    "--quiet",
  ];
  const script =
    '"$@" && set -- "$MODULES"/*.wasm && [ $# -eq 1 ] && exec mv -- "$1" "$OUTPUT"; [ $# -le 1 ] || echo "error: the package has more than one program; keep one" >&2; exit 1';
  return {
    argv: ["/bin/sh", "-c", script, "cargo", cargo, "build", ...flags],
    environment: {
      RUSTC: rustc,
      RUSTFLAGS: [...optimised.filter((option) => !option.startsWith("lto")), `linker=${linker}`]
        .map((option) => `-C ${option}`)
        .join(" "),
      CARGO_HOME: join(build.scratch, "cargo"),
      CARGO_TARGET_DIR: join(build.scratch, "target"),
      MODULES: join(build.scratch, "target", target, "release"),
      OUTPUT: build.output,
    },
  };
}
