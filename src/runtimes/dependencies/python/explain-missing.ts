import type { DependencyFailure } from "../dependency-failure.ts";
import type { StepResult } from "../run-step.ts";
import { explainPip } from "./explain-pip.ts";
import { runPip, type Pip } from "./pip.ts";
import type { PythonFacts } from "./python-facts.ts";

/** A package that pip found no file for. */
export interface MissingPackage {
  readonly result: StepResult;
  readonly missing: string;
  readonly facts: PythonFacts;
}

/** Finds out why there is no file for a package: not there at all, not in this version, or not for this Python. */
export async function explainMissing(pip: Pip, { result, missing, facts }: MissingPackage): Promise<DependencyFailure> {
  const { source, bench, route } = pip;
  const { version } = facts;
  const place = source.kind === "folder" ? "in the folder of packages" : "on the package index";
  const [, newer] = /Requires-Python (\S+)/u.exec(result.stderr) ?? [];
  if (newer !== undefined) {
    const cure = "use another version of the package, or another Python";
    return { problem: "no-wheel", package: missing, reason: `it needs Python ${newer}, and this is ${version}`, cure };
  }
  // Talks about what it skips: pip takes an index that fails for one without the package.
  const asked = await runPip(pip, { args: ["index", "versions", "--pre", "--verbose", missing], from: "source" });
  const failure = explainPip(asked, { maxBytes: bench.maxBytes, refusedHosts: route?.refused() ?? [] });
  if (asked.code !== 0 && failure.problem !== "unknown") return failure;
  const [, versions] = /Available versions: ([^\n]{1,300})/u.exec(asked.stdout) ?? [];
  if (versions === undefined) {
    const cure =
      source.kind === "folder"
        ? `put a wheel of it there: pip download --only-binary :all: --dest ${source.folder} ${missing}`
        : "check how its name is written";
    return { problem: "not-found", package: missing, reason: `it is not ${place}`, cure };
  }
  const [, wheels = "none"] = /\(from versions: ([^)]{1,300})\)/u.exec(result.stderr) ?? [];
  if (wheels !== "none") {
    const cure = "ask for one of these, or loosen what the other packages ask for";
    return {
      problem: "not-found",
      package: missing,
      reason: `this version is not ${place} as a wheel, only ${wheels}`,
      cure,
    };
  }
  const reason = `there is no wheel of it for Python ${version} on this machine, only other files of the versions ${versions}`;
  const cure = "use another version or another package; to let its own code build it, grant it install scripts";
  return { problem: "no-wheel", package: missing, reason, cure };
}
