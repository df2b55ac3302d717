import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import type { Contender, Question } from "./question.ts";

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const question: Question = {
  title: "What does starting cost?",
  text: "A new Node process for each, from its start to its end: an empty module, modules that import one package, a program that does nothing, and the command. The cost of an import is what the module costs more than the empty one.",
  unit: "ms CPU",
  rounds: 31,
  targets: [
    {
      text: 'import "kitbag" to import "ai"',
      unit: "×",
      limit: 0.5,
      value: (cost) =>
        (cost('import "kitbag"') - cost("an empty module")) / (cost('import "ai"') - cost("an empty module")),
    },
    ...(["models", "store", "agent"] as const).map((entry) => ({
      text: `import "kitbag/${entry}" to import "ai"`,
      unit: "×",
      limit: entry === "agent" ? 0.5 : 0.7,
      value: (cost: (name: string) => number) =>
        (cost(`import "kitbag/${entry}"`) - cost("an empty module")) / (cost('import "ai"') - cost("an empty module")),
    })),
    {
      text: "kitbag --version to node -e 0",
      unit: "×",
      limit: 2,
      value: (cost) => cost("kitbag --version") / cost("node -e 0"),
    },
  ],
  contenders: async () => [
    program("node -e 0", ["-e", "0"]),
    program("kitbag --version", [join(root, "dist/cli/main.js"), "--version"]),
    program("kitbag --help", [join(root, "dist/cli/main.js"), "--help"]),
    program("an empty module", ["--input-type=module", "-e", ""]),
    program('import "kitbag"', ["--input-type=module", "-e", 'import "kitbag";']),
    ...["models", "store", "agent"].map((entry) =>
      program(`import "kitbag/${entry}"`, ["--input-type=module", "-e", `import "kitbag/${entry}";`]),
    ),
    program('import "kitbag/testing"', ["--input-type=module", "-e", 'import "kitbag/testing";']),
    program('import "zod"', ["--input-type=module", "-e", 'import "zod";']),
    program('import "ai"', ["--input-type=module", "-e", 'import "ai";']),
  ],
};

export default question;

/** Notes, as the last thing a process does, the CPU time of all its threads since it was started. */
const note = join(folder, "note-cpu.cjs");
writeFileSync(
  note,
  'process.on("exit", () => { const { user, system } = process.cpuUsage(); require("fs").writeSync(3, String(user + system)); });\n',
);

function program(name: string, args: readonly string[]): Contender {
  return {
    name,
    measure() {
      const { status, output } = spawnSync(process.execPath, ["--require", note, ...args], {
        cwd: root,
        stdio: ["ignore", "ignore", "inherit", "pipe"],
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`Cannot measure ${name}: it ended with ${status}`);
      return Number(output[3]) / 1000;
    },
  };
}
