import { explainCommon, explainRefused, lastWords, type DependencyFailure } from "../dependency-failure.ts";
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

interface Facts {
  readonly name: string | undefined;
  readonly summary: string;
  readonly folder: string | undefined;
}

const changed = "it may have been changed on purpose: find out why before you delete the lock";

/** What npm's codes mean. */
const meanings: readonly { readonly codes: RegExp; readonly explain: (facts: Facts) => DependencyFailure }[] = [
  {
    codes: /^E404$/u,
    explain: ({ name, folder }) =>
      folder === undefined
        ? notFound(name, "it is not on the package index", "check how its name is written")
        : notFound(name, "it is not in the folder of packages", `put it there: cd ${folder} && npm pack ${name ?? ""}`),
  },
  {
    codes: /^ETARGET$/u,
    explain: ({ name, summary }) => notFound(name, `this version is not there (${summary})`, "ask for another version"),
  },
  {
    codes: /^EINTEGRITY$/u,
    explain: ({ name, summary }) => {
      const reason = `the file on the index is not the one that was locked (${summary})`;
      return { problem: "hash", package: name, reason, cure: changed };
    },
  },
  {
    codes: /^ERESOLVE$/u,
    explain({ summary }) {
      const cure = "loosen the versions that the skill asks for";
      return { problem: "conflict", reason: `no versions fit together (${summary})`, cure };
    },
  },
  {
    codes: /^E[45]\d\d$/u,
    explain({ summary }) {
      const cure = "try again later, or use another index";
      return { problem: "index", reason: `the package index answered with an error (${summary})`, cure };
    },
  },
  {
    codes: /^(?:ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ERR_SOCKET|EIDLETIMEOUT|FETCH_ERROR|EPROTO)/u,
    explain({ summary }) {
      const cure =
        "check the network and the index, or use a folder of packages (KITBAG_WHEELHOUSE, or wheelhouse in a program)";
      return { problem: "index", reason: `the package index cannot be reached (${summary})`, cure };
    },
  },
  {
    codes: /^(?:TAR_|Z_|EJSONPARSE|EBADPLATFORM|EBADENGINE)/u,
    explain({ name, summary }) {
      const cure = "use another version, or report it to the index";
      return { problem: "broken", package: name, reason: summary, cure };
    },
  },
];

function notFound(name: string | undefined, reason: string, cure: string): DependencyFailure {
  return { problem: "not-found", package: name, reason, cure };
}

/** Says in words why npm failed. */
export function explainNpm({ result, maxBytes, folder, refusedHosts }: NpmFailure): DependencyFailure {
  const common = explainCommon(result, maxBytes);
  if (common !== undefined) return common;
  if (refusedHosts.length > 0) return explainRefused(refusedHosts);
  const { code, summary } = findError(result);
  const meaning = meanings.find(({ codes }) => codes.test(code));
  const text = `${result.stdout}\n${result.stderr}`;
  if (meaning !== undefined) return meaning.explain({ name: findName(text), summary, folder });
  return { problem: "unknown", reason: `npm failed: ${summary || lastWords(text)}`, cure: "see the message of npm" };
}

function findError({ stdout, stderr }: StepResult): { code: string; summary: string } {
  const start = stdout.indexOf("{");
  try {
    const { error } = JSON.parse(stdout.slice(start)) as { error: { code?: string; summary?: string } };
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
    /\/((?:@[\w.~-]+(?:\/|%2f))?[\w.~-]+)\/-\/[\w.~-]+\.tgz/iu.exec(text) ??
    /404 [^\n]*?GET https?:\/\/[^\s/]+\/(?:\S*\/)?((?:@[\w.~-]+%2f)?[\w.~-]+)(?:\s|$)/iu.exec(text) ??
    [];
  return found === undefined ? undefined : decodeURIComponent(found);
}
