import { join } from "node:path";

import { expect, test } from "vitest";

import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { startCrashProgram } from "./start-crash-program.ts";

test("sqliteStore() does not keep a program alive that forgets to close it, however much it wrote", async () => {
  const program = startCrashProgram("leave-open.ts", [join(createFolder(), "kitbag.db"), "1200"]);

  await program.gone;

  expect(program.lines()).toEqual(["log 1200"]);
}, 60_000);

test("log.append() that need not be on disk survives the end of its process", async () => {
  const file = join(createFolder(), "kitbag.db");
  await startCrashProgram("end-itself.ts", [file, "200"]).gone;

  const store = await sqliteStore({ file });

  expect((await store.log.read("records")).map(({ value }) => value)).toEqual(
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  await store.close();
}, 60_000);
