import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { readFolder } from "../folder/read-folder.ts";
import { openFactsCache } from "./facts-cache.ts";
import { loadSkills } from "./load-skills.ts";
import { createLightMemory, createSkillMemory } from "./skill-memory.ts";

test("createSkillMemory() reads a folder once, with its bytes, until it is forgotten", () => {
  const folder = create();
  const memory = createSkillMemory();

  const first = memory.read(folder);
  writeFileSync(join(folder, "SKILL.md"), "other");
  const second = memory.read(folder);
  memory.forget([join(folder, "SKILL.md")]);
  const third = memory.read(folder);

  expect(second).toBe(first);
  expect(textOf(first.snapshot.contents)).toBe("hello");
  expect(memory.readContents(folder)).toBe(third);
  expect(textOf(third.snapshot.contents)).toBe("other");
});

test.for([
  ["a file in it", (folder: string) => join(folder, "scripts/deep/file.py"), true],
  ["the folder itself", (folder: string) => folder, true],
  ["a folder above", (folder: string) => join(folder, ".."), true],
  ["a folder beside it whose name begins alike", (folder: string) => `${folder}-other/SKILL.md`, false],
  ["another folder", () => "/somewhere/else", false],
] as const)("forget() with %s", ([, toPath, isForgotten]) => {
  const folder = create();
  const memory = createSkillMemory();
  const first = memory.read(folder);

  memory.forget([toPath(folder)]);

  expect(memory.read(folder) !== first).toBe(isForgotten);
});

test("settle() lets go of the bytes, and of folders that are gone", () => {
  const [one, two] = [create(), create()];
  const memory = createSkillMemory();
  const [first, second] = [memory.read(one), memory.read(two)];

  memory.settle([one]);

  expect(memory.read(one).snapshot).toEqual({ ...first.snapshot, contents: new Map() });
  expect(memory.read(two)).not.toBe(second);
  expect(textOf(memory.readContents(one).snapshot.contents)).toBe("hello");
});

test("createLightMemory() does not read a folder again whose marks are known", async () => {
  const folder = create();
  await wait(2100);
  const cache = openFactsCache(join(createFolder(), "facts"));
  const read = createLightMemory(cache).read(folder);
  const known = cache.getFolder(folder);
  // Nothing but the marks is looked at: what was remembered is what is answered.
  cache.setFolder(folder, { ...known!, digest: "remembered" });

  const recalled = createLightMemory(cache).read(folder);
  writeFileSync(join(folder, "SKILL.md"), "hallo");
  const after = createLightMemory(cache).read(folder);

  expect(read.snapshot.digest).toBe(readFolder(create()).digest);
  expect(recalled.snapshot).toMatchObject({ digest: "remembered", files: [{ path: "SKILL.md" }] });
  expect(after.snapshot.digest).toBe(readFolder(folder).digest);
});

test("createLightMemory() reads what was forgotten, whatever its marks say", async () => {
  const folder = create();
  await wait(2100);
  const cache = openFactsCache(undefined);
  const memory = createLightMemory(cache);
  memory.read(folder);
  cache.setFolder(folder, { ...cache.getFolder(folder)!, digest: "remembered" });

  memory.forgetAll();

  expect(memory.read(folder).snapshot.digest).toBe(readFolder(folder).digest);
});

test("isPlain() holds for a skill that is no part of a plugin, until its folder is forgotten", async () => {
  const folder = createFolder({
    "one/SKILL.md": "---\nname: one\ndescription: Does it\n---\n",
    "plugin/.claude-plugin/plugin.json": '{ "name": "plugin" }',
    "plugin/SKILL.md": "---\nname: plugin\ndescription: Does it\n---\n",
    "plugin/skills/two/SKILL.md": "---\nname: two\ndescription: Does it\n---\n",
  });
  const memory = createSkillMemory();
  const places = ["one", "plugin", "plugin/skills/two"].map((name) => join(realpathSync(folder), name));

  const first = await loadSkills({ directories: [folder], memory });
  const known = places.map(memory.isPlain);
  const second = await loadSkills({ directories: [folder], memory });
  memory.forget([join(realpathSync(folder), "one/SKILL.md")]);
  const afterwards = places.map(memory.isPlain);

  expect(known).toEqual([true, false, false]);
  expect(afterwards).toEqual([false, false, false]);
  expect(second.reports).toEqual(first.reports);
});

test("isPlain() is remembered in a cache, as long as the folder is as it was", async () => {
  const folder = realpathSync(
    createFolder({
      "one/SKILL.md": "---\nname: one\ndescription: Does it\n---\n",
      "plugin/.claude-plugin/plugin.json": '{ "name": "plugin" }',
      "plugin/skills/two/SKILL.md": "---\nname: two\ndescription: Does it\n---\n",
    }),
  );
  const [one, two] = [join(folder, "one"), join(folder, "plugin/skills/two")];
  const cache = openFactsCache(undefined);
  await wait(2100);
  await loadSkills({ directories: [folder], cache });

  const known = [one, two, folder].map(createLightMemory(cache).isPlain);
  mkdirSync(join(one, ".claude-plugin"));
  const afterwards = createLightMemory(cache).isPlain(one);

  expect(known).toEqual([true, false, false]);
  expect(afterwards).toBe(false);
});

function create(): string {
  return realpathSync(createFolder({ "SKILL.md": "hello" }));
}

function textOf(contents: ReadonlyMap<string, Uint8Array>): string {
  return Buffer.from(contents.get("SKILL.md") ?? []).toString();
}
