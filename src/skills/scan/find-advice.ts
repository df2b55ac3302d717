import { pasteSite } from "./find-downloads.ts";
import type { Match } from "./finding.ts";

/** How many lines before and after a line belong to the same advice. */
const linesAround = 2;

/**
 * Finds advice to a reader, in `line` number `index` of `lines`, that gets a program past scanners: an archive with a password, and a
 * command on a page where anyone can write. It is how most malicious skills bring their program along.
 */
export function findAdvice(lines: readonly string[], index: number): Match | undefined {
  const line = lines[index] ?? "";
  const near = (): string =>
    lines
      .slice(Math.max(0, index - linesAround), index + linesAround + 1)
      .join("\n")
      .slice(0, 2000);
  const match = findArchiveWithPassword(line, near) ?? findPastedCommand(line, near);
  return match && { ...match, start: 0, end: line.length };
}

/** Tells at once of most texts that they hold no such advice. */
export function mayAdvise(text: string): boolean {
  return passwordForm.test(text) || keyForm.test(text) || pasteSite.test(text);
}

type Advice = Omit<Match, "start" | "end">;

const archive = /\.(?:zip|7z|rar)\b|\b(?:extract|unzip|archive)\b/iu;
const archiveFile = /\.(?:zip|7z|rar)\b|\barchive\b/iu;
const address = /https?:\/\//iu;
const fetched = /https?:\/\/|\bdownload/iu;

/** How a password is told. "PASS" in capitals is what tests print. */
const passwordForm =
  /\bpass(?:word|code|phrase)\b(?:\s(?:for|of|to)\s[\w\s.'-]{1,40}?)?\s{0,3}(?:is\b|[:=`"'*])|\b[Pp]ass\b\s{0,3}[:=]/iu;
const capitals = /\bPASS(?:ED)?\b/gu;
/** How a password is told without the word: "extract using: x", "(unzip it with `x`)". */
const keyForm =
  /\b(?:extract|unzip|unpack|unrar|decompress|open)\s(?:(?:it|them|the\s{0,2})?\s{0,2}(?:archive|zip|rar|files?|contents?|package|folder)?\s)?\s{0,2}(?:using|with|by)\b(?:\sthe)?(?:\s(?:pass|key|code|pin))?\s{0,3}[:=]?\s{0,3}[`"'*]{0,3}(?<key>[\w!@#$%-]{3,40})[`"'*]{0,3}\s{0,2}(?:[).,;]|$)/imu;
const unpackers =
  /^(?:tar|unzip|zip|7z|7za|7zip|7-zip|winrar|winzip|unrar|rar|gunzip|bsdtar|python[\d.]*|node|powershell|finder|explorer|ditto|jar|any|your|them|this|that|care|admin|sudo)$/iu;

function findArchiveWithPassword(line: string, near: () => string): Advice | undefined {
  const isPassword = passwordForm.test(line.replaceAll(capitals, ""));
  const key = isPassword ? undefined : keyForm.exec(line)?.groups?.["key"];
  if (!isPassword && (key === undefined || unpackers.test(key))) return undefined;
  const text = near();
  const isAdvice = isPassword ? archive.test(text) && address.test(text) : archiveFile.test(text) && fetched.test(text);
  if (!isAdvice) return undefined;
  return {
    code: "archive-with-password",
    risk: "high",
    message: "Tells to fetch an archive that a password protects",
    cure: "Ship the files in the skill",
  };
}

const runVerb = /\b(?:execute|run|paste|enter|copy)\b/iu;
const command = /\b(?:commands?|script|code|snippet|installer)\b/iu;
const terminal = /\b(?:terminal|shell|console|command\s(?:prompt|line)|powershell|cmd)\b/iu;

function findPastedCommand(line: string, near: () => string): Advice | undefined {
  if (!pasteSite.test(line)) return undefined;
  const text = near();
  if (!runVerb.test(text) || !command.test(text) || !terminal.test(text)) return undefined;
  return {
    code: "download-and-run",
    risk: "high",
    message: "Tells to run a command from a page that anyone can write",
    cure: "Write the command out, so that it can be read",
  };
}
