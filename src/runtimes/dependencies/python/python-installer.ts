import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { PythonRequest } from "../dependency-request.ts";
import type { Installer } from "../installer.ts";
import { installPython, pythonPackages } from "./install-python.ts";
import { renderRequirement, type Requirement } from "./parse-requirement.ts";
import { findPythonFacts, type PythonFacts } from "./python-facts.ts";

/** Makes installers for Python; each interpreter is asked once what it is. */
export function pythonInstaller(sandbox: Sandbox): (request: PythonRequest, signal: AbortSignal) => Promise<Installer> {
  const known = new Map<string, PythonFacts>();
  return async (request, signal) => {
    const facts = known.get(request.python) ?? (await findPythonFacts(sandbox, request.python, signal));
    known.set(request.python, facts);
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

/** The order in which packages are listed means nothing. */
function toLines(requirements: readonly Requirement[]): readonly string[] {
  return [...new Set(requirements.map(renderRequirement))].toSorted();
}
