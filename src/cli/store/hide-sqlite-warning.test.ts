import { execFileSync } from "node:child_process";

import { expect, test } from "vitest";

test("hideSqliteWarning() hides what Node says of its SQLite, and nothing else", () => {
  const module = new URL("open-store.ts", import.meta.url).href;
  const program = `
    const { hideSqliteWarning } = await import(${JSON.stringify(module)});
    hideSqliteWarning();
    hideSqliteWarning();
    process.on("warning", ({ name, message }) => console.log(name, message));
    process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
    process.emitWarning("Something else is an experimental feature", "ExperimentalWarning");
    process.emitWarning(new Error("a failure"));`;

  const words = ["--no-warnings", "--input-type=module", "--eval", program];
  const shown = execFileSync(process.execPath, words, { encoding: "utf8" });

  expect(shown).toBe("ExperimentalWarning Something else is an experimental feature\nError a failure\n");
});
