import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test, vi } from "vitest";

import { makeDirectory, openMcp, programOf } from "../../../test/support/mcp-sources.ts";
import { createKeptContent } from "../../runtimes/mcp/kept-content.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import { inspectServer } from "./inspect-server.ts";
import { findServerSkills } from "./server-skills.ts";

vi.setConfig({ testTimeout: 60_000 });

const document =
  "---\nname: forms\ndescription: Fills in forms\n---\n# Forms\n\n!`touch ran`\n\nRead references/how.md first.\n";

test("findServerSkills() makes skills of what a server has, with its files, and nothing of them runs", async () => {
  const { home, inspect, source } = await setUp([]);
  const { pins, skills } = await inspect();

  const found = findServerSkills(source, { findPins: () => pins, kept: keptOf(home), directory: join(home, "skills") });

  expect(skills.map(({ skill }) => skill.uri)).toEqual(["skill://forms/SKILL.md"]);
  expect(found.refused).toEqual([]);
  expect(found.skills).toMatchObject([
    { name: "other.forms", description: "Fills in forms", tools: [], permissions: {}, modelInvocable: true },
  ]);
  const workspace = createWorkspace({ skills: found.skills });
  const session = workspace.openSession();
  const opened = await session.activateSkill("other.forms");
  expect(opened).toMatchObject({ status: "ok" });
  const readFile = createDispatchTools(session).find(({ name }) => name === "read_skill_file");
  const file = await readFile?.run({ skill: "other.forms", path: "references/how.md" });
  expect(file).toMatchObject({ status: "ok", output: { text: "Slowly.\n" } });
});

test("inspectServer() refuses a skill whose files are not what the server says they are", async () => {
  const { inspect } = await setUp(["lies"]);

  const { skills, refused, pins } = await inspect();

  expect(skills).toEqual([]);
  expect(pins.skills.size).toBe(0);
  expect(refused).toEqual([{ name: "skill://forms/SKILL.md", reason: expect.stringMatching(/digest/iu) as string }]);
});

test("findServerSkills() has nothing of a server that nobody agreed to, and says what is not kept here", async () => {
  const { home, source } = await setUp([]);
  const pins = { tools: new Map(), skills: new Map([["skill://forms/SKILL.md", `sha256:${"0".repeat(64)}`]]) };
  const options = { kept: keptOf(home), directory: join(home, "skills") };

  expect(findServerSkills(source, { ...options, findPins: () => undefined })).toEqual({ skills: [], refused: [] });
  expect(findServerSkills(source, { ...options, findPins: () => pins })).toEqual({
    skills: [],
    refused: [{ name: "skill://forms/SKILL.md", reason: "it is not kept on this machine yet" }],
  });
});

async function setUp(way: readonly string[]) {
  const folder = makeDirectory();
  for (const [path, text] of Object.entries({
    "forms/SKILL.md": document,
    "forms/references/how.md": "Slowly.\n",
    "forms/scripts/run.sh": "touch ran\n",
  })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { runtime, home } = openMcp();
  const source = programOf("skills-server.mjs", [folder, ...way], { permissions: { read: [folder] } });
  const inspect = () => inspectServer(source, { runtime, kept: keptOf(home), before: undefined });
  return { home, source, inspect };
}

function keptOf(home: string) {
  return createKeptContent(join(home, "kept"));
}
