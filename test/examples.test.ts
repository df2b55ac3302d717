/** Runs each example by the commands at its head, as a reader would. */
import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { expect, onTestFinished, test, vi } from "vitest";

import { program } from "./run-kitbag.ts";
import { needProgram } from "./support/need-program.ts";

vi.setConfig({ testTimeout: 120_000 });

const root = resolve(import.meta.dirname, "..");
const examples = globSync("examples/*.ts", { cwd: root })
  .toSorted()
  .map((file) => ({ file, commands: findCommands(readFileSync(join(root, file), "utf8")) }));

test.for(examples)(
  "$file says at its head how to run it, through npx, so that the Node of this repository runs it",
  ({ file, commands }) => {
    expect(commands).not.toEqual([]);
    for (const command of commands) expect(command).toMatch(new RegExp(`^npx (?:node|kitbag) .*${file}`, "u"));
  },
);

test.for(examples.flatMap(({ commands }) => commands.map((command) => ({ command }))))(
  "$command prints something",
  async ({ command }, context) => {
    if (command.includes("mcp-session")) needProgram(context, "python3");

    const { stdout } = await run(command);

    expect(stdout.trim()).not.toBe("");
  },
);

/** The lines of the first comment that are commands and need no model. */
function findCommands(text: string): string[] {
  const [head = ""] = /^\/\*\*.*?\*\//su.exec(text) ?? [];
  return [...head.matchAll(/^ \* *((?:npx|node|kitbag) .*)$/gmu)].map(([, command = ""]) => command);
}

/** Runs a command by a shell, with the programs that `npx` would find, in a folder of its own: the repository gets no store. */
async function run(command: string): Promise<{ stdout: string }> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-examples-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const quote = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");
  const direct = command
    .replace(/^npx node /u, `${quote([process.execPath])} `)
    .replace(/^npx kitbag /u, `${quote(program)} `)
    .replace("examples/", `${root}/examples/`);
  return promisify(execFile)("/bin/sh", ["-c", direct], { cwd: home, env: { ...process.env, KITBAG_HOME: home } });
}
