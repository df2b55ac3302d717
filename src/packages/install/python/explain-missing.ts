import { join } from "node:path";

import { explainRefused, lastWords, type DependencyFailure } from "../dependency-failure.ts";
import type { StepResult } from "../run-step.ts";
import { normaliseName } from "./parse-requirement.ts";
import { runPip, type Pip } from "./pip.ts";
import type { PythonFacts } from "./python-facts.ts";

/** A package that pip found no file for. */
export interface MissingPackage {
  readonly result: StepResult;
  readonly missing: string;
  readonly facts: PythonFacts;
}

const mostShown = 5;

/** Finds out why there is no file for a package: an index that fails, not there, not in this version, or not for this Python. */
export async function explainMissing(pip: Pip, { result, missing, facts }: MissingPackage): Promise<DependencyFailure> {
  const [, newer] = /Requires-Python (\S+)/u.exec(result.stderr) ?? [];
  if (newer !== undefined) {
    const reason = `it needs Python ${newer}, and this is ${facts.version}`;
    const cure = "use another version of the package, or another Python";
    return { problem: "no-wheel", package: missing, reason, cure };
  }
  const log = await askAgain(pip, missing);
  const refused = pip.route?.refused() ?? [];
  if (refused.length > 0) return explainRefused(refused);
  return toFailure(pip, { result, missing, facts }, log);
}

/** Lets pip talk about what it skips: it takes an index that fails for one without the package. */
async function askAgain(pip: Pip, missing: string): Promise<string> {
  const place = ["--dest", join(pip.bench.root, "temporary")];
  const args = ["download", "--no-deps", "--only-binary", ":all:", "-vv", ...place, missing];
  const { stdout, stderr } = await runPip(pip, { args, from: "source" });
  return `${stdout}\n${stderr}`;
}

function toFailure({ source }: Pip, { result, missing, facts }: MissingPackage, log: string): DependencyFailure {
  const isFolder = source.kind === "folder";
  const place = isFolder ? "in the folder of packages" : "on the package index";
  const [, unreachable] = /Could not fetch URL \S+: (?!404 )([^\n]*) - skipping/u.exec(log) ?? [];
  if (unreachable !== undefined) {
    const cure = "check the network and the index, or try again later";
    return { problem: "index", package: missing, reason: `the package index failed (${lastWords(unreachable)})`, cure };
  }
  const [, wheels = "none"] = /\(from versions: ([^)]{1,300})\)/u.exec(result.stderr) ?? [];
  if (wheels !== "none") {
    const reason = `this version is not ${place} as a wheel, only ${wheels}`;
    const cure = "ask for one of these, or loosen what the other packages ask for";
    return { problem: "not-found", package: missing, reason, cure };
  }
  const skipped = Array.from(
    log.matchAll(/Skipping link: [^\n]*?([\w.+-]+\.(?:whl|tar\.gz|zip))\b/gu),
    ([, file = ""]) => file,
  );
  const others = skipped.filter((file) => normaliseName(file.split(/-\d/u)[0] ?? "") === missing);
  if (others.length > 0) {
    const shown = [...new Set(others)].slice(-mostShown).join(", ");
    const reason = `there is no wheel of it for Python ${facts.version} on this machine, only ${shown}`;
    const cure = "use another version or another package; to let its own code build it, grant it install scripts";
    return { problem: "no-wheel", package: missing, reason, cure };
  }
  const cure = isFolder
    ? `put a wheel of it there: pip download --only-binary :all: --dest ${source.folder} ${missing}`
    : "check how its name is written";
  return { problem: "not-found", package: missing, reason: `it is not ${place}`, cure };
}
