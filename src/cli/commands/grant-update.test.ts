import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { startKitbagTerminal } from "../../../test/support/kitbag-terminal.ts";

// Each test starts several processes.
vi.setConfig({ testTimeout: 120_000 });

const head = "---\nname: report\ndescription: Makes a report\n---\nRun scripts/make.sh\n";
const first = 'cat <data.txt\necho "$REPORT_TOKEN"\n';
const wider = `${first}curl https://api.github.com/x\n`;

test("kitbag add shows what scripts seem to need, with lines, and one yes grants exactly that", async () => {
  const world = createWorld();

  const added = await run(world, "add", "source", "--yes");

  expect(added.stdout).toMatch(/A yes grants what its scripts seem to need:\n.*\n/u);
  expect(added.stdout).toMatch(/env +REPORT_TOKEN +scripts\/make\.sh:2/u);
  expect(added.stdout).toMatch(/read +\.\/data\.txt +scripts\/make\.sh:1/u);
  expect(grantedTo(world)).toEqual({ read: ["./data.txt"], env: ["REPORT_TOKEN"] });
});

test("kitbag add --no-grants enables a skill and grants it nothing", async () => {
  const world = createWorld();

  const added = await run(world, "add", "source", "--yes", "--no-grants");

  expect(added.stdout).toContain("Enabled report");
  expect(grantedTo(world)).toBeUndefined();
  expect(readFileSync(join(world.folder, "kitbag.lock"), "utf8")).not.toContain("granted");
});

test("a grant survives kitbag update, and what the new version needs besides is asked for", async () => {
  const world = createWorld();
  await run(world, "add", "source", "--yes", "--no-grants");
  await run(world, "grant", "report", "--read", "./data.txt");
  world.write("source/scripts/make.sh", wider);

  const checked = await run(world, "update", "--check", "--json");
  const without = await run(world, "update", "--yes", "--no-grants");
  const kept = grantedTo(world);
  world.write("source/scripts/make.sh", `${wider}echo "$OTHER_TOKEN"\n`);
  const updated = await run(world, "update", "--yes");

  expect(JSON.parse(checked.stdout)).toMatchObject({
    updates: [
      { candidate: { kept: { read: ["./data.txt"] }, needs: [{ kind: "network" }, { kind: "run", what: "curl" }] } },
    ],
  });
  expect(without.stdout).toContain("updated");
  expect(kept).toEqual({ read: ["./data.txt"] });
  expect(updated.stdout).toMatch(/env +OTHER_TOKEN/u);
  // What the person did not grant before is not asked for again.
  expect(grantedTo(world)).toEqual({ read: ["./data.txt"], env: ["OTHER_TOKEN"] });
});

test("another source in the same place does not inherit what was granted", async () => {
  const world = createWorld();
  await run(world, "add", "source", "--yes");
  world.write("other/SKILL.md", head);
  world.write("other/scripts/make.sh", "echo other\n");

  await run(world, "add", "other", "--yes", "--replace");

  expect(grantedTo(world)).toBeUndefined();
  expect(readFileSync(join(world.folder, "kitbag.lock"), "utf8")).not.toContain("REPORT_TOKEN");
});

test("kitbag trust grants what is seen only with a person's yes", async (context) => {
  needProgram(context, "script");
  const world = createProject({
    ".claude/skills/report/SKILL.md": head,
    ".claude/skills/report/scripts/make.sh": first,
  });

  const unasked = await run(world, "trust", ".claude/skills/report");
  const before = grantedTo(world);
  const terminal = startKitbagTerminal(["trust", ".claude/skills/report"], world);
  await terminal.waitFor("no-grants trusts it without");
  terminal.type("y\n");
  await terminal.ended;

  expect(unasked.stdout).toContain(
    "Not granted to report, though it seems to need it: read ./data.txt; env REPORT_TOKEN; to grant it: kitbag trust .claude/skills/report --yes",
  );
  expect(before).toBeUndefined();
  expect(grantedTo(world)).toEqual({ read: ["./data.txt"], env: ["REPORT_TOKEN"] });
});

function createWorld(): Project {
  return createProject({
    "source/SKILL.md": head,
    "source/scripts/make.sh": first,
    "data.txt": "data\n",
    ".git/HEAD": "",
  });
}

function run(project: Project, ...words: readonly string[]): Promise<KitbagRun> {
  return runKitbag(words, { project });
}

function grantedTo(project: Project): unknown {
  const { trusted } = JSON.parse(readFileSync(project.trustFile, "utf8")) as {
    trusted: { folder: string; granted?: unknown }[];
  };
  const entry = trusted.find(({ folder }) => folder.endsWith("/skills/report"));
  expect(entry).toBeDefined();
  return entry?.granted;
}
