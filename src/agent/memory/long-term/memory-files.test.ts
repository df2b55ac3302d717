import { expect, test } from "vitest";

import { memoryStore } from "../../../store/memory-store.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { type FileCommand, MemoryFiles } from "./memory-files.ts";
import { createMemorySkill, createMemoryTools } from "./memory-skill.ts";
import { defaultMemoryLimits, type MemoryLimits } from "./memory-rows.ts";
import { openLongTermMemory } from "./open-long-term-memory.ts";

test("the six commands keep, show, change, move and delete files", async () => {
  const files = createFiles();
  const notes = "/memories/work/notes.md";

  await files.run({ command: "create", path: notes, file_text: "one\ntwo\nthree" });
  await files.run({ command: "str_replace", path: notes, old_str: "two", new_str: "$& 2" });
  await files.run({ command: "insert", path: notes, insert_line: 1, insert_text: "one and a half\n" });

  expect(await files.run({ command: "view", path: notes })).toMatchInlineSnapshot(`
    "/memories/work/notes.md, with line numbers:
         1	one
         2	one and a half
         3	$& 2
         4	three"
  `);
  expect(await files.run({ command: "view", path: notes, view_range: [3, -1] })).toContain("     4\tthree");
  await files.run({ command: "rename", old_path: "/memories/work", new_path: "/memories/old/work" });
  expect(await files.run({ command: "view", path: "/memories/" })).toMatchInlineSnapshot(`
    "The files in /memories:
    29 bytes	/memories/old/work/notes.md"
  `);
  await files.run({ command: "delete", path: "/memories/old" });
  expect(await files.run({ command: "view", path: "/memories" })).toContain("(none)");
});

test.for([
  "/etc/passwd",
  "/memories/../etc/passwd",
  "/memories/./x",
  "/memories//x",
  "memories/x",
  "/memories/%2e%2e/x",
  "/memories/..%2fx",
  "/memories\\..\\x",
  "/memories/x\0",
  "/memories/x\ny",
  "/memories/ x",
  "/memoriesx/y",
  `/memories/${"a/".repeat(9)}b`,
  `/memories/${"a".repeat(200)}`,
  "",
  7,
  undefined,
])("a path of another place, or that could mean one, is refused: %j", async (path) => {
  for (const command of ["view", "create", "str_replace", "insert", "delete", "rename"]) {
    const given = {
      command,
      path,
      old_path: path,
      new_path: "/memories/x",
      file_text: "",
      old_str: "",
      insert_line: 0,
    };
    await expect((async () => createFiles().run(given as unknown as FileCommand))()).rejects.toMatchObject({
      code: "memory-invalid",
    });
  }
});

test.for([
  [{ command: "view", path: "/memories/none" }, "name-not-found"],
  [{ command: "str_replace", path: "/memories/none", old_str: "a" }, "name-not-found"],
  [{ command: "delete", path: "/memories/none" }, "name-not-found"],
  [{ command: "delete", path: "/memories" }, "memory-invalid"],
  [{ command: "create", path: "/memories", file_text: "" }, "memory-invalid"],
  [{ command: "create", path: "/memories/x" }, "memory-invalid"],
  [{ command: "view", path: "/memories/a", view_range: [5, 9] }, "memory-invalid"],
  [{ command: "view", path: "/memories/a", view_range: [2, 1] }, "memory-invalid"],
  [{ command: "insert", path: "/memories/a", insert_line: 9, insert_text: "x" }, "memory-invalid"],
  [{ command: "insert", path: "/memories/a", insert_line: 1.5, insert_text: "x" }, "memory-invalid"],
  [{ command: "str_replace", path: "/memories/a", old_str: "x" }, "memory-invalid"],
  [{ command: "str_replace", path: "/memories/a", old_str: "" }, "memory-invalid"],
  [{ command: "rename", old_path: "/memories/a", new_path: "/memories/b" }, "memory-invalid"],
  [{ command: "rename", old_path: "/memories/a", new_path: "/memories/a/b" }, "memory-invalid"],
] as const)("%j is refused with %s, and changes nothing", async ([command, code]) => {
  const files = createFiles();
  for (const path of ["/memories/a", "/memories/b"]) await files.run({ command: "create", path, file_text: "x\nx" });

  await expect((async () => files.run(command as FileCommand))()).rejects.toMatchObject({ code });

  expect((await files.list()).map(({ text }) => text)).toEqual(["x\nx", "x\nx"]);
});

test("files are refused that are too many or too large", async () => {
  const files = createFiles({ files: 2, fileBytes: 20 });
  await files.run({ command: "create", path: "/memories/a", file_text: "0123456789" });

  const large = files.run({ command: "create", path: "/memories/b", file_text: "01234567890" });
  await expect(large).rejects.toMatchObject({ code: "memory-full", details: { what: "bytes of files" } });
  await files.run({ command: "create", path: "/memories/b", file_text: "" });
  const third = files.run({ command: "create", path: "/memories/c", file_text: "" });
  await expect(third).rejects.toMatchObject({ code: "memory-full", details: { what: "files" } });
});

test("of two changes of one file at the same time, one is refused", async () => {
  const files = createFiles();
  await files.run({ command: "create", path: "/memories/a", file_text: "x" });

  const changes = await Promise.allSettled([
    files.run({ command: "insert", path: "/memories/a", insert_line: 1, insert_text: "one" }),
    files.run({ command: "insert", path: "/memories/a", insert_line: 1, insert_text: "two" }),
  ]);

  expect(changes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("the skill remembers, recalls, forgets and keeps files for the user who calls", async () => {
  const memory = openLongTermMemory({ store: memoryStore(), working: { type: "object" } });
  const workspace = createWorkspace({ skills: [createMemorySkill(memory)] });
  await workspace.activateSkill("memory");
  const call = async (tool: string, input: object, user = "ada"): Promise<unknown> => {
    const outcome = await workspace.call(`memory/${tool}`, input, { user });
    return outcome.status === "ok" ? outcome.output : outcome.error.code;
  };

  expect(await call("remember", { key: "colour", value: "green", subject: "boat" })).toContain(
    'Remembered: colour: "green" (f1)',
  );
  expect(await call("remember", { key: "colour", value: "blue", subject: "boat" })).toContain(
    '(f3), instead of "green".',
  );
  expect(await call("recall", { query: "colour of the boat", limit: 3 })).toMatch(
    /untrusted.*boat: colour: "blue" \(f3/su,
  );
  expect(await call("recall", { query: "boat" }, "bob")).toBe("Nothing is remembered about this.");
  expect(await call("recall", { query: "boat", since: "2026-01-01", until: "2026-02-01" })).toContain("blue");
  expect(await call("forget", { key: "colour", subject: "boat" })).toMatchObject({ facts: ["f3", "f1"] });
  expect(await call("forget", {})).toBe("name-not-found");
  expect(await call("forget", { id: "f3" })).toBe("name-not-found");
  expect(await call("files", { command: "create", path: "/memories/a", file_text: "x" })).toBe("Wrote /memories/a");
  expect(await call("files", { command: "view", path: "/memories/a" })).toContain("<untrusted-");
  expect(await call("files", { command: "view" })).toBe("memory-invalid");
  expect(await call("update_working_memory", { changes: { name: "Ada" } })).toEqual({ name: "Ada" });
});

test("createMemoryTools() gives a skill a memory of its own", async () => {
  const memory = openLongTermMemory({ store: memoryStore() });
  const workspace = createWorkspace({ tools: createMemoryTools(memory, { skill: "pdf" }) });

  await workspace.call("remember", { key: "page size", value: "A4" });

  expect((await memory.of({ skill: "pdf" }).recall("page size")).facts).toHaveLength(1);
  expect((await memory.of().recall("page size")).facts).toHaveLength(0);
});

function createFiles(limits: Partial<MemoryLimits> = {}): MemoryFiles {
  return new MemoryFiles(memoryStore().kv, "m:", { ...defaultMemoryLimits, ...limits }, () => 0);
}
