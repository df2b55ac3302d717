import { join } from "node:path";

import { expect, test } from "vitest";

import { skillCode } from "../../../test/support/skill-code.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { readFolder } from "../folder/read-folder.ts";
import { toDigests } from "../trust/folder-trust.ts";
import { loadSkillCode, type SkillCode } from "./load-skill-code.ts";

test("loadSkillCode() answers with what the code defines", async () => {
  const text = skillCode(`
    import type { Skill } from "kitbag";
    const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
    export default defineSkill({
      name: "dice", displayName: "Dice", description: "Games of chance", version: "1.2.0", capabilities: ["chance"],
      workDirection: "Roll.", tools: [roll], onActivate() {}, onDeactivate() {},
    }) satisfies Skill;`);

  const code = await load(text);

  expect(code).toMatchObject({
    ok: true,
    file: "skill.ts",
    skill: {
      name: "dice",
      displayName: "Dice",
      description: "Games of chance",
      version: "1.2.0",
      capabilities: ["chance"],
      instructions: "Roll.",
      tools: [{ name: "roll" }],
      onActivate: expect.any(Function) as unknown,
      onDeactivate: expect.any(Function) as unknown,
    },
  });
});

test.for([
  ["throws", 'throw new Error("no network");', /^Cannot load skill\.ts: Error: no network \(.*skill\.ts:1:\d+\)$/u],
  ["throws something odd", "throw null;", /^Cannot load skill\.ts: null$/u],
  [
    "throws what cannot be shown",
    'throw new Proxy({}, { get() { throw new Error("no"); } });',
    /^Cannot load skill\.ts: /u,
  ],
  [
    "throws an error that cannot be read",
    'throw Object.defineProperty(new Error("odd"), "stack", { get() { throw 1; } });',
    /^Cannot load skill\.ts: odd$/u,
  ],
  ["rejects", 'await Promise.reject(new TypeError("late"));', /^Cannot load skill\.ts: TypeError: late/u],
  ["is no TypeScript", "const x: = 3;", /^Cannot load skill\.ts: SyntaxError: /u],
  ["needs TypeScript that is more than types", "enum A { B }", /^Cannot load skill\.ts: SyntaxError: /u],
  ["imports what is not there", 'import "./missing.ts";', /^Cannot load skill\.ts: Error: Cannot find module/u],
  [
    "imports a package that is not there",
    'import "no-such-package";',
    /^Cannot load skill\.ts: Error: Cannot find pac/u,
  ],
  [
    "imports what is outside",
    'import "../other.ts";',
    /^Cannot load skill\.ts: it imports "\.\.\/other\.ts", which is outside of its folder; put it into the folder/u,
  ],
  ["exports nothing", "export {};", /expected export default defineSkill.*found no default export$/u],
  ["defines no skill", skillCode("defineSkill({});"), /^Cannot load skill\.ts: Cannot define the skill/u],
] as const)("loadSkillCode() tells of code that %s", async ([, text, message]) => {
  const { diagnostic } = (await load(text)) as { diagnostic: Diagnostic };

  expect(diagnostic).toMatchObject({ severity: "error", code: "code-failed", file: "skill.ts" });
  expect(diagnostic.message).toMatch(message);
});

test("loadSkillCode() stops waiting for code that never ends to load, again and again", async () => {
  const folder = createFolder({ "skill/skill.ts": "await new Promise(() => {}); export default 1;", "other.ts": "" });

  const [first, second] = [await loadIn(folder, 50), await loadIn(folder, 50)];

  expect(first).toMatchObject({
    diagnostic: { message: "Cannot load skill.ts: Error: it was still loading after 50 ms" },
  });
  expect(second).toEqual(first);
});

test("loadSkillCode() says that a file was written while it was loaded", async () => {
  const folder = createFolder({ "skill/skill.ts": "export default 1;" });

  const code = await loadSkillCode({
    directory: readFolder(join(folder, "skill")).directory,
    files: new Map([["skill.ts", `sha256:${"0".repeat(64)}`]]),
    file: "skill.ts",
    limitMs: 1000,
  });

  expect(code).toMatchObject({
    ok: false,
    diagnostic: { code: "code-changed", message: "Did not load skill.ts: skill.ts (changed) since it was read" },
  });
});

function load(text: string): Promise<SkillCode> {
  return loadIn(createFolder({ "skill/skill.ts": text, "other.ts": "export {};" }), 20_000);
}

function loadIn(folder: string, limitMs: number): Promise<SkillCode> {
  const { directory, files } = readFolder(join(folder, "skill"));
  return loadSkillCode({ directory, files: toDigests(files), file: "skill.ts", limitMs });
}
