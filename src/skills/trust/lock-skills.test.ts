import { join } from "node:path";
import { realpathSync } from "node:fs";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Skill, SkillFolder } from "../../core/skill.ts";
import { readFolder } from "../folder/read-folder.ts";
import { holdToLock } from "./hold-to-lock.ts";
import { loadLock } from "./lock-file.ts";
import { lockSkills } from "./lock-skills.ts";
import { toolSignature } from "./tool-signature.ts";

test("lockSkills() writes down permissions, files and signatures of what is below the lock", async () => {
  const project = createProject();
  const skill = createSkill(project, "skills/pdf", { permissions: { env: ["KEY"] } });
  const elsewhere = createSkill(createProject(), "skills/other");

  const places = await lockSkills([{ skill }, { skill: elsewhere }, {}], join(project, "kitbag.lock"));

  expect(places).toEqual(["skills/pdf"]);
  expect([...loadLock(join(project, "kitbag.lock"))]).toEqual([
    [
      "skills/pdf",
      {
        name: "pdf",
        version: "1.0.0",
        permissions: { env: ["KEY"] },
        tools: new Map([["go", toolSignature(skill.tools[0]!)]]),
        uses: new Map(),
        files: new Map([["SKILL.md", skill.folder.files[0]!.digest]]),
      },
    ],
  ]);
});

test("lockSkills() takes a skill in the folder of the lock itself", async () => {
  const project = createProject({ "SKILL.md": "hello" });
  const skill = createSkill(project, ".");

  expect(await lockSkills([{ skill }], join(project, "kitbag.lock"))).toEqual(["."]);
  expect(loadLock(join(project, "kitbag.lock")).has(".")).toBe(true);
});

test("lockSkills() writes the same bytes for the same skills in any order", async () => {
  const [one, two] = [createProject(), createProject()];
  const skillsOf = (project: string) => ["a", "b"].map((name) => ({ skill: createSkill(project, `skills/${name}`) }));

  await lockSkills(skillsOf(one), join(one, "kitbag.lock"));
  await lockSkills(skillsOf(two).toReversed(), join(two, "kitbag.lock"));

  expect(loadLock(join(two, "kitbag.lock"))).toEqual(loadLock(join(one, "kitbag.lock")));
});

test("holdToLock() says nothing about a skill that is what was locked", async () => {
  const project = createProject();
  const skill = createSkill(project, "skills/pdf", { permissions: { env: ["B", "A"], read: [] } });

  expect(await hold(project, skill, skill)).toEqual({ skill, diagnostics: [] });
});

test("holdToLock() names the files that are not what was locked", async () => {
  const project = createProject();
  const before = createSkill(project, "skills/pdf");
  const files = [
    { path: "SKILL.md", bytes: 1, digest: `sha256:${"0".repeat(64)}` },
    { path: "new.py", bytes: 1, digest: `sha256:${"1".repeat(64)}` },
  ];
  const after = { ...before, folder: { ...before.folder, files } };

  const { skill, diagnostics } = await hold(project, before, after);

  expect(skill).toBe(after);
  expect(diagnostics).toEqual([
    {
      severity: "warning",
      code: "lock-changed",
      message: "Is not what kitbag.lock pins: SKILL.md (changed), new.py (added)",
      file: "kitbag.lock",
      cure: `read the change, then run: kitbag trust ${after.folder.directory}`,
    },
  ]);
});

test("holdToLock() names the permissions that are new in a changed skill", async () => {
  const project = createProject();
  const before = createSkill(project, "skills/pdf", { permissions: { network: ["a.example"] } });
  const files = [{ path: "SKILL.md", bytes: 1, digest: `sha256:${"0".repeat(64)}` }];
  const trust = { status: "untrusted", changed: ["SKILL.md (changed)"] } as const;
  const permissions = { network: ["a.example", "b.example"], read: ["."] };
  const after = { ...before, permissions, folder: { ...before.folder, files, trust } };

  const { skill, diagnostics } = await hold(project, before, after);
  const never = await hold(project, before, {
    ...after,
    folder: { ...after.folder, trust: { ...trust, changed: [] } },
  });

  const lines = ["new: read .", "new: network b.example", "SKILL.md (changed)"];
  expect(skill.folder?.trust).toEqual({ status: "untrusted", changed: lines });
  expect(never.skill.folder?.trust).toEqual({ status: "untrusted", changed: [] });
  expect(diagnostics[0]?.message).toBe(`Is not what kitbag.lock pins: ${lines.join(", ")}`);
});

test("holdToLock() notices permissions that the same files did not have", async () => {
  const project = createProject();
  const before = createSkill(project, "skills/pdf", { permissions: { network: ["a.example"] } });

  const { diagnostics } = await hold(project, before, { ...before, permissions: { network: ["*"] } });

  expect(diagnostics[0]?.message).toBe("Is not what kitbag.lock pins: permissions (changed)");
});

test("P7: holdToLock() pins the signatures of tools that a skill uses, as they were when it was locked", async () => {
  const project = createProject();
  const provider = createSkill(project, "skills/base", { version: "1.2.0" });
  const user = createSkill(project, "skills/user", { uses: ["base/go@^1.0.0"] });
  const path = join(project, "kitbag.lock");
  await lockSkills([{ skill: user }], path, { others: [{ skill: provider }] });

  const { skill } = holdToLock(user, loadLock(path).get("skills/user")!, () => "1.9.0");

  expect(skill.uses).toEqual([{ address: "base/go", range: "^1.0.0", signature: toolSignature(provider.tools[0]!) }]);
});

test("P7: holdToLock() takes the signature from the lock if the other skill is only there", async () => {
  const project = createProject();
  const provider = createSkill(project, "skills/base");
  const user = createSkill(project, "skills/user", { uses: ["base/go", "global-tool"] });
  const path = join(project, "kitbag.lock");
  await lockSkills([{ skill: provider }], path);
  await lockSkills([{ skill: user }], path);

  const { skill } = holdToLock(user, loadLock(path).get("skills/user")!, () => undefined);

  expect(skill.uses.map((use) => use.signature)).toEqual([toolSignature(provider.tools[0]!), undefined]);
});

test.for([
  ["1.2.0", "1.3.0", true],
  ["1.2.0", "1.2.0", true],
  ["1.2.0", "2.0.0", false],
  ["0.2.0", "0.3.0", false],
  ["0.2.0", "0.2.9", true],
  ["1.2.0", undefined, true],
  ["1.2.0", "not a version", true],
] as const)("P7: holdToLock() with %s locked and %s there pins: %s", async ([locked, there, isPinned]) => {
  const project = createProject();
  const provider = createSkill(project, "skills/base", { version: locked });
  const user = createSkill(project, "skills/user", { uses: ["base/go"] });
  const path = join(project, "kitbag.lock");
  await lockSkills([{ skill: user }], path, { others: [{ skill: provider }] });

  const { skill } = holdToLock(user, loadLock(path).get("skills/user")!, () => there);

  expect(skill.uses[0]?.signature !== undefined).toBe(isPinned);
});

test("lockSkills() keeps where a skill was fetched from when it is locked again", async () => {
  const project = createProject();
  const skill = createSkill(project, "skills/pdf");
  const path = join(project, "kitbag.lock");
  const source = { kind: "npm", address: "pdf-skills", version: "1.0.0" } as const;
  await lockSkills([{ skill }], path, { sources: new Map([[skill.folder.directory, source]]) });

  await lockSkills([{ skill: createSkill(project, "skills/pdf", { version: "2.0.0" }) }], path);

  expect(loadLock(path).get("skills/pdf")).toMatchObject({ version: "2.0.0", source });
});

type FolderSkill = Skill & { readonly folder: SkillFolder };

function createProject(files: Readonly<Record<string, string>> = {}): string {
  return realpathSync(
    createFolder(
      Object.fromEntries([
        ...[
          "skills/pdf",
          "skills/other",
          "skills/a",
          "skills/ab",
          "skills/b",
          "other/c",
          "skills/base",
          "skills/user",
        ].map((place) => [`${place}/SKILL.md`, place]),
        ...Object.entries(files),
      ]),
    ),
  );
}

function createSkill(
  project: string,
  place: string,
  parts: Partial<Parameters<typeof defineSkill>[0]> = {},
): FolderSkill {
  const { directory, files, digest } = readFolder(join(project, place));
  const name = place === "." ? "root" : (place.split("/").at(-1) ?? "");
  const tools = [defineTool({ name: "go", description: "Goes", version: parts.version ?? "1.0.0", run: () => "" })];
  const skill = defineSkill({ name, description: "A skill", version: "1.0.0", tools, ...parts });
  return { ...skill, folder: { directory, files, digest, scope: "project", trust: { status: "trusted" } } };
}

async function hold(project: string, before: FolderSkill, after: FolderSkill): Promise<ReturnType<typeof holdToLock>> {
  const path = join(project, "kitbag.lock");
  const [place = ""] = await lockSkills([{ skill: before }], path);
  return holdToLock(after, loadLock(path).get(place)!, () => undefined);
}
