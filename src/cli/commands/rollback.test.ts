import { appendFileSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { withForge } from "../../../test/support/with-forge.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag list, show, call, search, versions and rollback see the tools that were made in the project", async () => {
  const project = createProject();
  await makeTools(project);

  const list = await kitbag(project, "list");
  const show = await kitbag(project, "show", "say", "--json");
  const search = await kitbag(project, "search", "something", "--json");
  const called = await kitbag(project, "call", "say");
  const earlier = await kitbag(project, "call", "say@1.0.0");
  const versions = await kitbag(project, "versions", "say", "--json");
  const rollback = await kitbag(project, "rollback", "say", "1.0.0");
  const after = await kitbag(project, "call", "say");

  expect(list.stdout).toBe("TOOL  SOURCE  DESCRIPTION\nsay   global  Says something\n");
  expect(JSON.parse(show.stdout)).toMatchObject({ address: "say", version: "1.0.1", permissionsEnforced: true });
  expect(search.stdout).toContain('"say"');
  expect([called.stdout.trim(), earlier.stdout.trim(), after.stdout.trim()]).toEqual(["B", "A", "A"]);
  expect(JSON.parse(versions.stdout)).toMatchObject({
    versions: [{ version: "1.0.0" }, { version: "1.0.1", current: true }],
  });
  expect(rollback.stdout).toBe("say is at 1.0.0 now; it was at 1.0.1. To undo: kitbag rollback say 1.0.1\n");
});

test("kitbag list and call name tools that were not made here, and do not run them", async () => {
  const project = createProject();
  const other = createProject();
  await makeTools(other);
  cpSync(join(other.folder, ".kitbag"), join(project.folder, ".kitbag"), { recursive: true });

  const list = await kitbag(project, "list");
  const called = await kitbag(project, "call", "say");
  const trusted = await kitbag(project, "trust", ".kitbag/tools/say");
  const after = await kitbag(project, "call", "say");

  expect(list.stdout).toContain("say   not trusted  Read it, then run: kitbag trust .kitbag/tools/say");
  expect(called).toMatchObject({ code: 1, stdout: "" });
  expect(called.stderr).toContain("it was not made here and is not trusted");
  expect(trusted.code).toBe(0);
  expect(after.stdout.trim()).toBe("B");
});

test("kitbag rollback goes back from a manifest that cannot be read, which kitbag trust does not take", async () => {
  const project = createProject();
  await makeTools(project);
  const folder = join(project.folder, ".kitbag/tools/say");
  writeFileSync(join(folder, "manifest.json"), "<<<<<<< ours\n");

  const trusted = await kitbag(project, "trust", ".kitbag/tools/say");
  const called = await kitbag(project, "call", "say");
  const rollback = await kitbag(project, "rollback", "say", "1.0.0");
  const after = await kitbag(project, "call", "say");

  expect(trusted.code).toBe(2);
  for (const { stderr } of [trusted, called]) expect(stderr).toContain("kitbag rollback say 1.0.1");
  expect(rollback.stdout).toBe(
    "say is at 1.0.0 now; what was broken is kept in .kitbag/tools/say/versions, in a folder that begins with broken-\n",
  );
  expect(after.stdout.trim()).toBe("A");
  expect(readFileSync(join(folder, "versions/broken-1/manifest.json"), "utf8")).toBe("<<<<<<< ours\n");
});

test("kitbag trust makes a version of what was written by hand into a tool that was made, if its examples pass", async () => {
  const project = createProject();
  await makeTools(project);
  const path = join(project.folder, ".kitbag/tools/say/main.sh");
  appendFileSync(path, "# mine\n");

  const trusted = await kitbag(project, "trust", ".kitbag/tools/say");
  const called = await kitbag(project, "call", "say");
  const versions = await kitbag(project, "versions", "say", "--json");
  writeFileSync(path, "echo broken\n");
  const refused = await kitbag(project, "trust", ".kitbag/tools/say", "--json");
  const broken = await kitbag(project, "call", "say");

  expect(trusted).toMatchObject({
    code: 0,
    stdout: "say is live, at 1.0.2: what was written by hand is this version now, and its examples pass.\n",
  });
  expect(called.stdout.trim()).toBe("B");
  expect(JSON.parse(versions.stdout)).toMatchObject({
    versions: [{ version: "1.0.0" }, { version: "1.0.1" }, { version: "1.0.2", current: true, step: "patch" }],
  });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("1 of 1 examples did not pass, so it is not live");
  expect(JSON.parse(refused.stdout)).toMatchObject({
    trusted: false,
    tools: [{ name: "say", status: "refused", error: { code: "draft-refused" } }],
  });
  expect(broken).toMatchObject({ code: 0, stdout: "B\n" });
  expect(broken.stderr).toContain("it was changed by hand and is not trusted");
});

test("kitbag trust tries a pipeline that was written by hand with the tools of the project's skills", async () => {
  const project = createProject();
  await withForge(project, async (forge) => {
    const { name: _, ...tool } = say("A");
    const draft = { description: "Says something. Use it to say something.", instructions: "Say it." };
    await forge.createSkill({ ...draft, name: "talk", tools: [{ ...tool, name: "say" }] });
    await forge.workspace.activateSkill("talk");
    const step = { id: "one", tool: "talk/say", args: {} };
    await forge.createPipeline({ name: "twice", description: "Says it", steps: [step], examples: [{ input: {} }] });
  });
  const path = join(project.folder, ".kitbag/tools/twice/manifest.json");
  writeFileSync(path, readFileSync(path, "utf8").replace("Says it", "Says it again"));

  const trusted = await kitbag(project, "trust", ".kitbag/tools/twice");

  expect(trusted).toMatchObject({ code: 0, stdout: expect.stringContaining("twice is live, at 1.0.1") as string });
});

test("kitbag rollback says truly what was live before, and how to get it back", async () => {
  const project = createProject();
  await makeTools(project);
  appendFileSync(join(project.folder, ".kitbag/tools/say/main.sh"), "# mine\n");

  const byHand = await kitbag(project, "rollback", "say", "1.0.1");
  const already = await kitbag(project, "rollback", "say", "1.0.1");
  await kitbag(project, "trust", ".kitbag/tools/say");
  const undone = await kitbag(project, "rollback", "say", "1.0.2");
  await withForge(project, (forge) => forge.deleteTool("say"));
  const deleted = await kitbag(project, "rollback", "say", "1.0.1");

  expect(byHand.stdout).toBe(
    "say is at 1.0.1 now; what was not trusted is kept as 1.0.2. To undo: kitbag trust .kitbag/tools/say, then kitbag rollback say 1.0.2\n",
  );
  expect(already.stdout).toBe("say is at 1.0.1 already.\n");
  expect(undone.stdout).toBe("say is at 1.0.2 now; it was at 1.0.1. To undo: kitbag rollback say 1.0.1\n");
  expect(deleted.stdout).toBe("say is at 1.0.1 now, and no longer deleted. To undo: kitbag remove say\n");
});

test("kitbag rollback names the pipelines that use the tool", async () => {
  const project = createProject();
  await makeTools(project);
  await withForge(project, (forge) =>
    forge.createPipeline({
      name: "twice",
      description: "Says it again",
      steps: [{ id: "one", tool: "say", args: {} }],
      examples: [{ input: {} }],
    }),
  );

  const rollback = await kitbag(project, "rollback", "say", "1.0.0");

  expect(rollback.stdout).toContain("\nUsed by twice: see whether that is right with kitbag test twice\n");
});

test.for([
  [["nobody", "1.0.0"], 1, "Cannot find the tool"],
  [["say", "9.9.9"], 1, 'Cannot find the version "9.9.9" of "say": the latest are 1.0.0, 1.0.1'],
  [["../say", "1.0.0"], 1, "Cannot find the tool"],
  [["say"], 2, "name a version; kitbag versions say lists them"],
] as const)("kitbag rollback %j ends with %i and says why", async ([words, code, reason]) => {
  const project = createProject();
  await makeTools(project);

  const run = await kitbag(project, "rollback", ...words);

  expect(run).toMatchObject({ code, stdout: "" });
  expect(run.stderr).toContain(reason);
});

test("kitbag approvals shows a draft that wants more than the policy grants, and makes it live", async () => {
  const project = createProject();
  const waiting = await withForge(project, (forge) =>
    forge.createTool({ ...say("A"), permissions: { network: ["api.example.com"] } }),
  );
  const id = waiting.status === "waiting" ? waiting.id : "";

  const list = await kitbag(project, "approvals");
  const before = await kitbag(project, "list");
  const approved = await kitbag(project, "approvals", "approve", id);
  const called = await kitbag(project, "call", "say");

  expect(list.stdout).toContain(`${id}  tool say`);
  expect(list.stdout).toContain("network api.example.com");
  expect(before.stdout).not.toContain("say ");
  expect(approved).toMatchObject({ code: 0, stdout: "say is live now, at 1.0.0. Next:\n  kitbag call say\n" });
  expect(called.stdout.trim()).toBe("A");
});

test("kitbag approvals deny throws a draft away", async () => {
  const project = createProject();
  const waiting = await withForge(project, (forge) =>
    forge.createTool({ ...say("A"), permissions: { env: ["TOKEN"] } }),
  );
  const id = waiting.status === "waiting" ? waiting.id : "";

  const denied = await kitbag(project, "approvals", "deny", id);
  const list = await kitbag(project, "approvals");

  expect(denied.stdout).toBe("Denied say.\n");
  expect(list.stdout).toBe("No call waits for an approval.\n");
});

function kitbag(project: Project, ...words: string[]): Promise<KitbagRun> {
  return runKitbag(words, { project });
}

function say(text: string) {
  return {
    name: "say",
    description: "Says something",
    language: "bash" as const,
    code: `echo ${text}\n`,
    examples: [{ input: {}, output: text }],
  };
}

async function makeTools(project: Project): Promise<void> {
  await withForge(project, async (forge) => {
    await forge.createTool(say("A"));
    const { code, examples } = say("B");
    await forge.updateTool("say", { code, examples });
  });
}
