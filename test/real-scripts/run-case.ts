/** Runs a script by itself and as a tool, and says what is different. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, relative } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";

import { Command } from "commander";
import { isKitbagError, type JsonObject, type ToolOutcome } from "kitbag";
import { loadSkills } from "kitbag/skills";
import { onTestFinished } from "vitest";

import type { Answer } from "../../src/cli/cli-command.ts";
import { commands } from "../../src/cli/commands.ts";
import { createTerminal } from "../../src/cli/terminal.ts";
import type { ScriptCode } from "../../src/core/script-code.ts";
import { writeFiles } from "../support/temporary-folder.ts";

const skills = join(import.meta.dirname, "skills");

/** How a script is run: once by itself, with `argv`, and once as a tool, with `input`. Both start in a folder with `files`. */
export interface RealCase {
  readonly skill: string;
  /** In the skill's folder. */
  readonly script: string;
  /** @default the tool of the script */
  readonly tool?: string;
  /** How it gets its input and what becomes of its output. */
  readonly style: string;
  readonly argv?: readonly string[];
  readonly stdin?: string;
  readonly input?: JsonObject;
  /** Contents by path; behind `base64:` bytes. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder is a git repository with one commit. */
  readonly isRepository?: boolean;
  /** Programs without which it is left out. */
  readonly needs?: readonly string[];
}

/** The cases of `cases.jsonl`. */
export function loadCases(): RealCase[] {
  const lines = readFileSync(join(import.meta.dirname, "cases.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as RealCase);
}

/** What came of a case. `lost`: the tool ended well, but its result or a file is not what the script alone gives. */
export interface CaseResult {
  readonly case: RealCase;
  readonly verdict: "works" | "fails" | "lost";
  readonly why?: string;
}

/** How a run ended, and the files that it made or changed: contents by path, below the working directory or `~`. */
interface Run {
  readonly code: number;
  readonly output: string;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** A folder to work in, a home, and a folder for temporary files. */
interface Place {
  readonly base: string;
  readonly directory: string;
  readonly home: string;
  readonly temporary: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Adds one skill to a project as a person does who agrees once, and calls its tools; each case also runs without Kitbag. The cases follow
 * one another in the project.
 */
export async function runSkill(skill: string, cases: readonly RealCase[]): Promise<CaseResult[]> {
  const place = createPlace();
  const added = await runCommand(place, ["add", join(skills, skill), "--yes"]);
  if (added.failure !== undefined) throw new Error(`${skill} was not added: ${added.failure}`);
  const toolOf = await findTools(skill);
  const own = new Set(readdirSync(place.directory));
  const results: CaseResult[] = [];
  for (const each of cases) {
    for (const name of readdirSync(place.directory)) if (!own.has(name)) remove(join(place.directory, name));
    const plain = await runPlainly(each);
    const name = each.tool ?? toolOf(each.script);
    results.push(
      name === undefined
        ? { case: each, verdict: "fails", why: "the script is no tool" }
        : { case: each, ...(await runAsTool(each, { place, address: `${skill}/${name}`, plain })) },
    );
  }
  return results;
}

function createPlace(): Place {
  const base = realpathSync.native(mkdtempSync(join(tmpdir(), "kitbag-real-")));
  onTestFinished(() => remove(base));
  const [directory, home, temporary] = [join(base, "project"), join(base, "home"), join(base, "temporary")];
  for (const folder of [directory, home, temporary]) mkdirSync(folder);
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: temporary, KITBAG_HOME: join(base, "kitbag") };
  return { base, directory, home, temporary, env };
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

function prepare({ files = {}, isRepository = false }: RealCase, { directory, env }: Place): void {
  const bytes = Object.entries(files).map(([path, content]): [string, Buffer] => {
    const [, packed] = /^base64:(.*)$/u.exec(content) ?? [];
    return [path, packed === undefined ? Buffer.from(content) : Buffer.from(packed, "base64")];
  });
  writeFiles(directory, Object.fromEntries(bytes));
  if (!isRepository) return;
  const git = (...words: string[]): void =>
    void spawnSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...words], {
      cwd: directory,
      env: { ...env, GIT_CONFIG_NOSYSTEM: "1" },
    });
  git("init", "--quiet");
  git("add", ...Object.keys(files));
  git("commit", "--quiet", "-m", "Add the first file");
}

async function runPlainly(each: RealCase): Promise<Run> {
  const place = createPlace();
  prepare(each, place);
  const before = readFiles(place);
  // Outside of this package, which says of every .js file that it is a module.
  const folder = join(place.base, each.skill);
  cpSync(join(skills, each.skill), folder, { recursive: true });
  const script = join(folder, each.script);
  const byNode = /\.(?:js|mjs|cjs|ts)$/u.test(extname(script));
  const [program = "", ...words] = [...(byNode ? [process.execPath] : []), script, ...(each.argv ?? [])];
  const child = spawn(program, words, {
    cwd: place.directory,
    env: { ...place.env, PYTHONPATH: folder, ...each.env },
  });
  child.stdin.on("error", () => {}).end(each.stdin ?? "");
  child.stderr.resume();
  const closed = new Promise<number>((resolve, reject) =>
    child.once("close", (code) => resolve(code ?? -1)).once("error", reject),
  );
  const [output, code] = await Promise.all([text(child.stdout), closed]);
  const shown = output.replaceAll(`${place.directory}/`, "").replaceAll(place.temporary, "/tmp");
  return { code, output: shown, files: changedFiles(before, readFiles(place)) };
}

interface ToolRun {
  readonly place: Place;
  readonly address: string;
  readonly plain: Run;
}

async function runAsTool(each: RealCase, { place, address, plain }: ToolRun): Promise<Omit<CaseResult, "case">> {
  prepare(each, place);
  const before = readFiles(place);
  const words = ["call", address, "--input", JSON.stringify(each.input ?? {}), "--yes"];
  const answer = await runCommand({ ...place, env: { ...place.env, ...each.env } }, words);
  const outcome = answer.document as ToolOutcome;
  if (outcome.status !== "ok") {
    const { error } = outcome;
    const isSame = error.code === "script-failed" && error.details.code === plain.code;
    return isSame && plain.code !== 0 ? { verdict: "works" } : { verdict: "fails", why: error.message };
  }
  const why = findLoss(plain, outcome, { place, files: changedFiles(before, readFiles(place)) });
  return why === undefined ? { verdict: "works" } : { verdict: "lost", why };
}

interface Made {
  readonly place: Place;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** What the script alone gives and the tool does not: the end, the result, a file. A file may also be kept under a handle. */
function findLoss(
  plain: Run,
  { output, files: written = [] }: ToolOutcome & { status: "ok" },
  made: Made,
): string | undefined {
  if (plain.code !== 0) return `the script alone ends with ${plain.code}`;
  // Paths that a script makes absolute are shown as the caller wrote them.
  const printed = typeof output === "string" ? output.replaceAll(`${made.place.directory}/`, "") : output;
  if (!isSameOutput(plain.output, printed)) return `the output is ${JSON.stringify(printed)}, not ${plain.output}`;
  for (const [path, content] of plain.files) {
    const found = made.files.get(path);
    // SQLite writes its own version into its files.
    const isSame = path.endsWith(".db") ? found !== undefined : found?.equals(content) === true;
    const kept = written.find((file) => path.endsWith(file.path.slice(file.path.lastIndexOf("/") + 1)));
    const isKept = kept?.handle !== undefined && kept.bytes === content.length;
    if (!isSame && !isKept) return `${path} is ${found === undefined ? "not there" : "different"}`;
  }
  return undefined;
}

function isSameOutput(plain: string, printed: unknown): boolean {
  if (typeof printed === "string") return plain.trimEnd() === printed.trimEnd();
  try {
    return isDeepStrictEqual(JSON.parse(plain), printed);
  } catch {
    return false;
  }
}

/** Files of the working directory, of the home (`~/…`) and temporary ones, without those of Kitbag. */
function readFiles({ directory, home, temporary }: Place): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const [root, prefix] of [
    [directory, ""],
    [home, "~/"],
    [temporary, "/tmp/"],
  ] as const) {
    for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      const path = join(root, name);
      if (/^(?:\.kitbag|\.git|kitbag\.lock|\.agents)(?:\/|$)/u.test(relative(root, path))) continue;
      if (statSync(path).isFile()) found.set(prefix + name, readFileSync(path));
    }
  }
  return found;
}

function changedFiles(before: ReadonlyMap<string, Buffer>, after: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  return new Map([...after].filter(([path, content]) => before.get(path)?.equals(content) !== true));
}

/** Answers with the name of the tool that a script is. */
async function findTools(skill: string): Promise<(script: string) => string | undefined> {
  const { reports } = await loadSkills({ directories: [join(skills, skill)] });
  const tools = reports.flatMap((report) => report.skill?.tools ?? []);
  return (script) => tools.find(({ code }) => (code as ScriptCode).path === script)?.name;
}

/** Runs a command in this process, as the program does with `--json`. */
async function runCommand({ directory, env }: Place, [name, ...words]: readonly string[]): Promise<Answer> {
  const command = await commands.find((entry) => entry.name === name)?.load();
  if (command === undefined) throw new Error(`there is no command ${name}`);
  const parser = new Command().exitOverride();
  command.define(parser);
  parser.parse(words, { from: "user" });
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const terminal = createTerminal({ stdin, stdout: stdout.resume(), stderr: stderr.resume(), env });
  const context = { terminal, env, cwd: directory, args: parser.args, options: parser.opts(), json: true };
  try {
    return await command.run(context);
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return { document: { status: "failed", error: cause }, failure: cause.message, exitCode: 1 };
  }
}
