/** A home that cannot be written: each command that needs it says so in one line, with the cure, and ends. */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test, vi } from "vitest";

import { createProject, program, type KitbagRun, type Project } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { asOrdinaryUser } from "../../../test/support/run-as-user.ts";
import { skillFiles } from "../../../test/support/skill-files.ts";

vi.setConfig({ testTimeout: 120_000 });

const cure = "set KITBAG_HOME to a folder that you can write";
const commands = [
  ["serve", "skills", "--http", "127.0.0.1:0"],
  ["serve", "skills", "--http", "127.0.0.1:0", "--store", "memory"],
  ["token", "list"],
  ["token", "add", "ann"],
  ["token", "revoke", "ann"],
  ["trust", "skills/short", "--yes"],
  ["call", "short/hello", "--skills", "skills", "--sandbox", "off"],
] as const;

test.for(commands.map((words) => words.join(" ")))(
  "kitbag %s ends with one line if its home cannot be made in /proc, or is below a file",
  async (words) => {
    const project = makeProject();

    const runs = await Promise.all(["/proc/nohome", "/dev/null"].map((home) => run(project, words, home)));

    expect(runs).toEqual([
      {
        code: 1,
        stdout: "",
        stderr: `Cannot use the folder "/proc/nohome/.kitbag" of Kitbag: no folder can be made in "/proc"; ${cure}\n`,
      },
      {
        code: 1,
        stdout: "",
        stderr: `Cannot use the folder "/dev/null/.kitbag" of Kitbag: "/dev/null" is not a folder; ${cure}\n`,
      },
    ]);
  },
);

test.for(commands.map((words) => words.join(" ")))(
  "kitbag %s ends with one line if an ordinary user may not write the home",
  async (words, context) => {
    const project = makeProject();
    const home = join(dirname(project.folder), "closed");
    mkdirSync(home, { mode: 0o755 });
    chmodSync(home, 0o555);

    needProgram(context, "setpriv");
    const place = join(dirname(project.folder), "repository");
    mkdirSync(place);

    const found = await run(project, words, home, (command) => asOrdinaryUser(place, command));

    expect(found).toEqual({
      code: 1,
      stdout: "",
      stderr: `Cannot use the folder "${home}/.kitbag" of Kitbag: you may not write in "${home}"; ${cure}\n`,
    });
  },
);

test("kitbag names the owner of a home that two users share, and leaves what the owner keeps there", async (context) => {
  if (process.getuid?.() !== 0) context.skip("only root can be two users");
  needProgram(context, "setpriv");
  const project = makeProject();
  const base = dirname(project.folder);
  const home = join(base, "shared");
  mkdirSync(home);
  chmodSync(home, 0o777);
  const token = await run(project, "token add ann", home);
  const before = readKept(join(home, ".kitbag"));
  const words = ["token list", "trust skills/short --yes", "call short/hello --skills skills --sandbox off"];

  const found: (readonly (number | string | null)[])[] = [];
  for (const [index, line] of words.entries()) {
    const place = join(base, `repository-${index}`);
    mkdirSync(place);
    const { code, stdout, stderr } = await run(project, line, home, (command) => asOrdinaryUser(place, command));
    found.push([code, stdout, stderr.split("\n")[0] ?? ""]);
  }

  expect(token.code).toBe(0);
  const reason = "it belongs to another user (uid 0), and you are uid 61234";
  const message = `Cannot use the folder "${home}/.kitbag" of Kitbag: ${reason}; ${cure}`;
  expect(found).toEqual(words.map(() => [1, "", message]));
  expect(readKept(join(home, ".kitbag"))).toEqual(before);
});

test("kitbag list and kitbag call without a store need no home", async () => {
  const project = makeProject();
  const call = "call short/hello --skills skills --sandbox off --store none";

  const runs = await Promise.all(["list skills --json", call].map((words) => run(project, words, "/proc/nohome")));

  expect(runs.map(({ code }) => code)).toEqual([0, 0]);
});

function makeProject(): Project {
  const project = createProject({ ...skillFiles("skills/short"), "skills/short/scripts/hello.sh": "echo hello\n" });
  mkdirSync(join(project.folder, ".kitbag"));
  // An ordinary user may look at it.
  for (const folder of [dirname(project.folder), project.folder]) chmodSync(folder, 0o755);
  chmodSync(join(project.folder, ".kitbag"), 0o777);
  return project;
}

/** Each file with its size and the time of its last change. */
function readKept(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => {
    const { size, mtimeMs, mode } = statSync(join(folder, name));
    return `${name} ${size} ${mtimeMs} ${mode}`;
  });
}

/** Runs it with this `HOME` and no `KITBAG_HOME`; what does not end is killed. */
async function run(
  project: Project,
  words: string,
  home: string,
  toCommand: (words: readonly string[]) => readonly string[] = (given) => given,
): Promise<Omit<KitbagRun, "code"> & { readonly code: number | string | null }> {
  const [command = "", ...args] = toCommand([...program, ...words.split(" ")]);
  const env = { PATH: process.env["PATH"], HOME: home };
  const child = spawn(command, args, { cwd: project.folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  onTestFinished(() => clearTimeout(timer));
  const ended = new Promise<number | string | null>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  // What is said beside: that there is no sandbox, which skill was opened, and how to do without records.
  return {
    code,
    stdout,
    stderr: stderr.replace(/^(?:No sandbox|Opened the skill|To call without records).*\n/gmu, ""),
  };
}
