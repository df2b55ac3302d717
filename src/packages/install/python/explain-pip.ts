import { explainCommon, explainRefused, lastWords, type DependencyFailure } from "../dependency-failure.ts";
import type { StepResult } from "../run-step.ts";
import { normaliseName } from "./parse-requirement.ts";

/** What is known beside what pip printed. */
export interface PipCircumstances {
  readonly maxBytes: number;
  /** Hosts that it wanted to reach and must not. */
  readonly refusedHosts: readonly string[];
}

interface Pattern {
  readonly pattern: RegExp;
  readonly explain: (found: RegExpExecArray, text: string) => DependencyFailure;
}

const name = "([A-Za-z0-9][\\w.-]*)";

const patterns: readonly Pattern[] = [
  {
    pattern: /No module named pip\b/u,
    explain: () => ({
      problem: "installer-missing",
      reason: "this Python has no pip any more",
      cure: "install it: apt install python3-pip, or python3 -m ensurepip",
    }),
  },
  {
    pattern: /DO NOT MATCH THE HASHES[\s\S]*?\n\s+([A-Za-z0-9][\w.-]*)[\s\S]*?Got\s+([0-9a-f]+)/u,
    explain: ([, name, got]) => ({
      problem: "hash",
      package: name,
      reason: `the file on the index is not the one that was locked: its hash is ${got}`,
      cure: "it may have been changed on purpose: find out why before you delete the lock or change the hash",
    }),
  },
  {
    pattern: /In --require-hashes mode, all requirements must have[\s\S]*?\n\s+([A-Za-z0-9][\w.-]*)/u,
    explain: ([, name]) => ({
      problem: "hash",
      package: name,
      reason: "some packages have hashes and this one has not, or has no exact version",
      cure: "give hashes and exact versions (==) to all packages and to all that they need, or to none",
    }),
  },
  {
    pattern: /(?:wheel|archive|file) '?([^'\n]*?)'? has a file .{0,400}? trying to install outside/u,
    explain: ([, file = ""]) => ({
      problem: "broken",
      package: fileToName(file),
      reason: "it wants to write outside of its own directory",
      cure: "do not use it, and report it to the index: packages do this only to attack",
    }),
  },
  {
    pattern: /(?:ResolutionImpossible|Cannot install ([^\n]*?) because these package versions have conflicting)/u,
    explain: ([, names = ""], text) => ({
      problem: "conflict",
      reason: `no versions fit together${names === "" ? "" : ` (${names})`}: ${conflictIn(text)}`,
      cure: "loosen the versions that the skill asks for",
    }),
  },
  {
    pattern: new RegExp(
      `(?:Invalid wheel|is invalid|Invalid requirement|has invalid|BadZipFile|not a zip file|inconsistent (?:name|version))[^\\n]*`,
      "u",
    ),
    explain: ([line], text) => ({
      problem: "broken",
      package: fileToName(/([\w.-]+\.whl)/u.exec(text)?.[1] ?? ""),
      reason: `a file of it is broken (${line})`,
      cure: "use another version, or report it to the index",
    }),
  },
  {
    pattern: new RegExp(
      `(?:HTTP error [45]\\d\\d|5\\d\\d Server Error|(?:40[13]|429) Client Error|too many 5\\d\\d error responses)[^\\n]*`,
      "u",
    ),
    explain: ([line]) => ({
      problem: "index",
      reason: `the package index answered with an error (${lastWords(line)})`,
      cure: "try again later, or use another index",
    }),
  },
  {
    pattern:
      /(?:Read timed out|ConnectTimeout|Connection refused|Connection aborted|Connection reset|Name or service not known|Temporary failure in name resolution|Network is unreachable|ProxyError|NewConnectionError|IncompleteRead|Connection broken|SSLError)[^\n]{0,200}/u,
    explain: ([line]) => ({
      problem: "index",
      reason: `the package index cannot be reached (${lastWords(line)})`,
      cure: "check the network and the index, or use a folder of packages (KITBAG_WHEELHOUSE, or wheelhouse in a program)",
    }),
  },
];

/** Says in words why pip failed. */
export function explainPip(result: StepResult, { maxBytes, refusedHosts }: PipCircumstances): DependencyFailure {
  const common = explainCommon(result, maxBytes);
  if (common !== undefined) return common;
  if (refusedHosts.length > 0) return explainRefused(refusedHosts);
  const text = `${result.stdout}\n${result.stderr}`;
  for (const { pattern, explain } of patterns) {
    const found = pattern.exec(text);
    if (found !== null) return explain(found, text);
  }
  return { problem: "unknown", reason: `pip failed: ${lastWords(text)}`, cure: "see the message of pip" };
}

/** The package that pip found no file for; undefined if that was not what went wrong. */
export function missingPackage({ stderr }: StepResult): string | undefined {
  const [, found] =
    new RegExp(`(?:No matching distribution found for|satisfies the requirement) ${name}`, "u").exec(stderr) ?? [];
  return found === undefined ? undefined : normaliseName(found);
}

function fileToName(file: string): string | undefined {
  const [, found] = /([A-Za-z0-9][\w.]*)-[^/]*\.whl$/u.exec(file) ?? [];
  return found === undefined ? undefined : normaliseName(found);
}

function conflictIn(text: string): string {
  const [, lines = ""] = /The conflict is caused by:\n((?:[ \t]+[^\n]+\n){1,10})/u.exec(text) ?? [];
  const shown = lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return shown.join(", ") || lastWords(text);
}
