import { findHiddenCharacters, type HiddenCharacters, showCodePoint } from "../../core/hidden-characters.ts";
import { createPositions } from "../document/positions.ts";
import { downloadRule } from "./find-downloads.ts";
import { findAdvice, mayAdvise } from "./find-advice.ts";
import {
  createSocketRule,
  encodedCommandRule,
  findLongTexts,
  isSignature,
  longEncodedText,
  obfuscationRule,
} from "./find-obfuscation.ts";
import { findPrivateKey, maskSecrets, secretRule } from "./find-secrets.ts";
import type { Finding, Match } from "./finding.ts";

/**
 * Looks in a text, of whatever language, for what a careful reader would stop at: code that is downloaded and run, code that is
 * encoded and run, invisible characters, keys of known providers, archives with passwords.
 *
 * Contract: never throws, runs nothing, takes time in proportion to the text. Patterns, not understanding: it finds what is
 * written plainly, and a determined author can avoid it.
 */
export function scanText(text: string, file: string): Finding[] {
  const findings = createFindings(file);
  scanLines(text, file, findings);
  scanNeighbours(text, findings);
  scanHidden(text, findings);
  return findings.list();
}

const rules = [secretRule, downloadRule, obfuscationRule, encodedCommandRule];

/** Rules whose triggers can be tried at once: most texts have nothing for any of them. */
const groups = Array.from(
  Map.groupBy(rules, ({ trigger }) => trigger.flags),
  ([flags, members]) => {
    return { members, trigger: new RegExp(members.map(({ trigger }) => trigger.source).join("|"), flags) };
  },
);

function scanLines(text: string, file: string, findings: Findings): void {
  const near = groups.filter(({ trigger }) => trigger.test(text)).flatMap(({ members }) => members);
  const possible = near.filter(({ trigger }) => trigger.test(text));
  const hasLongLine = findLongLine(text) && !isSignature(file, text);
  if (possible.length === 0 && !hasLongLine) return;
  for (const { text: line, line: number } of readLogicalLines(text)) {
    for (const { trigger, find } of possible) {
      if (trigger.test(line)) for (const match of find(line)) findings.add(line, number, match);
    }
    if (!hasLongLine || line.length < longEncodedText) continue;
    for (const match of findLongTexts(line)) findings.add(line, number, match);
  }
}

function findLongLine(text: string): boolean {
  for (let start = 0; start + longEncodedText <= text.length;) {
    const end = text.indexOf("\n", start);
    if ((end === -1 ? text.length : end) - start >= longEncodedText) return true;
    if (end === -1) return false;
    start = end + 1;
  }
  return false;
}

function scanNeighbours(text: string, findings: Findings): void {
  const hasKey = text.includes("PRIVATE KEY");
  const hasAdvice = mayAdvise(text);
  const hasSocket = text.includes("/dev/tcp/");
  if (!hasKey && !hasAdvice && !hasSocket) return;
  const findSocketShell = createSocketRule(text);
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const key = hasKey ? findPrivateKey(line, lines[index + 1] ?? "") : undefined;
    if (key !== undefined) findings.add(line, index + 1, key);
    const advice = hasAdvice ? findAdvice(lines, index) : undefined;
    if (advice !== undefined) findings.add(line, index + 1, advice);
    const shell = findSocketShell(line);
    if (shell !== undefined) findings.add(line, index + 1, shell);
  }
}

function scanHidden(text: string, findings: Findings): void {
  // What has NUL bytes is not text, and full of control characters.
  if (text.includes("\0")) return;
  const positions = createPositions(text);
  for (const run of findHiddenCharacters(text)) {
    const { line, column } = positions.at(run.offset);
    findings.add("", line, describeHidden(run, column));
  }
}

function describeHidden(
  { kind, codePoint, count, spells }: HiddenCharacters,
  column: number,
): Match & { evidence: string } {
  const isMessage = kind === "tag" || kind === "variation";
  const evidence = `${showCodePoint(codePoint)} × ${count}${spells === undefined ? "" : `, spelling "${spells}"`}`;
  return {
    code: "text-hidden",
    risk: isMessage || kind === "bidirectional" ? "high" : "low",
    message: isMessage ? "Contains a text that only a machine reads" : `Contains invisible ${kind} characters`,
    cure: "Remove the characters",
    start: column - 1,
    end: column - 1 + count,
    evidence,
  };
}

interface Findings {
  /** `text` is the line, from which the evidence is taken unless the match brings its own. */
  add(text: string, line: number, match: Match & { readonly evidence?: string }): void;
  list(): Finding[];
}

/** More findings of one code in one file say nothing new. */
const mostOfOneCode = 50;

function createFindings(file: string): Findings {
  const findings: Finding[] = [];
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  return {
    add(text, line, match) {
      const { code, risk, message, cure, start, end } = match;
      const key = `${code} ${line} ${message}`;
      const count = (counts.get(code) ?? 0) + 1;
      if (seen.has(key) || count > mostOfOneCode) return;
      seen.add(key);
      counts.set(code, count);
      const evidence = match.evidence ?? toEvidence(text, start, end);
      const severity = risk === "low" ? "info" : "warning";
      findings.push({ severity, code, risk, message, file, line, column: start + 1, cure, evidence });
    },
    list: () => findings.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0)),
  };
}

const longestEvidence = 160;

/** The place in question with a little before it, keys masked, everything invisible shown. */
function toEvidence(line: string, start: number, end: number): string {
  const from = Math.max(0, start - 20);
  // Masked as a whole: a key that is cut in two is no longer recognised.
  const masked = maskSecrets(line.slice(from, Math.max(end, start) + 400));
  const visible = masked.replaceAll(
    /[^\P{C}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return visible.trim().length > longestEvidence ? `${visible.trim().slice(0, longestEvidence)}…` : visible.trim();
}

/** A line of a script as an interpreter sees it. */
interface LogicalLine {
  readonly text: string;
  /** The line of the file on which it begins; counts from 1. */
  readonly line: number;
}

/** No rule looks further than this; longer lines are cut into pieces that overlap. */
const longestPiece = 4000;
const overlap = 400;
const mostJoined = 10;

/**
 * Reads a text in lines, and joins those that a script continues: with a backslash or a backtick at the end, or with a pipe at
 * the beginning of the next. Contract: takes time in proportion to the text.
 */
function* readLogicalLines(text: string): Generator<LogicalLine> {
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const start = index;
    let joined = lines[index] ?? "";
    while (index + 1 < lines.length && index - start < mostJoined && joined.length < longestPiece) {
      const next = lines[index + 1] ?? "";
      const goesOn = endsOpen(joined);
      if (!goesOn && !startsAsPart(next)) break;
      joined = `${goesOn ? joined.trimEnd().slice(0, -1) : joined} ${next.trim()}`;
      index++;
    }
    yield* cut(joined, start + 1);
  }
}

function endsOpen(line: string): boolean {
  const text = line.trimEnd();
  return (text.endsWith("\\") || text.endsWith("`")) && /(?:^|\s)[\\`]$/u.test(text.slice(-2));
}

/** A pipe, unless it is the first of a table's row. */
function startsAsPart(line: string): boolean {
  const text = line.trim();
  return text.startsWith("&&") || (text.startsWith("|") && !text.endsWith("|"));
}

function* cut(text: string, line: number): Generator<LogicalLine> {
  if (text.length <= longestPiece) {
    if (text.trim() !== "") yield { text, line };
    return;
  }
  for (let offset = 0; offset < text.length; offset += longestPiece - overlap) {
    yield { text: text.slice(offset, offset + longestPiece), line };
  }
}
