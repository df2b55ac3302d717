import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, test, vi } from "vitest";

import { createProject, runKitbag, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { sharePostgres } from "../../../test/support/postgres.ts";

vi.setConfig({ testTimeout: 180_000 });

const openPostgres = sharePostgres();

test("kitbag store check says that a file is whole, or what is wrong with it and what to do", async () => {
  const project = await createKept();
  const whole = await store(project, "check");
  damage(databaseOf(project));

  const damaged = await store(project, "check");
  const asJson = await store(project, "check", "--json");

  expect(whole).toMatchObject({ code: 0, stdout: "ok: kitbag.db is whole, and so is its audit of 2 entries\n" });
  expect(damaged.code).toBe(1);
  expect(damaged.stdout).toMatch(/^WHERE +PROBLEM\n\S/u);
  expect(damaged.stderr).toBe(
    "kitbag.db is damaged; save what can be read with: kitbag store repair --store sqlite:kitbag.db\n",
  );
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    ok: false,
    problems: expect.arrayContaining([{ where: "file", problem: expect.any(String) }]),
  });
});

test("kitbag store check says that a record was changed, though the file is whole", async () => {
  const project = await createKept();
  const database = new DatabaseSync(databaseOf(project));
  database.exec(`UPDATE entries SET value = replace(value, '"visit"', '"other"')`);
  database.close();

  const run = await store(project, "check");
  const asJson = await store(project, "check", "--json");

  expect([run.code, run.stdout]).toEqual([1, ""]);
  expect(run.stderr).toBe(
    "kitbag.db is whole, but its audit is not: entry 1 (changed); see kitbag audit verify --store sqlite:kitbag.db\n",
  );
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    ok: false,
    problems: [],
    audit: { ok: false, problem: "changed" },
  });
});

test("kitbag store check of a copy says nothing of an audit whose end is not known here", async () => {
  const project = await createKept();
  await store(project, "backup", "copy.db");

  const run = await runKitbag(["store", "check", "--store", "sqlite:copy.db"], { project });

  expect(run).toEqual({ code: 0, stdout: "ok: copy.db is whole\n", stderr: "" });
});

test("kitbag store repair saves what can be read, and keeps the damaged file", async () => {
  const project = await createKept();
  damage(databaseOf(project));

  const repaired = await store(project, "repair");
  const checked = await store(project, "check");

  expect(repaired.code).toBe(0);
  expect(repaired.stdout).toContain("The damaged file is kitbag.db.damaged");
  expect([checked.code, existsSync(`${databaseOf(project)}.damaged`)]).toEqual([0, true]);
});

test("kitbag store backup makes a copy of one moment, and writes over nothing", async () => {
  const project = await createKept();

  const first = await store(project, "backup", "copies/monday.db");
  const again = await store(project, "backup", "copies/monday.db");
  const state = await visit(project, "sqlite:copies/monday.db");

  expect(first.stdout).toMatch(/^Copied [\d.]+ KiB to copies\/monday\.db\n$/u);
  expect([again.code, again.stderr]).toEqual([
    2,
    "Cannot back up to copies/monday.db: there is a file already; name another\n",
  ]);
  // Both would write to one audit.
  expect(state.stderr).toContain(`it is a copy of ${databaseOf(project)}, which is still there; if you trust it, `);
  expect(state.stderr).toContain(`kitbag store accept --store sqlite:${project.folder}/copies/monday.db\n`);
});

test("kitbag store accept takes a store that was restored, and calls go on with its state", async () => {
  const project = await createKept();
  await store(project, "backup", "monday.db");
  await visit(project);
  writeFileSync(databaseOf(project), readFileSync(join(project.folder, "monday.db")));

  const cut = await runKitbag(["audit", "verify", ...named], { project });
  const refused = await visit(project);
  const accepted = await store(project, "accept");
  const next = await visit(project);

  expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining("the end was cut off")]);
  expect([refused.code, accepted.code, next.stdout]).toEqual([1, 0, "2\n"]);
});

test("kitbag store accept takes no store whose audit was made with another key", async () => {
  const project = await createKept();
  const env = { KITBAG_HOME: join(project.folder, "other-home") };

  const refused = await runKitbag(["store", "accept", ...named], { project, env });

  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("its audit was made with another key; put audit.key of the KITBAG_HOME");
});

test("kitbag call names the command that helps when another home went on with the store, and says that it was another key", async () => {
  const project = await createKept();
  const other = { KITBAG_HOME: join(project.folder, "other-home") };
  await runKitbag(["store", "accept", "--new-audit", ...named], { project, env: other });

  const refused = await visit(project);
  const verified = await runKitbag(["audit", "verify", ...named], { project });
  const plain = await store(project, "accept");
  const accepted = await store(project, "accept", "--new-audit");
  const next = await visit(project);

  expect(refused.stderr).toContain("take it as it is: kitbag store accept --new-audit --store sqlite:kitbag.db");
  expect(verified.stderr).toContain("Entry 3: it was made with another key");
  expect(plain.stderr).toContain("entry 3 of its audit and all behind it were made with another key");
  expect([accepted.code, next.code]).toEqual([0, 0]);
});

test("kitbag store accept --new-audit goes on behind a broken audit with all that is kept, and verify tells of it", async () => {
  const project = await createKept();
  await visit(project);
  loseEntries(databaseOf(project), "position IN (2, 4)");
  const refused = await visit(project);
  const plain = await store(project, "accept");

  const accepted = await store(project, "accept", "--new-audit");
  const next = await visit(project);
  const verified = await runKitbag(["audit", "verify", ...named], { project });
  const checked = await store(project, "check");
  const exported = await store(project, "export", "kept.jsonl");
  const imported = await runKitbag(["store", "import", "kept.jsonl", "--store", "sqlite:other.db"], { project });

  expect([refused.code, plain.code]).toEqual([1, 1]);
  expect(plain.stderr).toContain(
    "its audit is broken at entry 2 (changed); if you know why, go on with a new audit behind it, which says so: kitbag store accept --new-audit --store sqlite:kitbag.db",
  );
  expect([accepted.code, next.stdout]).toEqual([0, "3\n"]);
  expect(verified.code).toBe(0);
  expect(verified.stdout).toMatch(
    /^ok: 3 entries from 5 on, none changed, removed or reordered\nEntries 2 to 4 prove nothing\. Entry 2: something in it was changed\. The audit was continued behind it with entry 5, on /u,
  );
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining("Entries 2 to 4 prove nothing.")]);
  expect(exported.code).toBe(0);
  expect(imported.stdout).toContain("Its audit is good: 7 entries\nEntries 2 to 4 prove nothing.");
});

test("kitbag store import says what is wrong with an audit, and the cure for that", async () => {
  const project = await createKept();
  loseEntries(databaseOf(project), "position = 1");
  await store(project, "export", "kept.jsonl");
  const env = { KITBAG_HOME: join(project.folder, "other-home") };
  const words = ["store", "import", "kept.jsonl", "--store", "sqlite:other.db"];

  const broken = await runKitbag(words, { project });
  const foreign = await runKitbag([...words.slice(0, 4), "sqlite:third.db"], { project, env });

  expect(broken.stdout).toContain(
    "its audit is broken at entry 1 (changed); if you know why, go on with a new audit behind it, which says so: kitbag store accept --new-audit --store sqlite:other.db\n",
  );
  expect(foreign.stdout).toContain("its audit was made with another key; put audit.key");
});

test("kitbag store check and repair say of a file that is no store what it is, and send nobody in a circle", async () => {
  const project = createProject({ "notes.txt": "Buy milk\n", "empty.db": "" });
  const other = new DatabaseSync(join(project.folder, "other.db"));
  other.exec("CREATE TABLE songs (name TEXT)");
  other.close();
  const run = async (action: string, file: string): Promise<readonly [number | null, string]> => {
    const { code, stderr } = await runKitbag(["store", action, "--store", `sqlite:${file}`], { project });
    return [code, stderr.replaceAll(project.folder, "")];
  };

  expect([await run("check", "notes.txt"), await run("repair", "notes.txt")]).toEqual([
    [
      1,
      "notes.txt is no database, or its first page is damaged: nothing of it can be read; restore a backup, or name another file with --store\n",
    ],
    [
      1,
      'Cannot use the store "/notes.txt": it is no database, or its first page is damaged: nothing of it can be read; restore a backup, or give the path of another file\n',
    ],
  ]);
  const ofAnother = [
    1,
    'Cannot use the store "/other.db": it is a database of another program; give the path of another file\n',
  ];
  expect([await run("check", "other.db"), await run("repair", "other.db")]).toEqual([ofAnother, ofAnother]);
  const ofNothing = [1, expect.stringContaining("there is nothing in the file")];
  expect([await run("check", "empty.db"), await run("repair", "empty.db")]).toEqual([ofNothing, ofNothing]);
});

test("kitbag store export and import carry everything into another store, in whole or not at all", async () => {
  const project = await createKept();
  const exported = await store(project, "export", "kept.jsonl");
  const half = readFileSync(join(project.folder, "kept.jsonl"), "utf8").split("\n").slice(0, 3).join("\n");
  writeFileSync(join(project.folder, "half.jsonl"), half);

  const imported = await runKitbag(["store", "import", "kept.jsonl", "--store", "sqlite:other.db"], { project });
  const again = await runKitbag(["store", "import", "kept.jsonl", "--store", "sqlite:other.db"], { project });
  const broken = await runKitbag(["store", "import", "half.jsonl", "--store", "sqlite:third.db"], { project });
  const state = await visit(project, "sqlite:other.db");

  expect(exported.stdout).toMatch(/^Wrote 1 value, \d+ log entries and \d+ blobs? to kept\.jsonl\n$/u);
  expect(imported.stdout).toContain("Its audit is good: 2 entries");
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("there is something in it")]);
  expect([broken.code, readdirSync(project.folder).filter((name) => name.startsWith("third"))]).toEqual([2, []]);
  expect(broken.stderr).toBe(
    "Cannot import half.jsonl: line 4: expected a value, an entry, a blob or the end, found the end of the file\n",
  );
  expect(state.stdout).toBe("2\n");
});

test("kitbag store export prints lines of JSON without a file, which import reads from a pipe", async () => {
  const project = await createKept();

  const exported = await store(project, "export");
  const dashed = await store(project, "export", "-");
  const imported = await runKitbag(["store", "import", "-", "--store", "sqlite:other.db", "--json"], {
    project,
    stdin: exported.stdout,
  });

  const lines = exported.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect([lines[0]?.type, lines.at(-1)?.type]).toEqual(["store", "end"]);
  expect([dashed.stdout, existsSync(join(project.folder, "-"))]).toEqual([exported.stdout, false]);
  expect(JSON.parse(imported.stdout)).toMatchObject({ values: 1, audit: { ok: true, count: 2 } });
});

test("kitbag store import moves a project from SQLite to Postgres, with its state and its audit", async (context) => {
  const { url, password } = await openPostgres(context);
  const project = await createKept();
  await store(project, "export", "kept.jsonl");

  const imported = await runKitbag(["store", "import", "kept.jsonl"], { project, env: { KITBAG_STORE: url } });
  const next = await runKitbag(["call", "visit", "--module", "tools.mjs", "--store", url], { project });
  const verified = await runKitbag(["audit", "verify", "--store", url, "--json"], { project });
  const refused = await runKitbag(["store", "backup", "x.db", "--store", url], { project });

  expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining("Its audit is good: 2 entries")]);
  expect(next).toMatchObject({ code: 0, stdout: "2\n" });
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, count: 4 });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("pg_dump")]);
  expect([imported, next, verified].some(({ stdout, stderr }) => (stdout + stderr).includes(password))).toBe(false);
});

test("kitbag store gc deletes no version and no output of this week", async () => {
  const project = await createKept();

  const run = await store(project, "gc", "--json");

  expect(JSON.parse(run.stdout)).toEqual({ deleted: 0 });
});

test.for([
  [["chekc"], 2, "did you mean check?"],
  [["constructor"], 2, "there is no such action"],
  [[], 2, "say one of check, repair, backup, export, import, accept, gc"],
  [["backup"], 2, "it takes the file to write"],
  [["check", "x"], 2, "it takes no other words"],
  [["check"], 1, "there is no such file"],
  [["export"], 1, "there is no such file"],
  [["import", "missing.jsonl"], 2, "there is no such file"],
  [["check", "--store", "memory"], 2, "nothing is kept there"],
] as const)("kitbag store %j ends with %i and says why", async ([words, code, reason]) => {
  const run = await runKitbag(["store", ...words]);

  expect(run).toMatchObject({ code, stdout: "" });
  expect(run.stderr).toContain(reason);
});

const named = ["--store", "sqlite:kitbag.db"];

function store(project: Project, ...words: string[]): Promise<KitbagRun> {
  return runKitbag(["store", ...words, ...named], { project });
}

function visit(project: Project, where = "sqlite:kitbag.db"): Promise<KitbagRun> {
  return runKitbag(["call", "visit", "--module", "tools.mjs", "--store", where], { project });
}

function databaseOf({ folder }: Project): string {
  return join(folder, "kitbag.db");
}

/** A project whose store knows of one call. */
async function createKept(): Promise<Project> {
  const project = createProject({ "tools.mjs": tools });
  expect(await visit(project)).toMatchObject({ code: 0, stdout: "1\n" });
  return project;
}

/** Writes nonsense over some pages of the file; its tables are in those at its end. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, bytes.length - 3 * 4096));
}

/** Leaves entries of the audit as a repair does that could not read them. */
function loseEntries(file: string, which: string): void {
  const database = new DatabaseSync(file);
  const audit = "stream = (SELECT id FROM streams WHERE name = 'audit')";
  database.exec(`UPDATE entries SET value = '{"lost":true}', time = 0 WHERE ${audit} AND ${which}`);
  database.close();
}

const tools = `
import { defineTool } from "kitbag";

export default defineTool({
  name: "visit",
  description: "Counts visits",
  run: (_input, { state }) => state.update("n", (n = 0) => n + 1),
});
`;
