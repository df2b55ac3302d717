import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { findCompilers, type CompilerReport } from "../../packages/build/find-compilers.ts";
import { examineSandboxes, type SandboxExamination, type ExaminedSandbox } from "../../sandbox/examine-sandboxes.ts";
import { findSandbox } from "../../sandbox/find-sandbox.ts";
import type { SandboxName } from "../../sandbox/sandbox.ts";
import { findFamily } from "../../runtimes/script/families.ts";
import { findProgram } from "../../sandbox/programs.ts";
import { renderTable } from "../render.ts";
import type { Terminal } from "../terminal.ts";

/** What scripts and WASM tools find on this machine. */
export interface MachineExamination {
  readonly sandbox: SandboxExamination;
  readonly interpreters: readonly FoundProgram[];
  readonly packageTools: readonly FoundProgram[];
  /** Empty if there is no sandbox to ask them in. */
  readonly compilers: readonly CompilerReport[];
}

/** The part of the machine that is being checked. */
export interface ExamineOptions {
  readonly sandbox?: SandboxName | undefined;
  /** Where npm packages with compilers may be. */
  readonly directory: string;
  readonly onProgress: (what: string) => void;
}

/** Looks at everything that runs tools, at the same time as far as nothing waits for something else. */
export async function examineMachine({
  sandbox: asked,
  directory,
  onProgress,
}: ExamineOptions): Promise<MachineExamination> {
  onProgress("Trying the sandboxes, asking the interpreters");
  const programs = Promise.all([findInterpreters(), findPackageTools()]);
  const sandbox = await examineSandboxes(asked);
  onProgress("Asking the compilers");
  const compilers = await askCompilers(sandbox.used, directory);
  const [interpreters, packageTools] = await programs;
  onProgress("");
  return { sandbox, interpreters, packageTools, compilers };
}

async function askCompilers(used: SandboxName | undefined, directory: string): Promise<CompilerReport[]> {
  if (used === undefined) return [];
  const sandbox = await findSandbox({ name: used });
  try {
    return await findCompilers({ sandbox, packagesFrom: [directory, import.meta.dirname] });
  } finally {
    await sandbox.close();
  }
}

/** A program that runs scripts or installs their packages. */
interface FoundProgram {
  readonly name: string;
  /** Missing if there is no such program. */
  readonly path?: string;
  readonly version?: string;
  /** How to get it. */
  readonly cure?: string;
}

const run = promisify(execFile);
const longestMs = 5000;

const interpreters: readonly (readonly [name: string, ...argv: string[]])[] = [
  ["python3", "--version"],
  ["node", "--version"],
  ["bash", "--version"],
  ["ruby", "--version"],
  ["perl", "-e", "print $^V"],
  ["php", "--version"],
  ["lua", "-v"],
  ["pwsh", "--version"],
  ["Rscript", "--version"],
];

/** Finds the interpreters of this machine, as scripts would get them, and asks each for its version. */
function findInterpreters(): Promise<FoundProgram[]> {
  return Promise.all(
    interpreters.map(async ([name, ...argv]) => {
      const { names, cure } = findFamily(name);
      // Scripts run with the Node that runs Kitbag.
      const path = name === "node" ? process.execPath : find([name, ...names]);
      return path === undefined ? { name, cure } : { name, path, ...(await askVersion([path, ...argv])) };
    }),
  );
}

/** Finds what installs the packages that scripts need. */
function findPackageTools(): Promise<FoundProgram[]> {
  return Promise.all([findPip(), findNpm()]);
}

async function findPip(): Promise<FoundProgram> {
  const python = find(["python3", "python"]);
  const version = python === undefined ? {} : await askVersion([python, "-m", "pip", "--version"]);
  if (python === undefined || version.version === undefined) {
    return { name: "pip", cure: "install it with apt install python3-pip python3-venv" };
  }
  return { name: "pip", path: `${python} -m pip`, ...version };
}

async function findNpm(): Promise<FoundProgram> {
  const path = find(["npm"]);
  return path === undefined
    ? { name: "npm", cure: "install it with Node.js (https://nodejs.org)" }
    : { name: "npm", path, ...(await askVersion([path, "--version"])) };
}

function find(names: readonly string[]): string | undefined {
  for (const name of names) {
    const path = findProgram(name);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The first number with a dot that it prints; nothing if it does not say. */
async function askVersion([program = "", ...argv]: readonly string[]): Promise<{ version?: string }> {
  try {
    const { stdout, stderr } = await run(program, argv, { timeout: longestMs, cwd: "/", killSignal: "SIGKILL" });
    const version = /\d+(?:\.\d+)+/u.exec(stdout + stderr)?.[0];
    return version === undefined ? {} : { version };
  } catch {
    return {};
  }
}

/** Marks of what is right, neither, and wrong. */
export const marks = { ok: "✓", note: "·", wrong: "✗" } as const;

/** Shows what runs tools on this machine, in tables. */
export function renderMachine(machine: MachineExamination, terminal: Terminal): string {
  const { sandbox, interpreters, packageTools, compilers } = machine;
  const programs = [
    ...interpreters.map((program) => toProgramRow("interpreter", program)),
    ...packageTools.map((program) => toProgramRow("packages", program)),
    ...compilers.map(toCompilerRow),
  ];
  return [
    renderTable(
      ["", "SANDBOX", "FOUND"],
      sandbox.sandboxes.map((one) => toSandboxRow(one, sandbox)),
      terminal,
    ),
    renderChoice(sandbox, terminal),
    ...(sandbox.guarantees.length === 0 ? [] : [renderGuarantees(sandbox, terminal)]),
    renderTable(["", "PROGRAM", "FOR", "VERSION", "FOUND"], programs, terminal),
  ].join("\n\n");
}

function toSandboxRow({ name, status, found = "", cure }: ExaminedSandbox, { used }: SandboxExamination): string[] {
  const mark = { works: marks.ok, missing: marks.note, broken: marks.wrong }[status];
  const text = status === "works" ? (name === used ? "works, and is used" : "works") : `${status}: ${found}`;
  return [mark, name, cure === undefined ? text : `${text}; ${cure}`];
}

function renderChoice({ used, why }: SandboxExamination, terminal: Terminal): string {
  if (used === undefined) return terminal.style("red", `No sandbox is used: ${why}`);
  if (used === "off") return terminal.style("red", `No sandbox is used: ${why}`);
  return `${terminal.style("bold", used)} is used: ${why}`;
}

function renderGuarantees({ guarantees }: SandboxExamination, terminal: Terminal): string {
  const rows = guarantees.map(({ guarantee, enforced, how }) => [enforced ? marks.ok : marks.wrong, guarantee, how]);
  return renderTable(["", "GUARANTEE", "HOW"], rows, terminal);
}

function toProgramRow(purpose: string, { name, path, version = "", cure = "" }: FoundProgram): string[] {
  return [path === undefined ? marks.note : marks.ok, name, purpose, version, path ?? `missing; ${cure}`];
}

function toCompilerRow(report: CompilerReport): string[] {
  if ("cure" in report) return [marks.note, report.language, "compiler", "", `missing; ${report.cure}`];
  return [marks.ok, report.language, "compiler", report.version, report.program];
}
