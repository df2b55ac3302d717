import { createHash } from "node:crypto";

import { afterAll, beforeAll, expect, test, vi, type TestContext } from "vitest";

import { createBuildPlace, needCompiler } from "../../../test/support/build-kit.ts";
import { openTestIndex } from "../../../test/support/dependency-bench.ts";
import { makeCrate } from "../../../test/support/make-packages.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { createDependencies, type DependenciesOptions } from "../install/create-dependencies.ts";
import { createSearch, findCompiler } from "./find-compilers.ts";

// Compilers take seconds, and longer where other tests run beside them.
vi.setConfig({ testTimeout: 120_000 });

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await findSandbox();
});
afterAll(() => sandbox.close());

const half = makeCrate("half", "pub fn half(number: i32) -> i32 { number / 2 }\n");
const manifest = '[package]\nname = "tool"\nversion = "0.1.0"\nedition = "2021"\n';
const lock = [
  "version = 3",
  `[[package]]\nname = "half"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"`,
  `checksum = "${createHash("sha256").update(half.bytes).digest("hex")}"\n`,
  '[[package]]\nname = "tool"\nversion = "0.1.0"\ndependencies = ["half"]\n',
].join("\n");
const files = {
  "crate/Cargo.toml": `${manifest}[dependencies]\nhalf = "1"\n`,
  "crate/Cargo.lock": lock,
  "crate/src/main.rs": 'fn main() { println!("{{\\"half\\":{}}}", half::half(84)); }\n',
};

test("buildTool() fetches the crates of a Cargo.lock from the index, once, and builds with them offline", async (context) => {
  await needFetcher(context);
  const { index, asked } = await openTestIndex({ crates: [half] });
  const dependencies = openDependencies({ index });
  const steps: string[] = [];

  const place = createBuildPlace(sandbox, files);
  const built = await place.build("crate/Cargo.toml", { dependencies, onProgress: ({ step }) => steps.push(step) });
  const count = asked.length;
  const other = createBuildPlace(sandbox, {
    ...files,
    "crate/src/main.rs": 'fn main() { print!("{}", half::half(2)) }',
  });
  await other.build("crate/Cargo.toml", { dependencies });

  expect(built).toMatchObject({ status: "built", language: "rust" });
  expect(await place.call({})).toMatchObject({ status: "ok", output: { half: 42 } });
  expect([steps[0], steps.at(-1)]).toEqual(["fetch", "compile"]);
  expect([count > 0, asked.length]).toEqual([true, count]);
});

test("buildTool() takes the crates that a package has vendored, and asks no index", async (context) => {
  await needCompiler(context, sandbox, "rust");
  const { index, asked } = await openTestIndex({});
  const checksum = createHash("sha256").update(half.bytes).digest("hex");
  const place = createBuildPlace(sandbox, {
    ...files,
    "crate/.cargo/config.toml":
      '[source.crates-io]\nreplace-with = "vendored-sources"\n[source.vendored-sources]\ndirectory = "vendor"\n',
    "crate/vendor/half/Cargo.toml": '[package]\nname = "half"\nversion = "1.0.0"\nedition = "2021"\n',
    "crate/vendor/half/src/lib.rs": "pub fn half(number: i32) -> i32 { number / 2 }\n",
    "crate/vendor/half/.cargo-checksum.json": JSON.stringify({ files: {}, package: checksum }),
  });

  await place.build("crate/Cargo.toml", { dependencies: openDependencies({ index }) });

  expect(await place.call({})).toMatchObject({ status: "ok", output: { half: 42 } });
  expect(asked).toEqual([]);
});

test("buildTool() says how crates are locked, and that they are not there, in the tool's terms", async (context) => {
  await needCompiler(context, sandbox, "rust");
  const { "crate/Cargo.lock": _, ...unlocked } = files;
  const place = createBuildPlace(sandbox, unlocked);

  const failing = place.build("crate/Cargo.toml", { dependencies: openDependencies({ offline: true }) });

  await expect(failing).rejects.toThrow("there is no Cargo.lock beside it; make one with: cargo generate-lockfile");
  await expect(place.build("crate/Cargo.toml")).rejects.toThrow(
    'the crate "half" is not in the package; write it into',
  );
});

test("buildTool() says that crates which are not fetched yet need a network", async (context) => {
  await needFetcher(context);
  const place = createBuildPlace(sandbox, files);

  const failing = place.build("crate/Cargo.toml", { dependencies: openDependencies({ offline: true }) });

  await expect(failing).rejects.toMatchObject({ code: "dependency-failed", details: { problem: "offline" } });
});

function openDependencies(options: Partial<DependenciesOptions>) {
  return createDependencies({ sandbox, home: createFolder(), ...options });
}

/** Building takes a compiler, and fetching a Cargo that is newer than those of common systems. */
async function needFetcher(context: Pick<TestContext, "skip">): Promise<void> {
  await needCompiler(context, sandbox, "rust");
  const search = createSearch(sandbox);
  const cargo = await (await findCompiler("rust", search))?.findCargo?.();
  const prefix = cargo?.replace(/\/bin\/cargo$/u, "") ?? "";
  const mounts = prefix === "/usr" ? [] : [{ source: prefix, target: prefix }];
  const text = await search.ask([cargo ?? "", "--version"], { programs: prefix === "/usr" ? ["cargo"] : [], mounts });
  context.skip(!(Number(/1\.(\d+)/u.exec(text ?? "")?.[1]) >= 68), "there is no Cargo of version 1.68 or newer");
}
