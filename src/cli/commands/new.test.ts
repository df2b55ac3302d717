import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { templates } from "../../forge/templates/templates.ts";
import { skillTemplates, toolTemplateNames } from "./new.ts";

test.for(skillTemplates.map(({ name }) => name))(
  "kitbag new skill --template %s makes a skill that passes the specification",
  async (template, context) => {
    if (template === "python") needProgram(context, "python3");
    const project = createProject();

    const made = await runKitbag(["new", "skill", "my-skill", "--template", template, "--dir", "skills"], { project });
    const checked = await runKitbag(["check", "skills", "--spec", "--json"], { project });

    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(checked.code).toBe(0);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      skills: [{ name: "my-skill", path: "skills/my-skill", status: "ok", diagnostics: [] }],
    });
  },
);

test.for([
  ["python", "count_lines", "declared", ["contains", "format", "file"], ["file"]],
  ["node", "count-lines", "declared", ["file", "contains", "trim"], ["file"]],
  ["bash", "count-files", "usage", ["folder", "name", "hidden"], ["folder"]],
  ["hybrid", "compare-folders", "declared", ["left", "right"], ["left", "right"]],
] as const)(
  "kitbag new skill --template %s has the typed tool %s",
  async ([template, tool, confidence, names, required], context) => {
    if (template === "python") needProgram(context, "python3");
    const project = createProject();
    await runKitbag(["new", "skill", "my-skill", "--template", template], { project });

    const run = await runKitbag(["show", `my-skill/${tool}`, "--json"], { project });

    const shown = JSON.parse(run.stdout) as { inputSchema: { properties: object; required: string[] } };
    expect(shown).toMatchObject({ confidence });
    expect(Object.keys(shown.inputSchema.properties)).toEqual(names);
    expect(shown.inputSchema.required).toEqual(required);
  },
);

test.for([
  ["node", "scripts/count-lines.mjs", [process.execPath], ["--file", "SKILL.md", "--contains", "name:"]],
  ["bash", "scripts/count-files.sh", ["bash"], ["--folder", ".", "--name", "*.md"]],
] as const)("kitbag new skill --template %s has a script that runs", async ([template, script, [program], words]) => {
  const project = createProject();
  await runKitbag(["new", "skill", "my-skill", "--template", template, "--dir", "."], { project });
  const folder = join(project.folder, "my-skill");

  const output = execFileSync(program, [script, ...words], { cwd: folder, encoding: "utf8" });

  expect(Object.values(JSON.parse(output) as object)).toContain(1);
  expect(statSync(join(folder, script)).mode & 0o111).not.toBe(0);
});

test("kitbag new skill says what it wrote and what to do next", async () => {
  const run = await runKitbag(["new", "skill", "meeting-notes", "--description", "Writes  notes: of meetings"]);

  expect(run).toEqual({
    code: 0,
    stderr: "",
    stdout: `Wrote:
  .kitbag/skills/meeting-notes/SKILL.md
  .kitbag/skills/meeting-notes/references/details.md

Next:
  kitbag show meeting-notes --text
  kitbag dev .kitbag/skills/meeting-notes

It has no tools yet: put scripts into .kitbag/skills/meeting-notes/scripts, or start with --template python, node or bash.
kitbag dev checks, tests and trusts what you edit, as long as it runs. Without it, run kitbag trust after an edit.
`,
  });
});

test.for(["python", "node", "bash"])(
  "kitbag new skill --template %s makes a skill that reads a file which is named, and whose tests pass",
  async (template, context) => {
    if (template === "python") needProgram(context, "python3");
    const project = createProject({ "notes.txt": "buy milk\nbread\n" });

    const made = await runKitbag(["new", "skill", "my-skill", "--template", template], { project });
    const call = await runKitbag(/kitbag (call .*)/u.exec(made.stdout)?.[1]?.split(" ") ?? [], { project });
    const tested = await runKitbag(["test", "--json"], { project });

    expect(call).toMatchObject({ code: 0, stdout: expect.stringContaining("{") as string });
    expect(JSON.parse(tested.stdout)).toMatchObject({ summary: { passed: 1, failed: 0, declined: 0 } });
    expect((JSON.parse(tested.stdout) as { summary: { examples: number } }).summary.examples).toBeGreaterThan(0);
  },
);

test("kitbag new skill says how to make the file that its first call names, if there is no ordinary one", async () => {
  const project = createProject({ "kitbag.lock": "" });

  const made = await runKitbag(["new", "skill", "my-skill", "--template", "node"], { project });

  expect(made.stdout).toContain("  echo milk > notes.txt\n  kitbag call my-skill/count-lines --file notes.txt\n");
});

test("kitbag new skill makes a skill that runs at once, until one of its files changes", async () => {
  const project = createProject();
  await runKitbag(["new", "skill", "my-skill", "--template", "hybrid"], { project });
  project.write("some/a.ts", "");
  const call = ["call", "my-skill/count-files", "--folder", "some", "--json"];

  const first = await runKitbag(call, { project });
  project.write(".kitbag/skills/my-skill/scripts/other.sh", "echo hi\n");
  const second = await runKitbag(call, { project });

  expect(JSON.parse(first.stdout)).toEqual({ status: "ok", output: '{ "files": 1 }' });
  expect(JSON.parse(second.stdout)).toMatchObject({ status: "failed", error: { code: "skill-untrusted" } });
});

test("kitbag new plugin makes a plugin whose module is called at once, and that passes the check", async () => {
  const project = createProject();

  const made = await runKitbag(["new", "plugin", "sums"], { project });
  const call = await runKitbag(["call", "plugin:sums/digest", "--text", "abc", "--algorithm", "crc32", "--json"], {
    project,
  });
  const checked = await runKitbag(["check", "--json"], { project });

  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain("kitbag call sums/digest --text abc\n");
  expect(JSON.parse(call.stdout)).toMatchObject({ status: "ok", output: { hex: "352441c2" } });
  expect(JSON.parse(checked.stdout)).toMatchObject({ skills: [{ name: "sums", status: "ok", diagnostics: [] }] });
});

test("kitbag new skill --dir makes a skill that is not trusted: it runs where it is named", async () => {
  const project = createProject({ "some/a.ts": "" });

  const made = await runKitbag(["new", "skill", "my-skill", "--template", "hybrid", "--dir", "skills"], { project });
  const call = /kitbag (call .*)/u.exec(made.stdout)?.[1]?.split(" ") ?? [];
  const run = await runKitbag(call, { project });

  expect(call).toEqual(["call", "my-skill/count-files", "--folder", ".", "--skills", "skills/my-skill"]);
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('{ "files":') as string });
  expect(existsSync(project.trustFile)).toBe(false);
});

test("kitbag new skill --json tells the files, and writes the description so that YAML reads it", async () => {
  const project = createProject();
  const description = 'Says: "yes" # and \\ no';

  const run = await runKitbag(["new", "skill", "a", "--dir", "s", "--description", description, "--json"], { project });
  const shown = await runKitbag(["show", "a", "--skills", "s", "--json"], { project });

  expect(JSON.parse(run.stdout)).toEqual({
    name: "a",
    template: "plain",
    path: "s/a",
    files: ["SKILL.md", "references/details.md"],
    trusted: false,
  });
  expect(JSON.parse(shown.stdout)).toMatchObject({ description });
});

test.for([
  [["new", "skill", "My Skill"], "for example: my-skill"],
  [["new", "skill", "../evil"], "for example: evil"],
  [["new", "skill", "a--b"], "for example: a-b"],
  [["new", "skill", "Ünïcode"], "for example: unicode"],
  [["new", "skill", "\u001B[31m"], 'Cannot name a skill "\\u001b[31m"'],
  [["new", "skill", "x".repeat(65)], "1 to 64 lower-case letters"],
  [["new", "skill", ""], "for example: my-skill"],
  [["new", "agent", "x"], 'Cannot start "agent": only a skill, a plugin or a tool can be started'],
  [["new", "skill", "x", "--param", "a=b"], "only templates of tools have parameters"],
  [["new", "tool", "x", "--template", "csv_report"], 'did you mean "csv-report"?'],
  [["new", "tool", "x", "--template", "csv-report", "--param", "groupBy"], "write name=value"],
  [["new", "tool", "x", "--template", "csv-report", "--param", "__proto__=1"], "groupBy, sumOf, delimiter, folder"],
  [["new", "tool", "x", "--dir", "y"], "tools are made in .kitbag/tools"],
  [["new", "skill"], "missing required argument 'name'"],
  [["new", "skill", "x", "--template", "pyton"], 'did you mean "python"?'],
  [["new", "skill", "x", "--template", "__proto__"], "the templates are plain, python, node, bash, hybrid"],
  [["new", "skill", "x", "--description", " "], "Cannot use --description"],
  [["new", "skill", "x", "--description", "<b>x</b>"], "without < and >"],
] as const)("kitbag %j is wrong usage, and writes nothing", async ([words, message]) => {
  const project = createProject();

  const run = await runKitbag(words, { project });

  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toContain(message);
  expect(run.stderr.trim().split("\n")).toHaveLength(1);
  expect(readdirSync(project.folder)).toEqual([]);
});

test("kitbag new tool makes a tool of a template that can be called", async (context) => {
  needProgram(context, "python3");
  const project = createProject();
  const words = ["--template", "csv-report", "--param", "groupBy=region", "--param", "delimiter=;"];

  const made = await runKitbag(["new", "tool", "sales", ...words], { project });
  const called = await runKitbag(["call", "sales", "--csv", "region;amount\nnorth;2", "--json"], { project });

  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain("Made .kitbag/tools/sales of the template csv-report; its examples pass.");
  expect(existsSync(join(project.folder, ".kitbag/tools/sales/manifest.json"))).toBe(true);
  expect(JSON.parse(called.stdout)).toMatchObject({ output: { groups: [{ group: "north", sum: 2 }] } });
});

test("kitbag new tool waits for a person when the template asks for permissions", async () => {
  const project = createProject();
  const words = ["--template", "api-client", "--param", "host=api.example.org"];

  const made = await runKitbag(["new", "tool", "api", ...words], { project });

  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toMatch(/api asks for network api\.example\.org\..*\n {2}kitbag approvals approve \w+/u);
});

test.for([
  ["../x", [], "a name is letters"],
  ["x", ["--template", "pipeline"], "The addresses of the tools"],
  ["x", ["--template", "api-client", "--param", "host=a/b"], "parameters.host"],
] as const)("kitbag new tool %s %j fails in one line, and makes nothing", async ([name, words, message]) => {
  const project = createProject();

  const run = await runKitbag(["new", "tool", name, ...words], { project });

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toContain(message);
  expect(existsSync(join(project.folder, ".kitbag/tools", name))).toBe(false);
});

test("kitbag new tool --template skill-with-script makes a skill, and the help lists every template", async (context) => {
  needProgram(context, "python3");
  const project = createProject();

  const made = await runKitbag(["new", "tool", "notes", "--template", "skill-with-script"], { project });
  const checked = await runKitbag(["check", ".kitbag/skills"], { project });
  const help = await runKitbag(["new", "--help"], { project });

  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(checked.code).toBe(0);
  expect(toolTemplateNames).toEqual(templates.map(({ name }) => name));
  for (const name of toolTemplateNames) expect(help.stdout).toContain(name);
});

test("kitbag new tool says how to edit a tool that is there already", async () => {
  const project = createProject();
  await runKitbag(["new", "tool", "hi", "--template", "script-bash"], { project });

  const again = await runKitbag(["new", "tool", "hi", "--template", "script-bash"], { project });

  expect(again).toMatchObject({ code: 1, stdout: "" });
  expect(again.stderr).toBe(
    'Cannot make "hi": there is already a tool of this name; take another name, or edit its files in .kitbag/tools/hi and run: kitbag trust .kitbag/tools/hi, which tries it and makes the next version\n',
  );
});

test("kitbag new skill never touches what is there", async () => {
  const project = createProject({ "skills/mine/SKILL.md": "precious" });
  symlinkSync("/nowhere", join(project.folder, "skills/dangling"));

  const run = await runKitbag(["new", "skill", "mine", "--dir", "skills"], { project });
  const dangling = await runKitbag(["new", "skill", "dangling", "--dir", "skills"], { project });
  const notFolder = await runKitbag(["new", "skill", "x", "--dir", "skills/mine/SKILL.md"], { project });

  for (const { code, stdout } of [run, dangling, notFolder]) expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(readFileSync(join(project.folder, "skills/mine/SKILL.md"), "utf8")).toBe("precious");
  expect(existsSync("/nowhere")).toBe(false);
});

test("kitbag new skill follows no link of the project that leads elsewhere", async () => {
  const elsewhere = createProject();
  const project = createProject({ ".kitbag/a": "" });
  symlinkSync(elsewhere.folder, join(project.folder, ".kitbag/skills"));

  const { code, stdout, stderr } = await runKitbag(["new", "skill", "mine"], { project });

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(".kitbag/skills is a link that leads to");
  expect(existsSync(join(elsewhere.folder, "mine"))).toBe(false);
});
