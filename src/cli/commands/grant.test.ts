import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";

// Each test starts several processes.
vi.setConfig({ testTimeout: 120_000 });

const script = 'test -r data/a.txt && cat data/a.txt || echo "nothing"\necho "token $REPORT_TOKEN"\n';
const place = ".claude/skills/report";
const files = {
  "data/a.txt": "content of a\n",
  [`${place}/SKILL.md`]: "---\nname: report\ndescription: Makes a report\n---\nRun it.\n",
  [`${place}/scripts/make.sh`]: script,
};

test("kitbag grant lets a skill touch what it names, from beside its folder, and kitbag revoke takes it back", async (context) => {
  needProgram(context, "bash");
  const project = await createTrusted();

  const before = await call(project);
  const granted = await run(project, "grant", "report", "--read", "data", "--env", "REPORT_TOKEN");
  const after = await call(project);
  const revoked = await run(project, "revoke", "report", "--env", "REPORT_TOKEN");
  const last = await call(project);

  expect(before.stdout).toBe("nothing\ntoken \n");
  expect(granted.stdout).toContain("Granted to report: read ./data; env REPORT_TOKEN\n");
  expect(after).toMatchObject({ code: 0, stdout: `content of a\ntoken ${hidden}\n` });
  expect(revoked).toMatchObject({ code: 0, stderr: "" });
  expect(last.stdout).toBe("content of a\ntoken \n");
  expect(readFileSync(join(project.folder, place, "scripts/make.sh"), "utf8")).toBe(script);
});

test("kitbag grant is written in the user's trust file and in the project's lock, sorted, and shown", async () => {
  const project = await createTrusted();

  await run(project, "grant", place, "--write", "./out/", "--network", "api.example.com", "--package", "pypdf>=4");
  const shown = await run(project, "show", "report", "--json");
  const listed = await run(project, "list", "--json");

  const granted = { write: ["./out/"], network: ["api.example.com"], packages: ["pypdf>=4"] };
  expect(readTrust(project).granted).toEqual(granted);
  expect(readLock(project)).toMatchObject({ permissions: {}, granted });
  expect(JSON.parse(shown.stdout)).toMatchObject({ permissions: { write: ["./out/"] }, declared: {}, granted });
  expect(JSON.parse(listed.stdout)).toMatchObject({ skills: [{ name: "report", granted }] });
});

test("kitbag grant gives nothing to a skill that changed: it runs nothing until it is trusted again", async (context) => {
  needProgram(context, "bash");
  const project = await createTrusted();
  await run(project, "grant", "report", "--read", "data");
  project.write(`${place}/scripts/make.sh`, `${script}echo changed\n`);

  const refused = await call(project);
  const more = await run(project, "grant", "report", "--env", "REPORT_TOKEN");
  const trusted = await run(project, "trust", place);
  const after = await call(project);

  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("changed since it was trusted") });
  expect(more).toMatchObject({ code: 1, stderr: expect.stringContaining("changed since it was trusted") });
  expect(trusted.stdout).toContain("granted: read ./data");
  expect(after.stdout).toBe("content of a\ntoken \nchanged\n");
});

test("a lock that comes with a repository grants nothing to a person who has not agreed", async (context) => {
  needProgram(context, "bash");
  const author = await createTrusted();
  await run(author, "grant", "report", "--read", "data", "--env", "REPORT_TOKEN");
  const lock = readFileSync(join(author.folder, "kitbag.lock"), "utf8");
  const clone = createProject({ ...files, "kitbag.lock": lock });

  const named = await call(clone, "--skills", ".claude/skills");
  await run(clone, "trust", place);
  const trusted = await call(clone);
  const checked = await run(clone, "check", ".claude/skills", "--json");
  await run(clone, "trust", place, "--yes");
  const agreed = await call(clone);

  expect(named.stdout).toBe("nothing\ntoken \n");
  expect(trusted.stdout).toBe("nothing\ntoken \n");
  expect(checked.stdout).toContain("because you have not agreed: read ./data; env REPORT_TOKEN");
  expect(agreed.stdout).toBe(`content of a\ntoken ${hidden}\n`);
});

test("a lock in which others took a grant back takes it from everyone", async (context) => {
  needProgram(context, "bash");
  const project = await createTrusted();
  await run(project, "grant", "report", "--read", "data", "--env", "REPORT_TOKEN");
  const path = join(project.folder, "kitbag.lock");
  const lock = JSON.parse(readFileSync(path, "utf8")) as { skills: Record<string, { granted: unknown }> };
  const entry = lock.skills[place];
  if (entry !== undefined) entry.granted = { env: ["REPORT_TOKEN"] };
  project.write("kitbag.lock", `${JSON.stringify(lock, null, 2)}\n`);

  const after = await call(project);

  expect(after.stdout).toBe(`nothing\ntoken ${hidden}\n`);
});

test("a skill that ships a lock and a trust file of its own gets nothing by them", async (context) => {
  needProgram(context, "bash");
  const author = await createTrusted();
  await run(author, "grant", "report", "--read", "data", "--env", "REPORT_TOKEN");
  const own = readFileSync(join(author.folder, "kitbag.lock"), "utf8").replaceAll(JSON.stringify(place), '"."');
  const project = createProject({
    ...files,
    [`${place}/kitbag.lock`]: own,
    [`${place}/trust.json`]: readFileSync(author.trustFile, "utf8"),
    [`${place}/.kitbag/trust.json`]: readFileSync(author.trustFile, "utf8"),
  });
  await run(project, "trust", place);

  const outside = await call(project);

  expect(outside.stdout).toBe("nothing\ntoken \n");
  expect(readTrust(project).granted).toBeUndefined();
});

test("kitbag grant refuses what no call could be given, and skills that are not there", async () => {
  const project = await createTrusted();

  for (const [words, reason] of [
    ["--read /", "leave its sandbox"],
    ["--read data/*.txt", "has no *"],
    ["--write .claude/skills/../../.kitbag", "Kitbag keeps its own files there"],
    ["--network https://example.com/path", "write the host alone"],
    ["--env A=B", "not the name of an environment variable"],
    ["--package git+https://example.com/x", "the package index"],
    ["--package npm:../x", "not the name of a package"],
  ] as const) {
    const refused = await run(project, "grant", "report", ...words.split(" "));
    expect(refused, words).toMatchObject({ stdout: "", stderr: expect.stringContaining(reason) });
  }
  for (const name of ["../report", "__proto__", ""]) {
    const refused = await run(project, "grant", name, "--read", "data");
    expect(refused, name).toMatchObject({ stdout: "", stderr: expect.stringMatching(/^Cannot /u) });
  }
  expect(readTrust(project).granted).toBeUndefined();
});

test("kitbag revoke says what is granted if it is asked for something else, and takes all without a word", async () => {
  const project = await createTrusted();
  await run(project, "grant", "report", "--read", "data", "--run", "git");

  const wrong = await run(project, "revoke", "report", "--network", "example.com");
  const all = await run(project, "revoke", "report");

  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("granted is read ./data; run git") });
  expect(all.code).toBe(0);
  expect(readTrust(project).granted).toBeUndefined();
  expect(readLock(project)?.granted).toEqual({});
});

test("kitbag trust --remove takes the grant away, and trusting again does not bring it back unasked", async (context) => {
  needProgram(context, "bash");
  const project = await createTrusted();
  await run(project, "grant", "report", "--read", "data");

  await run(project, "trust", place, "--remove");
  const stored = readTrust(project);
  await run(project, "trust", place);
  const again = await call(project);

  expect(stored.granted).toBeUndefined();
  expect(again.stdout).toBe("nothing\ntoken \n");
});

test("kitbag grant serves a skill outside of a project from the trust file alone", async (context) => {
  needProgram(context, "bash");
  const project = createProject({ "data/a.txt": "content of a\n", ".git/HEAD": "" });
  const other = createProject({
    "report/SKILL.md": files[`${place}/SKILL.md`] ?? "",
    "report/scripts/make.sh": script,
  });
  const skills = ["--skills", other.folder] as const;

  const granted = await run(project, "grant", "report", "--read", "data", ...skills);
  const after = await call(project, ...skills);

  expect(granted.code).toBe(0);
  expect(after.stdout).toBe("content of a\ntoken \n");
  expect(() => readFileSync(join(project.folder, "kitbag.lock"))).toThrow("ENOENT");
});

const hidden = "[REPORT_TOKEN]";

async function createTrusted(): Promise<Project> {
  const project = createProject(files);
  await run(project, "trust", place);
  return project;
}

function run(project: Project, ...words: readonly string[]): Promise<KitbagRun> {
  return runKitbag(words, { project });
}

function call(project: Project, ...words: readonly string[]): Promise<KitbagRun> {
  return runKitbag(["call", "report/make", ...words], { project, env: { REPORT_TOKEN: "s3cr3t-and-long" } });
}

interface Entry {
  readonly granted?: unknown;
}

function readTrust(project: Project): Entry {
  const { trusted } = JSON.parse(readFileSync(project.trustFile, "utf8")) as { trusted: readonly Entry[] };
  return trusted[0] ?? {};
}

function readLock(project: Project): Entry | undefined {
  const text = readFileSync(join(project.folder, "kitbag.lock"), "utf8");
  return (JSON.parse(text) as { skills: Record<string, Entry> }).skills[place];
}
