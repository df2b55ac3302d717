import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { SkillFolder, SkillScope } from "../../core/skill.ts";
import { readFolder } from "../folder/read-folder.ts";
import { createFolderTrust, toDigests } from "./folder-trust.ts";
import { trustPath, updateTrust } from "./trust-file.ts";
import { removedTrust } from "./trust-format.ts";

test("createFolderTrust() lets run what somebody named or installed, and nothing that a project brings", () => {
  const trust = createFolderTrust({ home: createFolder() });
  const skill = createSkill();

  expect(trust(look(skill, "given"))).toEqual({ status: "trusted" });
  expect(trust(look(skill, "user"))).toEqual({ status: "trusted" });
  expect(trust(look(skill, "project"))).toEqual({ status: "untrusted", changed: [] });
});

test("createFolderTrust() follows the list: trusted, and taken back", async () => {
  const home = createFolder();
  const trust = createFolderTrust({ home });
  const skill = createSkill();
  const before = trust(look(skill));

  await trustNow(home, skill);
  const trusted = trust(look(skill));
  await updateTrust(home, ({ folders }) => folders.delete(look(skill).directory));
  const after = trust(look(skill));

  expect([before.status, trusted.status, after.status]).toEqual(["untrusted", "trusted", "untrusted"]);
});

test("createFolderTrust() says which files were added, removed and changed", async () => {
  const home = createFolder();
  const skill = createSkill();
  await trustNow(home, skill);
  writeFileSync(join(skill, "SKILL.md"), "other");
  writeFileSync(join(skill, "new.txt"), "");
  writeFileSync(join(skill, "odd\nname"), "");
  rmSync(join(skill, "scripts/run.py"));

  const trust = createFolderTrust({ home })(look(skill));

  expect(trust).toEqual({
    status: "untrusted",
    changed: ["SKILL.md (changed)", "new.txt (added)", '"odd\\nname" (added)', "scripts/run.py (removed)"],
  });
});

test("R16: createFolderTrust() notices one flipped byte, and trusts again what was put back", async () => {
  const home = createFolder();
  const skill = createSkill();
  await trustNow(home, skill);
  const trust = createFolderTrust({ home });

  writeFileSync(join(skill, "scripts/run.py"), "print(2)");
  const flipped = trust(look(skill));
  writeFileSync(join(skill, "scripts/run.py"), "print(1)");
  const restored = trust(look(skill));

  expect(flipped).toEqual({ status: "untrusted", changed: ["scripts/run.py (changed)"] });
  expect(restored).toEqual({ status: "trusted" });
});

test.for(["given", "user"] as const)(
  "R16: createFolderTrust() holds a folder of scope %s to what was trusted",
  async (scope) => {
    const home = createFolder();
    const skill = createSkill();
    const trust = createFolderTrust({ home });
    writeFileSync(join(skill, "scripts/run.py"), "print(0)");
    const before = trust(look(skill, scope));
    await trustNow(home, skill);

    writeFileSync(join(skill, "kitbag.toml"), '[permissions]\nenv = ["SECRET"]\n');
    const widened = trust(look(skill, scope));
    await updateTrust(home, ({ folders }) => folders.set(look(skill).directory, removedTrust));
    const removed = trust(look(skill, scope));

    expect(before.status).toBe("trusted");
    expect(removed).toEqual({ status: "untrusted", changed: [], removed: true });
    expect(widened).toEqual({ status: "untrusted", changed: ["kitbag.toml (added)"] });
  },
);

test("createFolderTrust() trusts a place, not the same files in another place", async () => {
  const home = createFolder();
  await trustNow(home, createSkill());

  expect(createFolderTrust({ home })(look(createSkill()))).toEqual({ status: "untrusted", changed: [] });
});

test("R16: createFolderTrust() fails closed when the list is corrupt, also while it is in use", async () => {
  const home = createFolder();
  const skill = createSkill();
  await trustNow(home, skill);
  const trust = createFolderTrust({ home });
  const before = trust(look(skill));

  writeFileSync(trustPath(home), '{"version": 1, "trusted": [');

  expect(before.status).toBe("trusted");
  expect(() => trust(look(skill))).toThrow("nothing is trusted until you have looked at it");
  expect(() => trust(look(skill, "given"))).toThrow("nothing is trusted until you have looked at it");
});

function createSkill(): string {
  return createFolder({ "SKILL.md": "hello", "scripts/run.py": "print(1)" });
}

function look(skill: string, scope: SkillScope = "project"): Omit<SkillFolder, "trust"> {
  const { directory, files, digest } = readFolder(skill);
  return { directory, files, digest, scope };
}

async function trustNow(home: string, skill: string): Promise<void> {
  const { directory, files } = look(skill);
  await updateTrust(home, ({ folders }) => folders.set(directory, toDigests(files)));
}
