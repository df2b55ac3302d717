import type { Sandbox } from "../../../sandbox/sandbox.ts";
import { dependencyFailed } from "../dependency-failure.ts";
import type { PythonRequest } from "../dependency-request.ts";
import type { Installer } from "../installer.ts";
import { fitsVersion } from "./fits-version.ts";
import { installPython, pythonPackages } from "./install-python.ts";
import { renderRequirement, type Requirement } from "./parse-requirement.ts";
import { findPythonFacts, type PythonFacts } from "./python-facts.ts";

/** Makes installers for Python; each interpreter is asked once what it is. */
export function pythonInstaller(sandbox: Sandbox): (request: PythonRequest, signal: AbortSignal) => Promise<Installer> {
  const known = new Map<string, PythonFacts>();
  return async (request, signal) => {
    const facts = known.get(request.python) ?? (await findPythonFacts(sandbox, request.python, signal));
    known.set(request.python, facts);
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
