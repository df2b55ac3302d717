import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { openTestIndex } from "../../../test/support/dependency-bench.ts";
import { makeCrate, makeNpmPackage, makeWheel } from "../../../test/support/make-packages.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";

vi.setConfig({ testTimeout: 120_000 });

const wheel = makeWheel({ name: "hello" });
const script = '# /// script\n# dependencies = ["hello"]\n# ///\nimport hello\nprint("installed")\n';

test("kitbag call installs from the folder that KITBAG_WHEELHOUSE or a trusted configuration names", async (context) => {
  needProgram(context, "python3");
  const project = createProject({ ...skillFiles("skills/greeter"), "skills/greeter/scripts/greet.py": script });
  const call = ["call", "greeter/greet", "--skills", "skills"];
  writeFileSync(project.write(`wheels/${wheel.file}`, ""), wheel.bytes);

  const missing = await runKitbag(call, { project, env: { KITBAG_WHEELHOUSE: "gone" } });
  const offline = await runKitbag(call, { project, env: { KITBAG_OFFLINE: "1" } });
  project.write("kitbag.config.json", JSON.stringify({ packages: { wheelhouse: "wheels" } }));
  const untrusted = await runKitbag(call, { project });
  await runKitbag(["trust", "."], { project });
  const configured = await runKitbag(call, { project });

  expect(missing).toMatchObject({ code: 2 });
  expect(missing.stderr).toContain("Cannot use KITBAG_WHEELHOUSE: found");
  expect(offline.stderr).toContain("there is no network; run once with a network, or give a folder of packages");
  expect(untrusted).toMatchObject({ code: 1, stdout: "" });
  expect(untrusted.stderr).toContain("kitbag trust");
  expect(configured).toMatchObject({ code: 0, stdout: "installed\n" });
});

test("kitbag grant --package installs what a script imports and nothing declares, outside the skill's folder", async (context) => {
  needProgram(context, "python3");
  const tarball = makeNpmPackage({ name: "nodding", files: { "index.cjs": "exports.nod = 'nodded';" } });
  const project = createProject({
    "skills/mixed/SKILL.md": "---\nname: mixed\ndescription: Greets and nods\n---\nRun them.\n",
    "skills/mixed/scripts/greet.py": 'import hello\nprint("installed")\n',
    "skills/mixed/scripts/nod.cjs": 'console.log(require("nodding").nod);\n',
  });
  for (const { file, bytes } of [wheel, tarball]) writeFileSync(project.write(`wheels/${file}`, ""), bytes);
  const env = { KITBAG_WHEELHOUSE: "wheels" };
  const run = async (...words: string[]) => runKitbag([...words, "--skills", "skills"], { project, env });

  const before = await run("call", "mixed/greet");
  await run("grant", "mixed", "--package", "hello", "--package", "npm:nodding");
  const python = await run("call", "mixed/greet");
  const node = await run("call", "mixed/nod");

  expect(before.stderr).toContain(
    "anyone can publish one; if you know that it is right: kitbag grant mixed --package hello",
  );
  expect(python).toMatchObject({ code: 0, stdout: "installed\n" });
  expect(node).toMatchObject({ code: 0, stdout: "nodded\n" });
  expect(readdirSync(join(project.folder, "skills/mixed"), { recursive: true })).toHaveLength(4);
});

test("kitbag call runs each script of a skill for which the packages are there that it imports", async (context) => {
  needProgram(context, "python3");
  const project = createProject({
    "skills/mixed/SKILL.md": "---\nname: mixed\ndescription: Greets, counts and draws\n---\nRun them.\n",
    "skills/mixed/requirements.txt": "hello\ndrawing\n",
    "skills/mixed/scripts/greet.py": 'import hello\nprint("installed")\n',
    "skills/mixed/scripts/count.py": "print(1 + 1)\n",
    "skills/mixed/scripts/draw.py": 'import drawing\nprint("drawn")\n',
  });
  writeFileSync(project.write(`wheels/${wheel.file}`, ""), wheel.bytes);
  const env = { KITBAG_WHEELHOUSE: "wheels" };
  const run = async (...words: string[]) => runKitbag([...words, "--skills", "skills"], { project, env });

  const [greet, count, draw] = [
    await run("call", "mixed/greet"),
    await run("call", "mixed/count"),
    await run("call", "mixed/draw"),
  ];

  expect(greet).toMatchObject({ code: 0, stdout: "installed\n" });
  expect(count).toMatchObject({ code: 0, stdout: "2\n" });
  expect(draw).toMatchObject({ code: 1 });
  expect(draw.stderr).toContain('Cannot install the Python package "drawing"');
});

test("kitbag call runs a script with the module kitbag that is ours, and no module of a package before it", async (context) => {
  needProgram(context, "python3");
  const sly = makeWheel({
    name: "hello",
    files: Object.fromEntries(
      ["hello.py", "kitbag.py", "sitecustomize.py", "usercustomize.py", "hello.pth"].map((file) => [
        file,
        `import sys; sys.modules["ran_${file}"] = sys\n`,
      ]),
    ),
  });
  const tarball = makeNpmPackage({ name: "kitbag", files: { "index.cjs": "exports.from = 'the package';" } });
  const project = createProject({
    ...skillFiles("skills/greeter"),
    "skills/greeter/scripts/greet.py": `# /// script\n# dependencies = ["hello"]\n# ///\nimport sys\nran = [name for name in sys.modules if name.startswith("ran_")]\nimport hello, kitbag\nprint(ran, callable(kitbag.call))\n`,
    ...skillFiles("skills/nodder"),
    "skills/nodder/package.json": JSON.stringify({ dependencies: { kitbag: "*" } }),
    "skills/nodder/scripts/nod.cjs": 'console.log(typeof require("kitbag").call, require("kitbag").from);\n',
  });
  for (const { file, bytes } of [sly, tarball]) writeFileSync(project.write(`wheels/${file}`, ""), bytes);
  const env = { KITBAG_WHEELHOUSE: "wheels" };

  const python = await runKitbag(["call", "greeter/greet", "--skills", "skills"], { project, env });
  const node = await runKitbag(["call", "nodder/nod", "--skills", "skills"], { project, env });

  expect(python).toMatchObject({ code: 0, stdout: "[] True\n" });
  expect(node).toMatchObject({ code: 0, stdout: "function undefined\n" });
});

test("kitbag forge tries tools with the packages of the folder that a trusted configuration names", async (context) => {
  needProgram(context, "python3");
  const project = createProject({ "kitbag.config.json": JSON.stringify({ packages: { wheelhouse: "wheels" } }) });
  writeFileSync(project.write(`wheels/${wheel.file}`, ""), wheel.bytes);
  const code = 'import hello\nprint("installed")\n';
  const examples = [{ input: {}, output: "installed" }];
  const draft = { name: "greet", description: "Greets", language: "python", code, examples };
  const input = JSON.stringify({ ...draft, dependencies: { python: ["hello"] } });

  await runKitbag(["trust", "."], { project });
  const made = await runKitbag(["forge", "create_tool", "--input", input], { project });

  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain("greet is live, at 1.0.0");
});

test("kitbag build fetches crates from the index that KITBAG_CARGO_INDEX names", async (context) => {
  needProgram(context, "rustc");
  const half = makeCrate("half", "pub fn half(number: i32) -> i32 { number / 2 }\n");
  const { index, asked } = await openTestIndex({ crates: [half] });
  const checksum = createHash("sha256").update(half.bytes).digest("hex");
  const source = "registry+https://github.com/rust-lang/crates.io-index";
  const project = createProject({
    ...skillFiles("skills/halver"),
    "skills/halver/kitbag.toml": `[[tools]]\nname = "half"\nkind = "wasm"\nfile = "half.wasm"\nsource = "Cargo.toml"\ndescription = "Halves"\ninput = { type = "object" }\n`,
    "skills/halver/Cargo.toml":
      '[package]\nname = "half-tool"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nhalf = "1"\n',
    "skills/halver/Cargo.lock": `version = 3\n\n[[package]]\nname = "half"\nversion = "1.0.0"\nsource = "${source}"\nchecksum = "${checksum}"\n\n[[package]]\nname = "half-tool"\nversion = "0.1.0"\ndependencies = ["half"]\n`,
    "skills/halver/src/main.rs": 'fn main() { println!("{}", half::half(84)); }\n',
  });

  const env = { HOME: homedir(), KITBAG_CARGO_INDEX: index.cargo };
  const built = await runKitbag(["build", "skills/halver"], { project, env });

  // That of common systems is too old to fetch.
  context.skip(built.stderr.includes("/cargo is too old"), "there is no Cargo of version 1.68 or newer");
  expect(built).toMatchObject({ code: 0, stderr: "" });
  expect(asked.join(" ")).toContain("half");
});
