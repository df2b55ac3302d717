import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../support/temporary-folder.ts";
import { startCrashProgram } from "./start-crash-program.ts";

test("sqliteStore() does not keep a program alive that forgets to close it, however much it wrote", async () => {
  const program = startCrashProgram("leave-open.ts", [join(createFolder(), "kitbag.db"), "1200"]);

  await program.gone;

  expect(program.lines()).toEqual(["log 1200"]);
}, 60_000);
