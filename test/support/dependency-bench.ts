import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { onTestFinished } from "vitest";

import { isKitbagError, type ErrorDetails } from "../../src/core/errors.ts";
import {
  createDependencies,
  type Dependencies,
  type DependenciesOptions,
} from "../../src/packages/install/create-dependencies.ts";
import type { PreparedDependencies, PythonRequest } from "../../src/packages/install/dependency-request.ts";
import { parseRequirementList } from "../../src/packages/install/python/parse-requirement.ts";
import { findSandbox } from "../../src/sandbox/find-sandbox.ts";
import { defaultLimits, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { startIndex, type IndexContent, type TestIndex } from "./package-index.ts";
import { createFolder } from "./temporary-folder.ts";

/** A sandbox that is closed with the test. */
async function openSandbox(): Promise<Sandbox> {
  const sandbox = await findSandbox();
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** Starts an index that ends with the test. */
export async function openTestIndex(content: IndexContent): Promise<TestIndex> {
  const index = await startIndex(content);
  onTestFinished(() => index.close());
  return index;
}

/** What installs packages in a home of its own, and that home. */
export async function openDependencies(
  options: Partial<DependenciesOptions>,
): Promise<Dependencies & { readonly home: string }> {
  const { home = createFolder() } = options;
  return { home, ...createDependencies({ sandbox: options.sandbox ?? (await openSandbox()), ...options, home }) };
}

/** A request for Python packages. */
export function pythonRequest(...requirements: readonly string[]): PythonRequest {
  return {
    language: "python",
    python: "/usr/bin/python3",
    requirements: parseRequirementList(requirements, "test"),
    constraints: [],
    requiresPython: "",
  };
}

/** What a Python program prints that runs with the packages. */
export async function runPython({ mounts, environment }: PreparedDependencies, program: string): Promise<string> {
  return runInside({ mounts, environment, programs: ["python3"] }, ["python3", "-c", program]);
}

/** What a Node program in `/skill/scripts` prints that runs with the packages. */
export async function runNode(
  { mounts, environment }: PreparedDependencies,
  file: string,
  program: string,
): Promise<string> {
  const skill = createFolder({ [`scripts/${file}`]: program });
  const own = [
    { source: process.execPath, target: "/opt/node" },
    { source: skill, target: "/skill", granted: true },
  ];
  return runInside({ mounts: [...mounts, ...own], environment, programs: [] }, ["/opt/node", `/skill/scripts/${file}`]);
}

type Parts = Pick<Parameters<Sandbox["start"]>[0], "mounts" | "environment" | "programs">;

/** What a program prints that runs in the sandbox. */
export async function runInside(parts: Parts, command: readonly string[]): Promise<string> {
  const sandbox = await openSandbox();
  const started = await sandbox.start({ ...parts, limits: defaultLimits }, command, "");
  const [stdout, stderr] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  return (stdout + stderr).trim();
}

/** The names of all that is in the home but for finished packages and locks. */
export function leftovers(home: string): readonly string[] {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  return names.filter(
    (name) => !/^(?:packages|locks)(?:\/[0-9a-f]{64}(?:\/.*)?|\/(?:interpreter-)?[0-9a-f]{32}\.json)?$/u.test(name),
  );
}

/** How many sets of packages are installed in a home. */
export function countInstalled(home: string): number {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  return names.filter((name) => /^packages\/[0-9a-f]{64}$/u.test(name)).length;
}

/** All files of installed packages with their bytes, but for what Python compiles. */
export function readInstalled({ mounts }: PreparedDependencies): ReadonlyMap<string, string> {
  const directory = mounts[0]?.source ?? "";
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !path.endsWith(".pyc"));
  return new Map(paths.toSorted().map((path) => [path.slice(directory.length), readFileSync(path, "base64")]));
}

/** What went wrong with packages that cannot be installed. */
export async function problemOf(attempt: Promise<unknown>): Promise<ErrorDetails["dependency-failed"]> {
  try {
    await attempt;
  } catch (cause) {
    if (isKitbagError(cause, "dependency-failed")) return cause.details;
    throw cause;
  }
  throw new Error("it did not fail");
}
