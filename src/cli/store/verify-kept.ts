import { createReadStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

import { auditStream, type AuditProblem } from "../../records/audit/audit-entry.ts";
import type { AuditVerdict } from "../../records/audit/check-chain.ts";
import { verifyAudit, verifyAuditLines } from "../../records/audit/verify-audit.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { getText, showCommand } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { toKeyFile } from "./audit-files.ts";
import { withKept, type Kept } from "./open-kept.ts";
import { showTime, plural } from "../render.ts";

const emptyVerdict: AuditVerdict = { ok: true, count: 0, hash: "0".repeat(64) };

/** Verifies the audit of a store, or of a file that was exported; exit code 1 if something is wrong with it. */
export async function verifyKept(invocation: Invocation): Promise<Answer> {
  const [file] = invocation.args;
  if (file !== undefined) return verifyFile(resolve(invocation.cwd, file), invocation);
  return withKept(invocation, async (kept) => {
    const { name, lost } = kept;
    const verdict = await verify(kept, invocation);
    const answer = toAnswer({ verdict, name, lost }, invocation);
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
  const verdict = await verifyAuditLines(readLines(path), options);
  return toAnswer({ verdict, name: path, lost: [] }, invocation);
}

/** It begins to read when the first line is asked for: readline drops lines that are not waited for. */
async function* readLines(path: string): AsyncGenerator<string> {
  yield* createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Infinity });
}

/** The key of the audits, as the person names it or where it is. */
export function findKeyFile({ cwd, env, options }: Invocation): string {
  const given = getText(options, "key");
  return given === undefined ? toKeyFile(resolveKitbagHome(env)) : resolve(cwd, given);
}

/** What was verified. */
interface Verified {
  readonly verdict: AuditVerdict;
  readonly name: string;
  /** The heads of audits that are gone. */
  readonly lost: readonly string[];
}

function toAnswer({ verdict, name, lost }: Verified, invocation: Invocation): Answer {
  const document = { store: name, ...verdict, ok: verdict.ok && lost.length === 0, ...(lost.length > 0 && { lost }) };
  if (verdict.ok && lost.length === 0) {
    return { document, text: toPrintable([showGood(verdict), ...tellSetAside(verdict)].join("\n")) };
  }
  const problems = verdict.ok
    ? [`${plural(verdict.count, "entry", "entries")} of now are good.`, ...tellSetAside(verdict)]
    : [
        `Entry ${verdict.position}: ${meanings[verdict.problem]}. ${plural(verdict.count, "entry", "entries")} before it ${verdict.count === 1 ? "is" : "are"} good.`,
      ];
  const gone = lost.map((path) => `Records that were kept here before are gone with their store; its head is ${path}`);
  const accept = showCommand("store accept", invocation);
  const cures = [
    ...(lost.length > 0 ? [`If you deleted it yourself: ${accept}`] : []),
    ...(isRenewable(verdict, invocation) ? [`If you know why, go on behind it: ${accept} --new-audit`] : []),
  ];
  return { document, failure: toPrintable([...problems, ...gone, ...cures].join("\n")), exitCode: 1 };
}

function showGood({ count, setAside = [] }: Extract<AuditVerdict, { readonly ok: true }>): string {
  const last = setAside.at(-1);
  const good =
    last === undefined
      ? plural(count, "entry", "entries")
      : `${plural(count - last.position + 1, "entry", "entries")} from ${last.position} on`;
  return `ok: ${good}, none changed, removed or reordered`;
}

/** For an audit that is all of another key there is another cure, and an export is what it is. */
function isRenewable(verdict: AuditVerdict, { args: [file] }: Invocation): boolean {
  return !verdict.ok && (verdict.problem !== "key-wrong" || verdict.count > 0) && file === undefined;
}

/** What a problem with an entry of the audit means. */
const meanings: Readonly<Record<AuditProblem, string>> = {
  changed: "something in it was changed",
  removed: "one or more entries before it were removed",
  inserted: "it was put in without the key",
  reordered: "it stands before one that it follows",
  "cut-off": "it and all behind it are missing: the end was cut off",
  rewritten: "it is not the entry that the head in KITBAG_HOME knows",
  "key-wrong": "it was made with another key",
  "anchor-missing": "nothing says whether it is the end: the head in KITBAG_HOME is missing",
};

/** A line for each place at which the audit was broken and was continued behind it. */
export function tellSetAside(verdict: AuditVerdict | undefined): readonly string[] {
  const setAside = verdict?.ok === true ? (verdict.setAside ?? []) : [];
  return setAside.map(({ broken, problem, position, time }) => {
    const part = broken < position ? `Entries ${broken} to ${position - 1} prove nothing` : `The audit ended too early`;
    return `${part}. Entry ${broken}: ${meanings[problem]}. The audit was continued behind it with entry ${position}, on ${showTime(time)}`;
  });
}
