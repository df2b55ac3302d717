import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { findFamily } from "../../runtimes/script/families.ts";
import { findProgram } from "../../sandbox/programs.ts";

/** A program that runs scripts or installs their packages. */
export interface FoundProgram {
  readonly name: string;
  /** Missing if there is none. */
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
export function findInterpreters(): Promise<FoundProgram[]> {
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
export function findPackageTools(): Promise<FoundProgram[]> {
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
