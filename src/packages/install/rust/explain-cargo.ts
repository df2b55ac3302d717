import { explainCommon, explainRefused, lastWords, type DependencyFailure } from "../dependency-failure.ts";
import type { StepResult } from "../run-step.ts";

/** What is known beside what Cargo printed. */
export interface CargoCircumstances {
  readonly maxBytes: number;
  /** Hosts that it wanted to reach and must not. */
  readonly refusedHosts: readonly string[];
  readonly cargo: string;
}

/** Says in words why Cargo failed. */
export function explainCargo(result: StepResult, circumstances: CargoCircumstances): DependencyFailure {
  const { maxBytes, refusedHosts, cargo } = circumstances;
  const common = explainCommon(result, maxBytes);
  if (common !== undefined) return common;
  if (refusedHosts.length > 0) return explainRefused(refusedHosts);
  const text = result.stderr;
  const [, name] =
    /failed to (?:get|download|verify the checksum of|sync|load source for dependency) `([\w-]+)/u.exec(text) ?? [];
  if (/-Z sparse-registry|does not understand this lock file|unexpected argument|wasn't expected/u.test(text)) {
    const cure = "install a newer one: version 1.68 is the first that can do it (rustup update)";
    return { problem: "installer-missing", reason: `${cargo} is too old`, cure };
  }
  if (/needs to be updated but --locked|cannot (?:update|create) the lock file/u.test(text)) {
    const cure = "run cargo generate-lockfile in the skill's folder";
    return { problem: "lock", reason: "Cargo.lock does not fit Cargo.toml", cure };
  }
  if (/checksum/u.test(text)) {
    const cure = "somebody may have changed it: find out why before you change Cargo.lock";
    return { problem: "hash", package: name, reason: "the file on the index is not the one that was locked", cure };
  }
  if (/no matching package|not found in registry|is not present|got 404|status code 404/u.test(text)) {
    const cure = "check how its name is written, and its version";
    return { problem: "not-found", package: name, reason: "it is not on the package index", cure };
  }
  if (
    /spurious network error|Could not resolve|Couldn't connect|Timeout was reached|failed to download|got 5\d\d|HTTP response code/iu.test(
      text,
    )
  ) {
    const cure = "check the network and the index, or try again later";
    return { problem: "index", package: name, reason: `the package index failed (${lastWords(text)})`, cure };
  }
  return { problem: "unknown", reason: `cargo failed: ${lastWords(text)}`, cure: "see the message of cargo" };
}
