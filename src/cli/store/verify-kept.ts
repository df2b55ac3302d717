import { createReadStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

import { auditStream } from "../../store/audit/audit-entry.ts";
import type { AuditProblem, AuditVerdict } from "../../store/audit/check-chain.ts";
import { verifyAudit, verifyAuditLines } from "../../store/audit/verify-audit.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { getText } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { usageError } from "../usage-error.ts";
import { toKeyFile } from "./audit-files.ts";
import { findLostHeads } from "./open-audited.ts";
import { withKept, type Kept } from "./open-kept.ts";

const emptyVerdict: AuditVerdict = { ok: true, count: 0, hash: "0".repeat(64) };

/** Verifies the audit of a store, or of a file that was exported; exit code 1 if something is wrong with it. */
export async function verifyKept(invocation: Invocation): Promise<Answer> {
  const [file] = invocation.args;
  if (file !== undefined) return verifyFile(resolve(invocation.cwd, file), invocation);
  return withKept(invocation, async (kept) => {
    const lost = kept.files === undefined ? [] : findLostHeads(kept.files.anchorFile);
    const verdict = await verify(kept, invocation);
    const answer = toAnswer(verdict, kept.name, lost);
    return verdict.count === 0 && answer.exitCode === undefined ? { ...answer, text: whyNothing(kept) } : answer;
  });
}

/** Nothing that was changed and nothing that was ever written must not look the same. */
function whyNothing({ name, files }: Kept): string {
  const cure =
    files === undefined
      ? "the configuration has a store and no audit; give it one: audit: await openAudit({ store, keyFile, anchorFile }) of kitbag/store"
      : "the calls that kitbag makes with this store are, from the first one on";
  return toPrintable(`Nothing is audited in ${name}: ${cure}`);
}

async function verify({ store, files }: Kept, invocation: Invocation): Promise<AuditVerdict> {
  const keyFile = findKeyFile(invocation);
  const isNothingKept = !existsSync(keyFile) && (await store.log.position(auditStream)) === 0;
  if (isNothingKept) return emptyVerdict;
  return verifyAudit(store, { keyFile, ...(files !== undefined && { anchorFile: files.anchorFile }) });
}

async function verifyFile(path: string, invocation: Invocation): Promise<Answer> {
  if (!existsSync(path)) throw usageError(`Cannot verify ${path}: there is no such file`);
  const options = { keyFile: findKeyFile(invocation), sealed: true };
  return toAnswer(await verifyAuditLines(readLines(path), options), path, []);
}

/** It begins to read when the first line is asked for: readline drops what nobody waits for. */
async function* readLines(path: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Infinity });
}

/** The key of the audits, as the person names it or where it is. */
export function findKeyFile({ cwd, env, options }: Invocation): string {
  const given = getText(options, "key");
  return given === undefined ? toKeyFile(resolveKitbagHome(env)) : resolve(cwd, given);
}

const meanings: Readonly<Record<AuditProblem, string>> = {
  changed: "something in it was changed",
  removed: "one or more entries before it were removed",
  inserted: "it was put in by somebody without the key",
  reordered: "it stands before one that it follows",
  "cut-off": "it and all behind it are missing: the end was cut off",
  rewritten: "it is not the entry that the head in KITBAG_HOME knows",
  "key-wrong": "nothing fits the key: it was made with another one",
  "anchor-missing": "nothing says whether it is the end: the head in KITBAG_HOME is missing",
};

function toAnswer(verdict: AuditVerdict, name: string, lost: readonly string[]): Answer {
  const document = { store: name, ...verdict, ok: verdict.ok && lost.length === 0, ...(lost.length > 0 && { lost }) };
  const gone = lost.map((path) => `Records that were kept here before are gone with their store; its head is ${path}`);
  if (verdict.ok && lost.length === 0) {
    return { document, text: toPrintable(`ok: ${countEntries(verdict.count)}, none changed, removed or reordered`) };
  }
  const problems = verdict.ok
    ? [`${countEntries(verdict.count)} of now are good.`]
    : [
        `Entry ${verdict.position}: ${meanings[verdict.problem]}. ${countEntries(verdict.count)} before it ${verdict.count === 1 ? "is" : "are"} good.`,
      ];
  const cures = lost.length > 0 ? ["If you deleted it yourself: kitbag store accept"] : [];
  return { document, failure: toPrintable([...problems, ...gone, ...cures].join("\n")), exitCode: 1 };
}

function countEntries(count: number): string {
  return `${count} ${count === 1 ? "entry" : "entries"}`;
}
