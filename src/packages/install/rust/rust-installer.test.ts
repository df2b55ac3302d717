import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { expect, test, type TestContext } from "vitest";

import {
  leftovers,
  openDependencies,
  openTestIndex,
  problemOf,
  runInside,
} from "../../../../test/support/dependency-bench.ts";
import { makeCrate, type Crate } from "../../../../test/support/make-packages.ts";
import { createFolder } from "../../../../test/support/temporary-folder.ts";
import type { PreparedDependencies, RustRequest } from "../dependency-request.ts";
import { indexOf, vendoredCrates } from "./rust-installer.ts";

const half = makeCrate("half", "pub fn half(number: i32) -> i32 { number / 2 }\n");

test("prepare() fetches the crates that a Cargo.lock names, for Cargo to build with offline", async (context) => {
  const cargo = needCargo(context);
  const { index } = await openTestIndex({ crates: [half] });
  const dependencies = await openDependencies({ index });

  const wanted = request(cargo, half);

  const prepared = await dependencies.prepare(wanted);

  const [mount] = prepared.mounts;
  expect(mount?.target).toBe("/opt/packages/rust");
  expect(readFileSync(join(mount?.source ?? "", "half-1.0.0/src/lib.rs"), "utf8")).toContain("pub fn half");
  expect(await describePackage(wanted, prepared)).toContain("/opt/packages/rust/half-1.0.0/Cargo.toml");
  expect(prepared.lock?.packages).toMatchObject([{ name: "half", version: "1.0.0" }]);
  expect(leftovers(dependencies.home)).toEqual([]);
});

test.for(["https://index.crates.io", "https://index.crates.io/", "https://crates.example/index"])(
  "indexOf() tells Cargo of the index %s in a way that it takes",
  (url, context) => {
    const { cargo, directory } = request(needCargo(context), half);
    const words = ["vendor", "--locked", "--offline", "--respect-source-config", ...indexOf(url)];
    const home = createFolder();
    const env = { PATH: dirname(cargo), HOME: home, CARGO_HOME: home, RUSTC: join(dirname(cargo), "rustc") };

    const { status, stderr } = spawnSync(cargo, words, { cwd: directory, env, encoding: "utf8" });

    // It gets as far as the network, which it may not use here.
    expect(status).not.toBe(0);
    expect(stderr).not.toContain("already defined");
    expect(stderr).toContain("--offline");
  },
);

test("prepare() refuses a crate that is not the one that was locked", async (context) => {
  const cargo = needCargo(context);
  const { index } = await openTestIndex({ crates: [makeCrate("half", "evil!();")] });
  const dependencies = await openDependencies({ index });

  expect(await problemOf(dependencies.prepare(request(cargo, half)))).toMatchObject({ problem: "hash" });
});

test("prepare() says that a crate is not on the index", async (context) => {
  const cargo = needCargo(context);
  const dependencies = await openDependencies({ index: (await openTestIndex({})).index });

  expect(await problemOf(dependencies.prepare(request(cargo, half)))).toMatchObject({ problem: "not-found" });
});

test("prepare() needs nothing for a Rust tool without crates, and refuses one without a lock", async () => {
  const dependencies = await openDependencies({ offline: true });
  const plain = createFolder({ "Cargo.lock": 'version = 3\n[[package]]\nname = "tool"\nversion = "0.1.0"\n' });
  const bare = createFolder({ "Cargo.toml": "" });

  expect(await dependencies.prepare({ language: "rust", cargo: "/usr/bin/cargo", directory: plain })).toEqual({
    mounts: [],
    environment: {},
  });
  await expect(dependencies.prepare({ language: "rust", cargo: "/usr/bin/cargo", directory: bare })).rejects.toThrow(
    "cargo generate-lockfile",
  );
});

test("prepare() says that a Cargo without sparse indexes is too old", async (context) => {
  const isOld = existsSync("/usr/bin/cargo") && versionOf("/usr/bin/cargo") < 68;
  context.skip(!isOld, "the Cargo of this machine is not old");
  const { index } = await openTestIndex({ crates: [half] });
  const dependencies = await openDependencies({ index });

  const found = await problemOf(dependencies.prepare(request("/usr/bin/cargo", half)));

  expect(found).toMatchObject({ problem: "installer-missing", reason: "/usr/bin/cargo is too old" });
});

/** A Cargo that can fetch; the ones of common systems are older. */
function needCargo({ skip }: Pick<TestContext, "skip">): string {
  const candidates = ["/usr/bin/cargo", ...globSync(join(homedir(), ".rustup/toolchains/*/bin/cargo"))];
  const cargo = candidates.find((path) => existsSync(path) && versionOf(path) >= 68);
  skip(cargo === undefined, "there is no Cargo of version 1.68 or newer on this machine");
  return cargo ?? "";
}

/** What Cargo says about a package that it has no network for. */
async function describePackage({ cargo, directory }: RustRequest, { mounts }: PreparedDependencies): Promise<string> {
  const prefix = dirname(dirname(cargo));
  const own = [
    { source: directory, target: "/skill", granted: true },
    { source: prefix, target: prefix },
  ];
  const environment = { CARGO_HOME: "/tmp/cargo", RUSTC: join(prefix, "bin/rustc") };
  const flags = ["--offline", "--locked", "--format-version", "1", "--manifest-path", "/skill/Cargo.toml"];
  const parts = { mounts: [...mounts, ...own], environment, programs: [] };
  return runInside(parts, [cargo, "metadata", ...vendoredCrates("/opt/packages/rust"), ...flags]);
}

function versionOf(cargo: string): number {
  return Number(/cargo 1\.(\d+)/u.exec(execFileSync(cargo, ["--version"], { encoding: "utf8" }))?.[1]);
}

function request(cargo: string, { name, version, bytes }: Crate): RustRequest {
  const checksum = createHash("sha256").update(bytes).digest("hex");
  const source = "registry+https://github.com/rust-lang/crates.io-index";
  const directory = createFolder({
    "src/main.rs": "fn main() {}\n",
    "Cargo.toml": `[package]\nname = "tool"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n${name} = "1"\n`,
    "Cargo.lock": [
      "version = 3",
      `[[package]]\nname = "${name}"\nversion = "${version}"\nsource = "${source}"\nchecksum = "${checksum}"`,
      `[[package]]\nname = "tool"\nversion = "0.1.0"\ndependencies = ["${name}"]\n`,
    ].join("\n\n"),
  });
  return { language: "rust", cargo, directory };
}
