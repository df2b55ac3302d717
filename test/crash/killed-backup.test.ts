import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { backupSqlite } from "../../src/store/sqlite/backup-sqlite.ts";
import { checkSqlite } from "../../src/store/sqlite/check-sqlite.ts";
import { removeLeftCopies } from "../../src/store/sqlite/left-copies.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { startCrashProgram, type CrashProgram } from "./start-crash-program.ts";

const home = mkdtempSync(join(tmpdir(), "kitbag-backup-"));
const file = join(home, "kitbag.db");
const notesFolder = join(home, "copies");
const limitMs = 60_000;

beforeAll(async () => {
  const store = await sqliteStore({ file });
  // Large enough that a copy takes a while.
  for (let index = 0; index < 6; index++) await store.blobs.put(Buffer.alloc(16 * 1024 * 1024, `${index}`));
  await store.close();
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

test(
  "a backup that is killed leaves nothing after its notes are read, as when a store is opened",
  { timeout: limitMs },
  async () => {
    const copies = await killBackup();

    await removeLeftCopies(notesFolder);

    expect(readdirSync(copies)).toEqual([]);
    expect(notes()).toEqual([]);
  },
);

test(
  "a backup that is killed leaves nothing after the next backup, also to another folder",
  { timeout: limitMs },
  async () => {
    const copies = await killBackup();
    const to = join(createFolder(), "next.db");

    await backupSqlite(file, to, notesFolder);

    expect(readdirSync(copies)).toEqual([]);
    expect(readdirSync(join(to, ".."))).toEqual(["next.db"]);
    expect(notes()).toEqual([]);
  },
);

test("a backup that still runs is left alone by the next start and the next backup", { timeout: limitMs }, async () => {
  const folder = createFolder();
  const slow = startCrashProgram("back-up.ts", [file, join(folder, "slow.db"), notesFolder]);
  await untilHalf(folder, slow);
  slow.signal("SIGSTOP");

  await removeLeftCopies(notesFolder);
  await backupSqlite(file, join(folder, "quick.db"), notesFolder);
  slow.signal("SIGCONT");
  await slow.waitFor("copied");
  await slow.gone;

  expect(readdirSync(folder).toSorted()).toEqual(["quick.db", "slow.db"]);
  expect(await checkSqlite(join(folder, "slow.db"))).toMatchObject({ problems: [] });
  expect(notes()).toEqual([]);
});

test("a note that names another file than a copy deletes only itself, as does one that is damaged", async () => {
  const other = join(createFolder(), "mine.tmp");
  writeFileSync(other, "mine");
  const [first, second, third] = Array.from({ length: 3 }, () => join(notesFolder, `copy-${randomUUID()}`)) as [
    string,
    string,
    string,
  ];
  writeNote(first, other);
  writeFileSync(second, "");
  writeFileSync(third, "no database, but long enough to be read as the first page of one".repeat(100));

  await removeLeftCopies(notesFolder);

  expect(existsSync(other)).toBe(true);
  expect(notes()).toEqual([]);
});

test("a note in the folder of a store deletes nothing, and one without a UUID or that is a folder is no note", async () => {
  const id = randomUUID();
  const folder = createFolder({ "thesis.docx.tmp": "mine", [`mine.${id}.tmp`]: "mine", "store/x": "" });
  const [plain, withId] = [join(folder, "thesis.docx.tmp"), join(folder, `mine.${id}.tmp`)];
  const planted = join(folder, "store/kitbag.db");
  for (const start of [`${planted}.copy-`, join(notesFolder, "copy-")]) writeNote(`${start}docx`, plain);
  writeNote(`${planted}.copy-${id}`, withId);
  mkdirSync(join(notesFolder, `copy-${randomUUID()}`));

  await (await sqliteStore({ file: planted })).close();
  await backupSqlite(planted, join(folder, "copy.db"), notesFolder);
  await removeLeftCopies(notesFolder);
  rmSync(notesFolder, { recursive: true });

  expect([existsSync(plain), existsSync(withId)]).toEqual([true, true]);
});

function writeNote(path: string, names: string): void {
  const note = new DatabaseSync(path);
  note.exec("CREATE TABLE copy (path TEXT)");
  note.prepare("INSERT INTO copy VALUES (?)").run(names);
  note.close();
}

function notes(): string[] {
  const beside = readdirSync(home).filter((name) => !/^(kitbag\.db(-wal|-shm)?|copies)$/.test(name));
  return [...beside, ...readdirSync(notesFolder)];
}

/** Kills a backup in the middle, and answers with the folder that the unfinished copy is in. */
async function killBackup(): Promise<string> {
  const folder = join(createFolder(), "copies");
  const backup = startCrashProgram("back-up.ts", [file, join(folder, "monday.db"), notesFolder]);
  await untilHalf(folder, backup);
  backup.signal("SIGKILL");
  await backup.gone;
  expect(readdirSync(folder)).toContainEqual(expect.stringMatching(/^monday\.db\..+\.tmp$/));
  return folder;
}

async function untilHalf(folder: string, backup: CrashProgram): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (;;) {
    const half = readdirSync(folder).find((name) => name.endsWith(".tmp"));
    if (half !== undefined && statSync(join(folder, half), { throwIfNoEntry: false })?.size) return;
    if (backup.lines().length > 0) throw new Error("The copy was complete before it could be stopped");
    await setTimeout(1);
  }
}
