import { explainCommon, lastWords, type DependencyFailure } from "../dependency-failure.ts";
import type { StepResult } from "../run-step.ts";

/** What is known when npm has failed. */
export interface NpmFailure {
  readonly result: StepResult;
  readonly maxBytes: number;
  /** The folder that packages come from, if it is not the index. */
  readonly folder?: string | undefined;
  /** Hosts that it wanted to reach and must not. */
  readonly refusedHosts: readonly string[];
}

/** Says in words why npm failed. */
export function explainNpm({ result, maxBytes, folder, refusedHosts }: NpmFailure): DependencyFailure {
  const common = explainCommon(result, maxBytes);
  if (common !== undefined) return common;
  if (refusedHosts.length > 0) {
    const reason = `the package index sends us to ${refusedHosts.join(", ")}, which we may not reach`;
    return { problem: "other-host", reason, cure: "if this host belongs to the index, add it to index.hosts" };
  }
  const text = `${result.stdout}\n${result.stderr}`;
  const { code, summary } = findError(result);
  const place = folder === undefined ? "on the package index" : "in the folder of packages";
  const name = findName(text);
  if (code === "E404") {
    const cure =
      folder === undefined
        ? "check how its name is written"
        : `put its tarball there: cd ${folder} && npm pack ${name ?? ""}`;
    return { problem: "not-found", package: name, reason: `it is not ${place}`, cure };
  }
  if (code === "ETARGET") {
    const cure = "ask for another version";
    return { problem: "not-found", package: name, reason: `this version is not ${place} (${summary})`, cure };
  }
  if (code === "EINTEGRITY") {
    const cure = "somebody may have changed it: find out why before you delete the lock";
    const reason = `the file on the index is not the one that was locked (${summary})`;
    return { problem: "hash", package: name, reason, cure };
  }
  if (code === "ERESOLVE")
    return {
      problem: "conflict",
      reason: `no versions fit together (${summary})`,
      cure: "loosen the versions that the skill asks for",
    };
  if (/^(?:E5\d\d|E4\d\d)$/u.test(code)) {
    return {
      problem: "index",
      reason: `the package index answered with an error (${summary})`,
      cure: "try again later, or use another index",
    };
  }
  if (/^(?:ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ERR_SOCKET|EIDLETIMEOUT|FETCH_ERROR|EPROTO)/u.test(code)) {
    const cure = "check the network and the index, or use a folder of packages (wheelhouse)";
    return { problem: "index", reason: `the package index cannot be reached (${summary})`, cure };
  }
  if (/^(?:TAR_|Z_|EJSONPARSE|EBADPLATFORM|EBADENGINE)/u.test(code)) {
    return {
      problem: "broken",
      package: name,
      reason: summary,
      cure: "use another version, or report it to the index",
    };
  }
  return { problem: "unknown", reason: `npm failed: ${summary || lastWords(text)}`, cure: "see the message of npm" };
}

function findError({ stdout, stderr }: StepResult): { code: string; summary: string } {
  const start = stdout.indexOf("{");
  try {
    const { error } = JSON.parse(stdout.slice(start)) as { error: { code?: unknown; summary?: unknown } };
    return { code: String(error.code ?? ""), summary: lastWords(String(error.summary ?? "")) };
  } catch {
    const [, code = ""] = /npm error code (\S+)/u.exec(stderr) ?? [];
    return { code, summary: lastWords(stderr.replaceAll(/^npm (?:http|info).*$/gmu, "")) };
  }
}

function findName(text: string): string | undefined {
  const [, found] =
    /'((?:@[\w.~-]+\/)?[\w.~-]+)@[^']*' is not in this registry/u.exec(text) ??
    /No matching version found for ((?:@[\w.~-]+\/)?[\w.~-]+)@/u.exec(text) ??
    /\/((?:@[\w.~-]+(?:\/|%2f))?[\w.~-]+)\/-\/[\w.~-]+\.tgz/u.exec(text) ??
    [];
  return found === undefined ? undefined : decodeURIComponent(found);
}
