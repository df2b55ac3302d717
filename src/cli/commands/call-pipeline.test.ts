import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { sayTool } from "../../../test/support/open-test-forge.ts";
import { withForge } from "../../../test/support/with-forge.ts";

vi.setConfig({ testTimeout: 120_000 });

test("kitbag call opens the skills whose tools a pipeline calls, also one in a pipeline", async () => {
  const project = await createPiped();

  const called = await kitbag(project, "call", "outer");

  expect(called).toMatchObject({ code: 0, stderr: "Opened the skill talk for this call\n" });
  expect(called.stdout.trim()).toBe("A");
});

test("kitbag call names the skill of a pipeline that is not trusted, or not there", async () => {
  const project = await createPiped();
  const folder = join(project.folder, ".kitbag/skills/talk");

  appendFileSync(join(folder, "tools/say/main.sh"), "# changed\n");
  const untrusted = await kitbag(project, "call", "piped");
  rmSync(folder, { recursive: true });
  const gone = await kitbag(project, "call", "piped");

  expect([untrusted.code, gone.code]).toEqual([1, 1]);
  expect(untrusted.stderr).toContain("kitbag trust");
  expect(untrusted.stderr).toContain("skills/talk");
  expect(gone.stderr).toContain('"talk/say"');
});

test("kitbag test opens the skills whose tools a pipeline calls, and fails one whose step is not there", async () => {
  const project = await createPiped();

  const good = await kitbag(project, "test", "piped", "--json");
  rmSync(join(project.folder, ".kitbag/skills/talk"), { recursive: true });
  const bad = await kitbag(project, "test", "piped", "--json");

  expect(JSON.parse(good.stdout)).toMatchObject({ tools: [{ passed: true, examples: [{ status: "passed" }] }] });
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout)).toMatchObject({ tools: [{ passed: false, examples: [{ status: "failed" }] }] });
});

test("kitbag show tells what a pipeline over a skill's tool may do, as the tool says it", async () => {
  const project = await createPiped();

  const shown = await kitbag(project, "show", "piped", "--json");

  expect(JSON.parse(shown.stdout)).toMatchObject({ annotations: { readOnly: true } });
});

/** A project with the skill `talk`, the pipeline `piped` over its tool, and `outer` over that. */
async function createPiped(): Promise<Project> {
  const project = createProject();
  await withForge(project, async (forge) => {
    const tool = { ...sayTool("say", "A"), annotations: { readOnly: true } };
    const skill = { name: "talk", description: "Says something. Use it to say something.", instructions: "Say it." };
    await forge.createSkill({ ...skill, tools: [tool] });
    await forge.workspace.activateSkill("talk");
    const head = { description: "Says it", examples: [{ input: {} }] };
    await forge.createPipeline({ ...head, name: "piped", steps: [{ id: "one", tool: "talk/say", args: {} }] });
    await forge.createPipeline({ ...head, name: "outer", steps: [{ id: "one", tool: "piped", args: {} }] });
  });
  return project;
}

function kitbag(project: Project, ...args: readonly string[]): Promise<KitbagRun> {
  return runKitbag(args, { project });
}
