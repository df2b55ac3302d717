import { quote } from "../../core/errors.ts";
import { findHiddenCharacters, showCodePoint } from "../../core/hidden-characters.ts";
import { isName } from "../../core/names.ts";
import { type DecodedText, decodeText } from "./decode-text.ts";
import { createFields, type Fields } from "./fields.ts";
import { readMarkdownLines } from "./markdown-lines.ts";
import { type ParsedText, parseFrontMatter } from "./parse-front-matter.ts";
import { createPositions, type Position } from "./positions.ts";
import {
  readAllowedTools,
  readArguments,
  readCompatibility,
  readDescription,
  readFlag,
  readText,
} from "./read-fields.ts";
import { readMetadata, readTools } from "./read-metadata.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import type { SkillDocument, SkillReading } from "./skill-document.ts";

/** How a SKILL.md is read. */
export interface ParseOptions {
  /** What diagnostics call the file. @default "SKILL.md" */
  readonly file?: string;
  /** The name of the folder it is in; without one the name is not compared. */
  readonly directoryName?: string;
  /** Applies the specification, as its reference validator does: every deviation is an `error`. @default false */
  readonly spec?: boolean;
}

/**
 * Reads a SKILL.md leniently, and reports every deviation that it tolerated.
 *
 * Contract: never throws, whatever the bytes; takes time in proportion to them; runs nothing. A result without a document has one
 * `error` that says why; a result with a document has no `error`, except with `spec`, where each deviation is an `error`.
 *
 * @example
 * ```ts
 * import { parseSkillDocument } from "kitbag/skills";
 *
 * const { document, diagnostics } = parseSkillDocument("---\nname: pdf\ndescription: Use when: PDF\n---\nRead the file.\n");
 * console.assert(document?.description === "Use when: PDF");
 * console.assert(diagnostics[0]?.code === "yaml-unquoted" && diagnostics[0].line === 3);
 * ```
 */
export function parseSkillDocument(source: string | Uint8Array, options: ParseOptions = {}): SkillReading {
  const reporter = createReporter(options.file ?? "SKILL.md", options.spec);
  const document = readDocument(source, options, reporter);
  return { ...(document !== undefined && { document }), diagnostics: reporter.list() };
}

function readDocument(
  source: string | Uint8Array,
  options: ParseOptions,
  reporter: Reporter,
): SkillDocument | undefined {
  const decoded = decodeText(source, reporter);
  if (decoded === undefined) return undefined;
  const parsed = parseFrontMatter(decoded.text, reporter);
  if (parsed === undefined) return undefined;
  const fields = createFields(parsed.frontMatter, reporter);
  const description = readDescription(fields, parsed.body, reporter);
  if (description === undefined) {
    const message = "There is no description, and no text to take one from";
    reporter.report(
      "skill-empty",
      message,
      { line: 1, column: 1 },
      "Write: description: what it does, and when to use it",
    );
    return undefined;
  }
  checkBody(parsed.body, parsed.bodyLine, reporter);
  checkCharacters(decoded, reporter);
  return { ...toDocument(fields, parsed, options, reporter), ...description };
}

type Undescribed = Omit<SkillDocument, "description" | "descriptionFrom">;

function toDocument(
  fields: Fields,
  { body, bodyLine }: ParsedText,
  options: ParseOptions,
  reporter: Reporter,
): Undescribed {
  const declaredName = readText("name", fields, reporter);
  const nameValue = fields.get("name")?.value;
  const where = nameValue === undefined ? { line: 1, column: 1 } : fields.at(nameValue);
  const { metadata, kitbag } = readMetadata(fields, reporter);
  const version = readText("version", fields, reporter) ?? metadata["version"];
  return {
    file: options.file ?? "SKILL.md",
    name: readName({ declared: declaredName, where, directoryName: options.directoryName }, reporter),
    ...optional("declaredName", declaredName),
    ...optional("whenToUse", readText("when_to_use", fields, reporter)),
    ...optional("license", readText("license", fields, reporter)),
    ...optional("compatibility", readCompatibility(fields, reporter)),
    allowedTools: readAllowedTools(fields, reporter),
    metadata,
    kitbag,
    tools: readTools(fields, reporter),
    arguments: readArguments(fields, reporter),
    ...optional("argumentHint", readHint(fields)),
    ...optional("version", version),
    modelInvocable: !readFlag("disable-model-invocation", false, fields, reporter),
    userInvocable: readFlag("user-invocable", true, fields, reporter),
    extra: fields.extra,
    body,
    bodyLine,
  };
}

function optional<Key extends string>(key: Key, value: string | undefined): { readonly [name in Key]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [name in Key]: string });
}

/** `[file] [mode]` is meant as it is written, although YAML sees a list. */
function readHint(fields: Fields): string | undefined {
  const value = fields.get("argument-hint")?.value;
  if (value === undefined) return undefined;
  return value.kind === "scalar" ? value.text.trim() || undefined : fields.source(value);
}

function checkCharacters({ text, ascii }: DecodedText, reporter: Reporter): void {
  const positions = createPositions(text);
  for (const { offset, codePoint, count, kind, spells } of findHiddenCharacters(text, { ascii })) {
    const what = `${showCodePoint(codePoint)}${count > 1 ? ` and ${count - 1} more in a row` : ""}`;
    const where = positions.at(offset);
    if (kind === "control") {
      reporter.report("character-control", `Found the control character ${what}`, where, "Remove it");
      continue;
    }
    const message = spells === undefined ? "" : `; they spell ${quote(spells)}`;
    const cure = "Remove it, or write it as an escape if it is meant to be seen";
    reporter.report("character-hidden", `Found an invisible ${kind} character: ${what}${message}`, where, cure);
  }
}

const recommendedLines = 500;
const recommendedTokens = 5000;
/** English text and Markdown have about four characters a token. */
const charactersPerToken = 4;

/** Reports instructions that are empty, too long, or contain an unresolved merge. */
function checkBody(body: string, bodyLine: number, reporter: Reporter): void {
  if (body.trim() === "") {
    const where = { line: bodyLine, column: 1 };
    reporter.report("body-empty", "There are no instructions", where, "Write below the front matter what to do");
    return;
  }
  checkLength(body, bodyLine, reporter);
  if (body.includes("<<<<<<< ")) checkConflicts(body, bodyLine, reporter);
}

function checkLength(body: string, bodyLine: number, reporter: Reporter): void {
  const tokens = Math.ceil(body.length / charactersPerToken);
  const lines = body.length > recommendedLines ? countLines(body) : 0;
  if (lines <= recommendedLines && tokens <= recommendedTokens) return;
  const message = `The instructions have ${lines} lines and about ${tokens} tokens; ${recommendedLines} and ${recommendedTokens} are recommended`;
  reporter.report("body-long", message, { line: bodyLine, column: 1 }, "Move details to files under references/");
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** An unfinished merge: all three marks, in order, and not as an example in a code block. */
function checkConflicts(body: string, bodyLine: number, reporter: Reporter): void {
  let start: number | undefined;
  let halfway = false;
  for (const { text, index, fence } of readMarkdownLines(body)) {
    if (fence !== undefined) continue;
    if (text.startsWith("<<<<<<< ")) {
      start = index;
      halfway = false;
    } else if (text === "=======") halfway = true;
    else if (start !== undefined && halfway && text.startsWith(">>>>>>> ")) {
      const where = { line: bodyLine + start, column: 1 };
      reporter.report("conflict-marker", "The instructions contain an unresolved merge", where, "Keep one side of it");
      start = undefined;
    }
  }
}

const maxNameLength = 64;

/** What the name of a skill is chosen from. */
interface NameSource {
  readonly declared: string | undefined;
  /** Where the declared name stands, or where it should. */
  readonly where: Position;
  readonly directoryName: string | undefined;
}

/** Chooses the name of a skill, and reports how the declared name breaks the rules of the specification. */
function readName({ declared, where, directoryName }: NameSource, reporter: Reporter): string {
  if (declared === undefined) {
    const name = toUsableName([directoryName]);
    const message = `There is no name; the skill is called ${quote(name)} after its directory`;
    reporter.report("name-missing", message, where, `Write: name: ${toPlainName(directoryName ?? "") || "my-skill"}`);
    return name;
  }
  const used = toUsableName([declared, directoryName]);
  checkForm(declared, used, where, reporter);
  if (directoryName !== undefined && !isNameOf(directoryName.normalize("NFKC"), declared.normalize("NFKC"))) {
    const message = `The name ${quote(declared)} is not that of the directory, ${quote(directoryName)}; some clients then ignore the skill`;
    reporter.report("name-mismatch", message, where, "Rename the directory, or change the name");
  }
  return used;
}

/** A prefix, as in "figma.review", tells two skills "review" apart. */
function isNameOf(directory: string, name: string): boolean {
  return directory === name || directory.endsWith(`.${name}`);
}

function checkForm(declared: string, used: string, where: Position, reporter: Reporter): void {
  const name = declared.normalize("NFKC");
  const length = name.length > maxNameLength ? Array.from(name).length : name.length;
  const called = used === declared ? "" : `; the skill is called ${quote(used)}`;
  if (length > maxNameLength) {
    const message = `The name has ${length} characters; at most ${maxNameLength} are allowed${called}`;
    reporter.report("name-too-long", message, where, "Shorten it");
  }
  const problem = findProblem(name);
  if (problem === undefined) return;
  const message = `The name ${quote(declared)} ${problem}${called}`;
  reporter.report("name-invalid", message, where, `Write: name: ${toPlainName(declared) || "my-skill"}`);
}

function findProblem(name: string): string | undefined {
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) return "has characters other than letters, digits and hyphens";
  if (name !== name.toLowerCase()) return "has upper-case letters";
  if (name.startsWith("-") || name.endsWith("-")) return "starts or ends with a hyphen";
  return name.includes("--") ? "has two hyphens in a row" : undefined;
}

/** The first candidate that can be a name, as it is or after its odd characters are replaced. */
function toUsableName(candidates: readonly (string | undefined)[]): string {
  for (const candidate of candidates) {
    if (isName(candidate)) return candidate;
    const plain = toPlainName(candidate ?? "");
    if (plain !== "") return plain;
  }
  return "skill";
}

/** The nearest name that the specification allows; empty if nothing is left. */
function toPlainName(text: string): string {
  const plain = text
    .slice(0, 256)
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-|-$/gu, "");
  return plain.slice(0, maxNameLength).replace(/-$/u, "");
}
