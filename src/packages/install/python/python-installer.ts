import { stat } from "node:fs/promises";

import type { Sandbox } from "../../../sandbox/sandbox.ts";
import { dependencyFailed } from "../dependency-failure.ts";
import type { PythonRequest } from "../dependency-request.ts";
import type { Installer } from "../run-step.ts";
import { digestOf, type PackageCache } from "../package-cache.ts";
import { installPython, pythonPackages } from "./install-python.ts";
import { renderRequirement, type Requirement } from "./parse-requirement.ts";
import { findPythonFacts, type PythonFacts } from "./pip.ts";

/** Makes installers for Python; each interpreter is asked once what it is. */
export function pythonInstaller(
  sandbox: Sandbox,
  cache: PackageCache,
): (request: PythonRequest, signal: AbortSignal) => Promise<Installer> {
  async function findFacts(python: string, signal: AbortSignal): Promise<PythonFacts> {
    const { size, mtimeMs, ino } = await stat(python);
    const key = digestOf([python, size, mtimeMs, ino]).slice(0, 32);
    const known = await cache.readFacts(key);
    if (known !== undefined) return known;
    const facts = await findPythonFacts(sandbox, python, signal);
    await cache.writeFacts(key, facts);
    return facts;
  }

  return async (request, signal) => {
    const facts = await findFacts(request.python, signal);
    checkVersion(request, facts);
    return {
      lockedBy: [facts.platform, toLines(request.requirements), toLines(request.constraints)],
      platform: facts.platform,
      install: (place, lock) => installPython(request, facts, place, lock),
      toPrepared: (directory) => ({
        mounts: [{ source: directory, target: pythonPackages }],
        environment: { PYTHONPATH: pythonPackages },
      }),
    };
  };
}

function checkVersion({ requiresPython, python }: PythonRequest, { version }: PythonFacts): void {
  if (fitsVersion(version, requiresPython)) return;
  const reason = `the script needs Python ${requiresPython}, and ${python} is ${version}`;
  const cure = "install such a Python, or change requires-python in the script";
  throw dependencyFailed("python", { problem: "no-wheel", reason, cure });
}

/** The order in which packages are listed means nothing. */
function toLines(requirements: readonly Requirement[]): readonly string[] {
  return [...new Set(requirements.map(renderRequirement))].toSorted();
}

/** Tells whether a version of Python, such as `3.11.2`, fits a list such as `>=3.9,<4`. A part that cannot be read fits. */
export function fitsVersion(version: string, specifier: string): boolean {
  return specifier.split(",").every((clause) => {
    const [, operator = "", wanted = "", star] =
      /^\s*(~=|===?|!=|<=|>=|<|>)\s*(\d+(?:\.\d+)*)(\.\*)?\s*$/u.exec(clause) ?? [];
    return wanted === "" || fits(toNumbers(version), toNumbers(wanted), star === undefined ? operator : `${operator}*`);
  });
}

function toNumbers(version: string): readonly number[] {
  return version.split(".").map(Number);
}

function fits(version: readonly number[], wanted: readonly number[], operator: string): boolean {
  const order = compare(version, wanted);
  switch (operator) {
    case ">=":
      return order >= 0;
    case ">":
      return order > 0;
    case "<=":
      return order <= 0;
    case "<":
      return order < 0;
    case "!=":
      return order !== 0;
    case "~=":
      return order >= 0 && hasPrefix(version, wanted.slice(0, -1));
    case "==*":
      return hasPrefix(version, wanted);
    case "!=*":
      return !hasPrefix(version, wanted);
    default:
      return order === 0;
  }
}

function compare(left: readonly number[], right: readonly number[]): number {
  const length = Math.max(left.length, right.length);
  for (let place = 0; place < length; place++) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function hasPrefix(version: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((part, place) => version[place] === part);
}
