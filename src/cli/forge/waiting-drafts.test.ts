import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { countWords } from "../../../test/support/open-test-forge.ts";
import { withForge } from "../../../test/support/with-forge.ts";
import { defineTool } from "../../core/define-tool.ts";
import { defineSkill } from "../../core/define-skill.ts";
import type { AuthorOptions } from "../../forge/edits.ts";
import { openForge } from "../../forge/open-forge.ts";
import { toOutput } from "../../forge/tools/to-output.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";

vi.setConfig({ testTimeout: 60_000 });

test("kitbag approvals lists drafts of tools and skills with what they ask for, and approves a skill that is then there", async () => {
  const project = createProject();
  const [tool, skill] = await keepDrafts(project);

  const listed = await runKitbag(["approvals"], { project });
  const before = await runKitbag(["list"], { project });
  const approved = await runKitbag(["approvals", "approve", skill], { project });
  const called = await runKitbag(["call", "texts/count-words", "--text", "a b c"], { project });

  expect(listed.stdout).toMatch(new RegExp(`${tool} +tool count-words +network api\\.example\\.com`, "u"));
  expect(listed.stdout).toMatch(new RegExp(`${skill} +skill texts +network api\\.example\\.com`, "u"));
  expect(before.stdout).not.toContain("texts");
  expect([approved.code, approved.stdout]).toEqual([
    0,
    "texts is live now, at 1.0.0. Next:\n  kitbag call texts/count-words\n",
  ]);
  expect([called.code, called.stdout]).toEqual([0, expect.stringContaining('"words": 3')]);
});

test("kitbag approvals show tells all of a draft before somebody decides, and so does the list for programs", async () => {
  const project = createProject();
  const [tool, skill] = await keepDrafts(project);

  const listed = await runKitbag(["approvals"], { project });
  const json = await runKitbag(["approvals", "--json"], { project });
  const shownTool = await runKitbag(["approvals", "show", tool], { project });
  const shownSkill = await runKitbag(["approvals", "show", skill.slice(0, 6)], { project });

  expect(listed.stdout).toContain("To see all of one: kitbag approvals show <id>");
  expect(JSON.parse(json.stdout)).toMatchObject({ drafts: [{ draft: { code: countWords.code } }, { draft: {} }] });
  expect(shownTool.stdout).toContain("asks for     network api.example.com");
  expect(shownTool.stdout).toContain(`+++ main.js\n${countWords.code}`);
  expect(shownTool.stdout).toContain('"description": "Counts the words of a text"');
  expect(shownTool.stdout).toContain(`kitbag approvals approve ${tool}`);
  expect(shownSkill.stdout).toContain(`+++ tools/count-words/main.js\n${countWords.code}`);
  expect(shownSkill.stdout).toContain("+++ SKILL.md\nCount.\n");
});

test("kitbag approvals show tells what an edit changes in the version that is live", async () => {
  const project = createProject();
  const id = await withForge(project, async (forge) => {
    await forge.createTool(countWords);
    const code = `// mine\n${countWords.code}`;
    const answer = await forge.updateTool("count-words", { code, permissions: { network: ["api.example.com"] } });
    return answer.status === "waiting" ? answer.id : answer.status;
  });

  const shown = await runKitbag(["approvals", "show", id], { project });

  expect(shown.stdout).toContain("made from    1.0.0");
  expect(shown.stdout).toContain("--- main.js");
  expect(shown.stdout).toContain("+// mine\n const text");
  expect(shown.stdout).toContain('+      "api.example.com"');
});

test("a tool of another user that waits to be shared says so, who asks, and which version stays live", async () => {
  const project = createProject();
  const bob: AuthorOptions = { owner: "bob" };
  const [hints, waiting] = await withForge(project, async (forge) => {
    const live = await forge.createTool(countWords, bob);
    const answer = await forge.updateTool("count-words", { shared: true }, bob);
    return [live.status === "live" ? live.howToCall : [], toOutput(answer)];
  });
  const id = String(waiting["id"]);

  const approvals = await runKitbag(["approvals"], { project });
  const shown = await runKitbag(["approvals", "show", id], { project });
  const listed = await runKitbag(["list"], { project });
  const versions = await runKitbag(["versions"], { project });
  const called = await runKitbag(["call", "count-words", "--text", "a"], { project });

  expect(hints.join("\n")).not.toContain("On the command line");
  expect(waiting["next"]).toMatch(
    /^Version 1\.0\.0 stays live, and nothing of the change has run: a person must agree/u,
  );
  expect(approvals.stdout).toMatch(/WANTS +ASKED BY/u);
  expect(approvals.stdout).toMatch(/tool count-words +to be shared with every user +bob /u);
  expect(shown.stdout).toMatch(/^asks +to be shared with every user$/mu);
  expect(shown.stdout).toMatch(/^asked by +bob$/mu);
  expect(listed.stdout).toMatch(/^count-words +made by bob, not shared /mu);
  expect(versions.stdout).toMatch(/^count-words .* made by bob, not shared$/mu);
  expect(called.stderr).not.toContain("asks for to be");
});

test("kitbag approvals show names the list if there is no such id", async () => {
  const shown = await runKitbag(["approvals", "show", "0123456789abcdef"], { project: createProject() });

  expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining("kitbag approvals lists") as string });
});

test("kitbag call of a tool that waits for approval says so, and which command approves it", async () => {
  const project = createProject();
  const [tool, skill] = await keepDrafts(project);

  const called = await runKitbag(["call", "count-words", "--text", "a"], { project });
  const ofSkill = await runKitbag(["call", "texts/count-words", "--text", "a"], { project });

  const cure = (id: string): string => `kitbag approvals show ${id}; then approve it: kitbag approvals approve ${id}`;
  expect(called.code).toBe(1);
  expect(called.stderr).toContain(
    `The tool count-words waits for approval: it asks for network api.example.com. Read it: ${cure(tool)}\n`,
  );
  expect(ofSkill.stderr).toContain("The skill texts waits for approval: it asks for network api.example.com.");
  expect(ofSkill.stderr).toContain(cure(skill));
});

test("kitbag approvals deny throws a draft away", async () => {
  const project = createProject();
  const [tool, skill] = await keepDrafts(project);

  const denied = await runKitbag(["approvals", "deny", skill], { project });
  const { stdout } = await runKitbag(["approvals", "--json"], { project });

  expect([denied.code, denied.stdout]).toEqual([0, "Denied texts.\n"]);
  expect((JSON.parse(stdout) as { drafts: readonly { id: string }[] }).drafts).toMatchObject([{ id: tool }]);
});

test("kitbag approvals approves a tool that calls tools of the configuration and of a skill, and keeps its draft until then", async () => {
  const project = createProject({ "kitbag.config.ts": hostConfig, ...namesSkill });
  await runKitbag(["trust", "."], { project });
  const id = await keepCaller(project);

  const refused = await runKitbag(["approvals", "approve", id], { project });
  const approved = await runKitbag(["approvals", "approve", id, "--skills", "skills"], { project });
  const called = await runKitbag(["call", "caller", "--skills", "skills"], { project });
  const { stdout } = await runKitbag(["approvals", "--json"], { project });

  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain('it wants to call "names/first", which is not there');
  expect(refused.stderr).not.toContain('"hostdel"');
  expect([approved.code, approved.stdout]).toEqual([0, expect.stringContaining("caller is live now")]);
  expect([called.code, called.stdout]).toEqual([0, expect.stringContaining("deleted")]);
  expect(JSON.parse(stdout)).toEqual({ approvals: [] });
});

const hostConfig = `
import { defineTool } from "kitbag";
export default { tools: [defineTool({ name: "hostdel", description: "Deletes", run: () => "deleted" })] };
`;

const namesSkill = {
  "skills/names/SKILL.md": "---\nname: names\ndescription: Names\n---\n",
  "skills/names/scripts/first.sh": "echo Ada\n",
};

/** Keeps a draft of a tool that calls a tool of the configuration and declares one of a skill, and tells its id. */
async function keepCaller({ folder: directory, home }: Project): Promise<string> {
  const workspace = createWorkspace({
    tools: [defineTool({ name: "hostdel", description: "Deletes", run: () => "deleted" })],
    skills: [
      defineSkill({
        name: "names",
        description: "Names",
        tools: [defineTool({ name: "first", description: "Ada", run: () => "Ada" })],
      }),
    ],
  });
  const forge = await openForge({ workspace, directory, home, watch: false });
  const code = 'import { call } from "kitbag";\nconsole.log(await call("hostdel", {}));\n';
  const answer = await forge.createTool({
    name: "caller",
    description: "Calls others",
    language: "javascript",
    examples: [{ input: {} }],
    uses: ["hostdel", "names/first"],
    code,
  });
  await forge.close();
  return answer.status === "waiting" ? answer.id : JSON.stringify(answer);
}

/** Keeps a draft of a tool and one of a skill that want more than the policy grants, and tells their ids. */
async function keepDrafts({ folder, home }: Project): Promise<readonly [tool: string, skill: string]> {
  const forge = await openForge({ workspace: createWorkspace(), directory: folder, home, watch: false });
  const draft = { ...countWords, permissions: { network: ["api.example.com"] } };
  const answers = [
    await forge.createTool(draft),
    await forge.createSkill({ name: "texts", description: "Counts", instructions: "Count.", tools: [draft] }),
  ];
  await forge.close();
  const [tool = "", skill = ""] = answers.map((answer) => (answer.status === "waiting" ? answer.id : answer.status));
  return [tool, skill];
}
