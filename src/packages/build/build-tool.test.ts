import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { createBuildPlace, needCompiler, watchTemporaryFiles } from "../../../test/support/build-kit.ts";
import { createFolder, writeFiles } from "../../../test/support/temporary-folder.ts";
import { isKitbagError } from "../../core/errors.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { readKitbagToml } from "../../skills/manifests/read-kitbag-toml.ts";
import { languages, type Language } from "./languages.ts";

// Compilers take seconds, and longer where other tests run beside them.
vi.setConfig({ testTimeout: 120_000 });

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await findSandbox();
});
afterAll(() => sandbox.close());

const sources: readonly (readonly [language: Language, path: string, source: string])[] = [
  [
    "c",
    "src/sum.c",
    `#include <stdio.h>
int main(void) {
  int sum = 0, count = 0, number = 0, inside = 0, c;
  while ((c = getchar()) != EOF) {
    if (c >= '0' && c <= '9') { number = number * 10 + (c - '0'); inside = 1; }
    else if (inside) { sum += number; count++; number = 0; inside = 0; }
  }
  printf("{\\"sum\\":%d,\\"count\\":%d}\\n", sum, count);
}
`,
  ],
  [
    "c++",
    "src/sum.cpp",
    `#include <iostream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>
int main() {
  std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  std::vector<int> numbers;
  for (size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string::npos;) {
    size_t length = 0;
    numbers.push_back(std::stoi(text.substr(at), &length));
    at += length;
  }
  std::cout << "{\\"sum\\":" << std::accumulate(numbers.begin(), numbers.end(), 0) << ",\\"count\\":" << numbers.size() << "}";
}
`,
  ],
  [
    "rust",
    "src/sum.rs",
    `use std::io::Read;
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let numbers: Vec<u32> = text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    println!("{{\\"sum\\":{},\\"count\\":{}}}", numbers.iter().sum::<u32>(), numbers.len());
}
`,
  ],
  [
    "assemblyscript",
    "src/sum.ts",
    `const piece = new ArrayBuffer(1024);
let sum = 0, count = 0, number = 0, inside = false;
for (let length = process.stdin.read(piece); length > 0; length = process.stdin.read(piece)) {
  const bytes = Uint8Array.wrap(piece, 0, length);
  for (let i = 0; i < length; i++) {
    const c = bytes[i];
    if (c >= 0x30 && c <= 0x39) { number = number * 10 + (c - 0x30); inside = true; }
    else if (inside) { sum += number; count++; number = 0; inside = false; }
  }
}
process.stdout.write('{"sum":' + sum.toString() + ',"count":' + count.toString() + "}");
`,
  ],
  [
    "javascript",
    "src/sum.js",
    `export default async ({ numbers }) => {
  console.log("adding", numbers.length);
  return { sum: await numbers.reduce((sum, number) => sum + number, 0), count: numbers.length };
};
`,
  ],
];

test.for(sources)(
  "buildTool() builds %s that takes JSON and answers with JSON",
  async ([language, path, source], context) => {
    await needCompiler(context, sandbox, language);
    const place = createBuildPlace(sandbox, { [path]: source });

    const built = await place.build(path);

    expect(built).toMatchObject({ status: "built", language, output: "tool.wasm" });
    expect(built.bytes).toBe(readFileSync(join(place.directory, "tool.wasm")).length);
    expect(await place.call({ numbers: [4, 10, 28] })).toMatchObject({ status: "ok", output: { sum: 42, count: 3 } });
  },
);

const [, cPath, cSource] = sources[0] ?? ["c", "", ""];

test("buildTool() builds a Cargo package, with what it has vendored", async (context) => {
  await needCompiler(context, sandbox, "rust");
  const place = createBuildPlace(sandbox, {
    "crate/Cargo.toml":
      '[package]\nname = "sum-it"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nhalf = { path = "half" }\n',
    "crate/half/Cargo.toml": '[package]\nname = "half"\nversion = "0.1.0"\nedition = "2021"\n',
    "crate/half/src/lib.rs": "pub fn half(number: u32) -> u32 { number / 2 }\n",
    "crate/src/main.rs": 'fn main() { println!("{{\\"half\\":{}}}", half::half(84)); }\n',
  });

  const built = await place.build("crate/Cargo.toml");

  expect(built).toMatchObject({ status: "built", language: "rust" });
  expect(await place.call({})).toMatchObject({ status: "ok", output: { half: 42 } });
});

test("buildTool() shows where a Cargo package is wrong, and runs no code of its build", async (context) => {
  await needCompiler(context, sandbox, "rust");
  const manifest = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n';
  const place = createBuildPlace(sandbox, {
    "wrong/Cargo.toml": manifest,
    "wrong/src/main.rs": "fn main() { missing() }\n",
    "script/Cargo.toml": manifest,
    "script/build.rs": 'fn main() { println!("cargo:warning=it ran") }\n',
    "script/src/main.rs": "fn main() {}\n",
    "library/Cargo.toml": manifest,
    "library/src/lib.rs": "",
  });

  const wrong = await failureOf(place.build("wrong/Cargo.toml"));
  const script = await failureOf(place.build("script/Cargo.toml"));
  const library = await failureOf(place.build("library/Cargo.toml"));

  expect(wrong.message).toContain("--> wrong/src/main.rs:1:13");
  expect(script.message).toContain(
    "linker `for build scripts and procedural macros, which do not run here,` not found",
  );
  expect(library.message).toContain("it needs a src/main.rs");
});

test.for([
  ["c", "src/a.c", "int main(void) {\n  return missing;\n}\n", "src/a.c:2:10: error: use of undeclared identifier"],
  ["rust", "src/a.rs", "fn main() {\n  let x: u8 = missing;\n}\n", "--> src/a.rs:2:15"],
  ["assemblyscript", "src/a.ts", "export const x: i32 = 1;\nprocess.nope();\n", "in src/a.ts:2:9"],
  ["javascript", "src/a.js", "export default 1;\nlet x = ;\n", "src/a.js:2:9: error: SyntaxError: unexpected token"],
  ["javascript", "src/a.js", 'import "node:fs";\n', "a tool of JavaScript is one file, which imports nothing"],
] as const)("buildTool() shows what is wrong with %s, and where", async ([language, path, source, shown], context) => {
  await needCompiler(context, sandbox, language);
  const place = createBuildPlace(sandbox, { [path]: source });

  const error = await failureOf(place.build(path));

  expect(error).toMatchObject({ code: "build-failed", details: { source: path } });
  expect(error.message).toContain(shown);
  expect(error.message).not.toContain("/skill");
  expect(error.message).not.toContain(place.directory);
  expect(error.message.split("\n").length).toBeLessThanOrEqual(32);
});

test("buildTool() leaves nothing behind when it fails", async (context) => {
  await needCompiler(context, sandbox, "c");
  const place = createBuildPlace(sandbox, { "a.c": "int main(void) { return }\n" });
  const listLeft = watchTemporaryFiles();

  await failureOf(place.build("a.c", { output: "out/a.wasm" }));

  expect(readdirSync(place.directory)).toEqual(["a.c"]);
  expect(readdirSync(place.cacheDirectory)).toEqual([]);
  expect(listLeft()).toEqual([]);
});

test("buildTool() builds the same thing once, and writes it again where it is missing", async (context) => {
  await needCompiler(context, sandbox, "c");
  const place = createBuildPlace(sandbox, { [cPath]: cSource });
  const steps: string[] = [];
  const onProgress = ({ step }: { step: string }): void => void steps.push(step);

  const first = await place.build(cPath, { onProgress });
  const second = await place.build(cPath, { onProgress });
  rmSync(join(place.directory, "tool.wasm"));
  const third = await place.build(cPath, { onProgress });

  expect([first.status, second.status, third.status]).toEqual(["built", "current", "cached"]);
  expect(new Set([first.digest, second.digest, third.digest]).size).toBe(1);
  expect(steps.filter((step) => step === "compile").length).toBe(1);
});

test("buildTool() builds again when a file beside the source changes, and not for what is no source", async (context) => {
  await needCompiler(context, sandbox, "c");
  const header = (text: string): string => `#define TEXT "${text}"\n`;
  const source = '#include "text.h"\n#include <stdio.h>\nint main(void) { puts("{\\"text\\":\\"" TEXT "\\"}"); }\n';
  const place = createBuildPlace(sandbox, { "src/a.c": source, "src/text.h": header("one") });
  await place.build("src/a.c");

  writeFiles(place.directory, { "SKILL.md": "new", "src/other.wasm": "new", "kitbag.toml": "new" });
  const untouched = await place.build("src/a.c");
  writeFiles(place.directory, { "src/text.h": header("two") });
  const changed = await place.build("src/a.c");

  expect([untouched.status, changed.status]).toEqual(["current", "built"]);
  expect(await place.call({})).toMatchObject({ output: { text: "two" } });
});

test("buildTool() builds once what several want at the same time", async (context) => {
  await needCompiler(context, sandbox, "c");
  const place = createBuildPlace(sandbox, { [cPath]: cSource });
  const compiling: string[] = [];
  const build = (name: string) =>
    place.build(cPath, {
      output: `${name}.wasm`,
      onProgress: ({ step, elapsedMs }) => void (step === "compile" && elapsedMs < 900 && compiling.push(name)),
    });

  const built = await Promise.all(["a", "b", "c", "d"].map(build));

  expect(new Set(built.map(({ digest }) => digest)).size).toBe(1);
  expect(compiling.length).toBe(1);
  expect(readdirSync(place.cacheDirectory).filter((name) => !name.endsWith(".wasm"))).toEqual([]);
});

test("buildTool() does not use a kept module that is damaged", async (context) => {
  await needCompiler(context, sandbox, "c");
  const place = createBuildPlace(sandbox, { [cPath]: cSource });
  await place.build(cPath);
  const [kept = ""] = readdirSync(place.cacheDirectory);
  const bytes = readFileSync(join(place.cacheDirectory, kept));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(join(place.cacheDirectory, kept), bytes);

  const again = await place.build(cPath);

  // It compiles to the same bytes, so what is in the folder is right as it is.
  expect(again.status).toBe("current");
  expect(await place.call({ numbers: [1, 2] })).toMatchObject({ output: { sum: 3 } });
});

test.for(["-o x.c", 'it\'s a "name".c', "$(touch pwned).c", "new\nline.c", "ünïcode ☃.c", "-.c"])(
  "buildTool() takes the name %j for nothing but a name",
  async (name, context) => {
    await needCompiler(context, sandbox, "c");
    const place = createBuildPlace(sandbox, { [`-src dir/${name}`]: cSource });

    const built = await place.build(`-src dir/${name}`, { output: `-out dir/${name}.wasm` });

    expect(built.status).toBe("built");
    expect(await place.call({ n: 7 }, `-out dir/${name}.wasm`)).toMatchObject({ output: { sum: 7 } });
  },
);

test.for(["-O0 it's x.rs"])("buildTool() takes the name %j of a Rust file for a name", async (name, context) => {
  await needCompiler(context, sandbox, "rust");
  const place = createBuildPlace(sandbox, { [name]: "fn main() {}\n" });

  expect(await place.build(name)).toMatchObject({ status: "built" });
});

test.for(["--help it's x.ts"])("buildTool() takes the name %j of AssemblyScript for a name", async (name, context) => {
  await needCompiler(context, sandbox, "assemblyscript");
  const place = createBuildPlace(sandbox, { [`a/${name}`]: 'process.stdout.write("{}");\n' });

  expect(await place.build(`a/${name}`)).toMatchObject({ status: "built" });
});

test.for([
  [{ source: "../a.c" }, "source"],
  [{ source: "/etc/passwd" }, "source"],
  [{ source: "" }, "source"],
  [{ source: "a\0.c" }, "source"],
  [{ source: "src/../../a.c" }, "source"],
  [{ source: "a.c", output: "../a.wasm" }, "output"],
  [{ source: "a.c", output: "/tmp/a.wasm" }, "output"],
  [{ source: "a.c", output: "SKILL.md" }, "output"],
  [{ source: "a.f90" }, "language"],
  [{ source: "a.c", language: "__proto__" as Language }, "language"],
] as const)("buildTool() refuses %j", async ([options, option]) => {
  const place = createBuildPlace(sandbox, { "a.c": cSource, "a.f90": "" });

  const error = await failureOf(place.build(options.source, options));

  expect(error).toMatchObject({ code: "option-invalid", details: { option } });
});

test("buildTool() hides every file of the machine but the sources from the compiler", async (context) => {
  await needCompiler(context, sandbox, "c");
  const outside = join(createFolder({ "secret.h": '#error "TOPSECRET"' }), "secret.h");
  const place = createBuildPlace(sandbox, {
    "kept/secret.h": '#error "TOPSECRET"',
    "src/a.c": `#include "${outside}"\nint main(void) {}\n`,
    "src/b.c": '#include "/etc/shadow"\nint main(void) {}\n',
    "src/c.c": '#include "../kept/secret.h"\nint main(void) {}\n',
  });

  const errors = await Promise.all(["a", "b", "c"].map((name) => failureOf(place.build(`src/${name}.c`))));

  for (const { code, message } of errors) {
    expect(code).toBe("build-failed");
    expect(message).not.toContain("TOPSECRET");
    expect(message).not.toContain("root:");
  }
});

test("buildTool() takes no source through a link that leaves the folder", async () => {
  const outside = createFolder({ "a.c": cSource, "b/a.c": cSource });
  const place = createBuildPlace(sandbox, { "src/keep.txt": "" });
  symlinkSync(join(outside, "a.c"), join(place.directory, "src/a.c"));
  symlinkSync(join(outside, "b"), join(place.directory, "b"));

  const file = await failureOf(place.build("src/a.c"));
  const folder = await failureOf(place.build("b/a.c"));

  expect(file.message).toBe(`Cannot build "src/a.c": "src/a.c" is a link that leaves the skill's folder`);
  expect(folder.message).toBe('Cannot build "b/a.c": "b" is a link; sources must be where they seem to be');
});

test("buildTool() leaves out what is beside a source and leads out of the folder", async (context) => {
  await needCompiler(context, sandbox, "c");
  const place = createBuildPlace(sandbox, { "a.c": cSource, "data/keep.txt": "" });
  symlinkSync("/etc", join(place.directory, "data/etcdir"));
  symlinkSync("/etc/passwd", join(place.directory, "users.h"));
  const nosy = createBuildPlace(sandbox, { "a.c": '#include "users.h"\nint main(void) {}\n' });
  symlinkSync("/etc/passwd", join(nosy.directory, "users.h"));

  expect(await place.build("a.c")).toMatchObject({ status: "built" });
  expect((await failureOf(nosy.build("a.c"))).message).toContain("'users.h' file not found");
});

test("buildTool() takes a link to a file of the folder as that file, and waits for no pipe", async (context) => {
  await needCompiler(context, sandbox, "c");
  const place = createBuildPlace(sandbox, { "lib/real.c": cSource, "src/keep.txt": "" });
  symlinkSync("../lib/real.c", join(place.directory, "src/a.c"));
  execFileSync("mkfifo", [join(place.directory, "src/pipe.h")]);

  expect(await place.build("src/a.c")).toMatchObject({ status: "built" });
});

test("buildTool() writes through no link", async (context) => {
  await needCompiler(context, sandbox, "c");
  const outside = createFolder({ "mine.wasm": "mine" });
  const place = createBuildPlace(sandbox, { [cPath]: cSource });
  symlinkSync(join(outside, "mine.wasm"), join(place.directory, "tool.wasm"));
  symlinkSync(outside, join(place.directory, "out"));

  const replaced = await place.build(cPath);
  const refused = await failureOf(place.build(cPath, { output: "out/new/tool.wasm" }));

  expect(replaced.status).toBe("built");
  expect(readFileSync(join(outside, "mine.wasm"), "utf8")).toBe("mine");
  expect(refused.message).toContain("out is a link, or not a folder");
  expect(existsSync(join(outside, "new"))).toBe(false);
});

test("buildTool() refuses a source that is not there, or is a folder", async () => {
  const place = createBuildPlace(sandbox, { "src/a.c/keep": "" });

  expect((await failureOf(place.build("src/nope.c"))).message).toBe('Cannot build "src/nope.c": there is no such file');
  expect((await failureOf(place.build("src/a.c"))).message).toBe('Cannot build "src/a.c": there is no such file');
});

test("buildTool() stops a compiler that a source keeps busy", async (context) => {
  await needCompiler(context, sandbox, "c++");
  const bomb =
    "template<int N> struct A { static const int v = A<N-1>::v + A<N-2>::v; };\nint main() { constexpr long f = []{ long s = 0; for (long i = 0; i < 1L << 60; i++) s += i; return s; }(); return f; }\n";
  const place = createBuildPlace(sandbox, { "a.cpp": `#pragma clang loop unroll(disable)\n${bomb}` });
  const self = createBuildPlace(sandbox, { "a.c": "#include __FILE__\n#include __FILE__\n" });

  const slow = await failureOf(place.build("a.cpp", { limitMs: 1500 }));
  const endless = await failureOf(self.build("a.c", { limitMs: 20_000 }));

  expect(slow.code).toBe("build-failed");
  expect(endless.message).toContain("#include nested too deeply");
});

test("buildTool() rejects with the signal's reason, and leaves nothing", async (context) => {
  await needCompiler(context, sandbox, "assemblyscript");
  const [, path, source] = sources[3] ?? ["", "", ""];
  const place = createBuildPlace(sandbox, { [path]: source });
  const listLeft = watchTemporaryFiles();
  const controller = new AbortController();

  const building = place.build(path, {
    signal: controller.signal,
    onProgress: () => controller.abort(new Error("not any more")),
  });

  await expect(building).rejects.toThrow("not any more");
  expect(readdirSync(place.cacheDirectory)).toEqual([]);
  expect(listLeft()).toEqual([]);
});

test("buildTool() accepts no module that is too large, and none without a main function", async (context) => {
  await needCompiler(context, sandbox, "c");
  const place = createBuildPlace(sandbox, { "a.c": cSource, "b.c": "int sum(int a) { return a; }\n" });

  const large = await failureOf(place.build("a.c", { maxBytes: 1000 }));
  const empty = await failureOf(place.build("b.c"));

  expect(large.message).toBe('Cannot build "a.c": the module is larger than 1000 bytes');
  expect(empty.message).toContain("undefined symbol: main");
});

test("languages are those that a manifest can name", () => {
  for (const language of languages) {
    const toml = `[[tools]]\nname = "a"\nkind = "wasm"\nfile = "a.wasm"\nsource = "a"\nlanguage = "${language}"\n`;
    expect(readKitbagToml("kitbag.toml", new TextEncoder().encode(toml)).diagnostics).toEqual([]);
  }
});

async function failureOf(promise: Promise<unknown>): Promise<{ code: string; message: string; details: unknown }> {
  try {
    await promise;
  } catch (cause) {
    if (isKitbagError(cause)) return { code: cause.code, message: cause.message, details: cause.details };
    throw cause;
  }
  throw new Error("it did not fail");
}
