import { mkdirSync, realpathSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder, writeFiles } from "../../../test/support/temporary-folder.ts";
import { readFolder } from "../folder/read-folder.ts";
import { toDigests } from "../trust/folder-trust.ts";
import { guardModule, isGuarded, type GuardedFolder } from "./guard-folder.ts";

test("guardModule() loads TypeScript, JavaScript and JSON of the folder, also through others", async () => {
  const folder = guard({
    "skill/skill.ts": `
      import { one } from "./lib/one.mts";
      import data from "./data.json" with { type: "json" };
      const value: number = one + data.two;
      export default { value, place: import.meta.dirname };`,
    "skill/lib/one.mts": 'export { one } from "../two.js";',
    "skill/two.js": "export const one = 1;",
    "skill/data.json": '{ "two": 2 }',
  });

  expect(await load(folder)).toEqual({ value: 3, place: folder.directory });
});

test("guardModule() runs what did not change once, whatever else in the folder did", async () => {
  const files = { "skill/skill.ts": "export default { made: {} };", "skill/README.md": "one" };
  const base = createFolder(files);
  const first = await load(look(base));
  writeFiles(base, { "skill/README.md": "two" });
  const second = await load(look(base));
  writeFiles(base, { "skill/skill.ts": "export default { made: {} }; // other" });
  const third = await load(look(base));

  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

test("guardModule() gives two folders with the same files a module each", async () => {
  const text = "export default { made: {} };";

  expect(await load(guard({ "skill/skill.ts": text }))).not.toBe(await load(guard({ "skill/skill.ts": text })));
});

test("guardModule() never runs bytes that were put in place after they were hashed", async () => {
  const folder = guard({
    "skill/skill.ts": 'import "./lib.ts"; export default 1;',
    "skill/lib.ts": "globalThis.kitbagEvil = false;",
  });
  writeFileSync(join(folder.directory, "lib.ts"), "globalThis.kitbagEvil = true;");

  await expect(load(folder)).rejects.toMatchObject({
    code: "skill-untrusted",
    details: { changed: ["lib.ts (changed)"] },
  });

  expect(Reflect.get(globalThis, "kitbagEvil")).toBeUndefined();
});

test("guardModule() never runs what a link leads to that was put in place after the file was hashed", async () => {
  const folder = guard({ "skill/skill.ts": "export default 1;", "evil.ts": "export default 2;" });
  unlinkSync(join(folder.directory, "skill.ts"));
  symlinkSync("../evil.ts", join(folder.directory, "skill.ts"));

  await expect(load(folder)).rejects.toThrow();
});

test("guardModule() checks what is imported later, when the code asks for it", async () => {
  const folder = guard({
    "skill/skill.ts": 'export default () => import("./later.ts");',
    "skill/later.ts": "export const value = 1;",
  });
  const later = (await load(folder)) as () => Promise<unknown>;
  writeFileSync(join(folder.directory, "later.ts"), "export const value = 2;");

  await expect(later()).rejects.toMatchObject({ code: "skill-untrusted" });
});

test.for([
  ["a path that leads out", "../outside.ts", "outside of its folder"],
  ["an absolute path", "OUTSIDE", "outside of its folder"],
  ["an address", "file://OUTSIDE", "outside of its folder"],
  ["a package in the folder, which nobody hashed", "inner", "not one of the files that are trusted"],
  ["a link out of the folder", "./link.ts", "outside of its folder"],
  ["a file that was not there", "./late.ts", "not one of the files that are trusted"],
  ["code in an address", "data:text/javascript,export default 1", "is no file"],
  ["CommonJS", "./old.cjs", "not one of the files that are trusted"],
] as const)("guardModule() refuses to import %s", async ([, specifier, message]) => {
  const base = createFolder({
    "outside.ts": "globalThis.kitbagEvil = true; export default 1;",
    "skill/old.cjs": "globalThis.kitbagEvil = true;",
    "skill/node_modules/inner/package.json": '{ "name": "inner", "exports": "./index.js" }',
    "skill/node_modules/inner/index.js": "globalThis.kitbagEvil = true;",
  });
  const text = specifier.replace("OUTSIDE", join(realpathSync(base), "outside.ts"));
  writeFiles(base, { "skill/skill.ts": `import ${JSON.stringify(text)}; export default 1;` });
  const folder = look(base);
  writeFiles(base, { "skill/late.ts": "globalThis.kitbagEvil = true;" });
  symlinkSync("../outside.ts", join(base, "skill/link.ts"));

  await expect(load(folder)).rejects.toMatchObject({
    code: "skill-failed",
    details: { reason: expect.stringContaining(message) as string },
  });

  expect(Reflect.get(globalThis, "kitbagEvil")).toBeUndefined();
});

test("guardModule() refuses a package that is really a folder of the project", async () => {
  const base = createFolder({
    "packages/own/package.json": '{ "name": "own", "type": "module", "exports": "./index.js" }',
    "packages/own/index.js": "export default 1;",
    "skill/skill.ts": 'import "own"; export default 1;',
  });
  mkdirSync(join(base, "node_modules"));
  symlinkSync("../packages/own", join(base, "node_modules/own"));

  await expect(load(look(base))).rejects.toMatchObject({ code: "skill-failed" });
});

test("guardModule() leaves packages and what Node brings to Node", async () => {
  const folder = guard({
    "node_modules/six/package.json": '{ "name": "six", "type": "module", "exports": "./index.js" }',
    "node_modules/six/index.js": 'export { six } from "./six.js";',
    "node_modules/six/six.js": "export const six = 6;",
    "skill/skill.ts":
      'import { basename } from "node:path"; import { join } from "path"; import { six } from "six"; export default basename(join("a", String(six)));',
  });

  expect(await load(folder)).toBe("6");
});

test("isGuarded() knows its own addresses from those that only look like them", () => {
  const url = guardModule(guard({ "skill/skill.ts": "" }), "skill.ts");

  expect(isGuarded(url)).toBe(true);
  expect(isGuarded(url.replace(/\?.*/u, ""))).toBe(false);
  expect(isGuarded(`${url}0`)).toBe(false);
  expect(isGuarded(url.replace(/.{32}$/u, "0".repeat(32)))).toBe(false);
});

async function load(folder: GuardedFolder): Promise<unknown> {
  const module = (await import(guardModule(folder, "skill.ts"))) as { readonly default: unknown };
  return module.default;
}

/** A folder with these files; its part `skill` is guarded. */
function guard(files: Readonly<Record<string, string>>): GuardedFolder {
  return look(createFolder(files));
}

function look(base: string): GuardedFolder {
  const { directory, files } = readFolder(join(base, "skill"));
  return { directory, files: toDigests(files) };
}
