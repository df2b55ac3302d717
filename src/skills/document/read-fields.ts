import { quote } from "../../core/errors.ts";
import type { Fields, KnownKey } from "./fields.ts";
import { type FieldValue, toJson, toText } from "./front-matter.ts";
import { readMarkdownLines } from "./markdown-lines.ts";
import type { Reporter } from "./reporter.ts";
import type { AllowedTool, SkillDocument } from "./skill-document.ts";

/** Reads a field that is one text. Lists and maps become text too, and are reported. */
export function readText(key: KnownKey, fields: Fields, reporter: Reporter): string | undefined {
  const field = fields.get(key);
  if (field === undefined || field.value.kind === "scalar") return toText(field?.value);
  const { value } = field;
  const found = value.kind === "list" ? "a list" : "a map";
  reporter.report("field-not-text", `${quote(key)} is ${found}, not text`, fields.at(value), `Write: ${key}: one text`);
  return value.kind === "list" && value.items.every((item) => item.kind === "scalar")
    ? value.items.map((item) => toText(item) ?? "").join(", ")
    : JSON.stringify(toJson(value));
}

const maxDescriptionLength = 1024;
const maxCompatibilityLength = 500;

type Description = Pick<SkillDocument, "description" | "descriptionFrom">;

/** Reads the description, or takes one from the body; answers nothing when neither is there. */
export function readDescription(fields: Fields, body: string, reporter: Reporter): Description | undefined {
  const value = fields.get("description")?.value;
  const written = value === undefined ? undefined : readDescriptionText(value, fields, reporter);
  const where = value === undefined ? { line: 1, column: 1 } : fields.at(value);
  if (written === undefined) {
    const description = findSummary(body);
    if (description === undefined) return undefined;
    const message = `There is no description; the beginning of the instructions is used: ${quote(description)}`;
    reporter.report("description-missing", message, where, "Write: description: what it does, and when to use it");
    return { description, descriptionFrom: "body" };
  }
  const length = countCharacters(written, maxDescriptionLength);
  if (length > maxDescriptionLength) {
    const message = `The description has ${length} characters; at most ${maxDescriptionLength} are allowed`;
    reporter.report("description-too-long", message, where, "Move details to the instructions");
  }
  if (/<\/?[A-Za-z][\w-]*\s*\/?>/u.test(written)) {
    const message = "The description contains something like an XML tag; some clients refuse that";
    reporter.report("description-markup", message, where, "Write it without < and >");
  }
  return { description: written, descriptionFrom: "front-matter" };
}

function readDescriptionText(value: FieldValue, fields: Fields, reporter: Reporter): string | undefined {
  if (value.kind === "scalar") return toText(value);
  // A text with a colon on a line of its own is a map to YAML, but not to its author.
  const message = `The description is a ${value.kind}, not text; it is read as it is written`;
  reporter.report("field-not-text", message, fields.at(value), "Put it in double quotes");
  return fields.source(value) || undefined;
}

/** Reads `compatibility` and checks its length. */
export function readCompatibility(fields: Fields, reporter: Reporter): string | undefined {
  const text = readText("compatibility", fields, reporter);
  const value = fields.get("compatibility")?.value;
  if (value === undefined) return undefined;
  const length = countCharacters(text ?? "", maxCompatibilityLength);
  if (length === 0 || length > maxCompatibilityLength) {
    const message = `compatibility has ${length} characters; 1 to ${maxCompatibilityLength} are allowed`;
    reporter.report("compatibility-length", message, fields.at(value), length === 0 ? "Remove it" : "Shorten it");
  }
  return text;
}

/** Counts characters as people do; exactly only above `limit`, because that is where it matters. */
function countCharacters(text: string, limit: number): number {
  return text.length > limit ? Array.from(text).length : text.length;
}

/** Reads `allowed-tools` in any of its spellings. */
export function readAllowedTools(fields: Fields, reporter: Reporter): readonly AllowedTool[] {
  const value = fields.get("allowed-tools")?.value;
  if (value === undefined) return [];
  const where = fields.at(value);
  const isList = value.kind === "list";
  if (isList)
    reporter.report("allowed-tools-list", "allowed-tools is a list", where, "Write one line, with spaces between");
  const texts = isList ? value.items.map((item) => toText(item)) : [toText(value)];
  if (value.kind === "map" || (isList && texts.includes(undefined))) {
    reporter.report(
      "allowed-tools-invalid",
      "allowed-tools has entries that are not text; they are left out",
      where,
      cureTools,
    );
  }
  const parsed = texts.map((text) => parseAllowedTools(text ?? ""));
  if (!isList && parsed.some(({ commas }) => commas)) {
    const message = "allowed-tools is separated by commas; the specification separates by spaces";
    reporter.report("allowed-tools-commas", message, where, "Remove the commas");
  }
  for (const raw of parsed.flatMap(({ unclosed }) => unclosed)) {
    reporter.report(
      "allowed-tools-invalid",
      `Cannot read ${quote(raw)} in allowed-tools; it is left out`,
      where,
      cureTools,
    );
  }
  return parsed.flatMap(({ tools }) => tools);
}

const cureTools = "Write: allowed-tools: Read Bash(git:*)";

const flags: Readonly<Record<string, boolean>> = {
  ...{ true: true, yes: true, on: true, "1": true },
  ...{ false: false, no: false, off: false, "0": false },
};

/** Reads a field that is yes or no; `otherwise` is for a field that is not there, and `true` for one that cannot be read. */
export function readFlag(
  key: "disable-model-invocation" | "user-invocable",
  otherwise: boolean,
  fields: Fields,
  reporter: Reporter,
): boolean {
  const value = fields.get(key)?.value;
  if (value === undefined) return otherwise;
  const flag = Object.entries(flags).find(([word]) => word === toText(value)?.toLowerCase());
  if (flag !== undefined) return flag[1];
  reporter.report(
    "flag-invalid",
    `${quote(key)} is neither true nor false; it is read as true`,
    fields.at(value),
    `Write: ${key}: true`,
  );
  return true;
}

const mostArguments = 50;

/** Reads the names of `arguments`: a list, or one text with spaces between. */
export function readArguments(fields: Fields, reporter: Reporter): readonly string[] {
  const value = fields.get("arguments")?.value;
  if (value === undefined) return [];
  const names = toNames(value).slice(0, mostArguments);
  const wrong = names.filter((name) => !isArgumentName(name));
  if (wrong.length > 0) {
    const message = `These arguments cannot be placeholders: ${wrong.map(quote).join(", ")}`;
    reporter.report(
      "arguments-invalid",
      message,
      fields.at(value),
      "Use letters, digits, _ and -, starting with a letter",
    );
  }
  return names;
}

/** Tells whether `name` can be a placeholder `$name`. */
export function isArgumentName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/u.test(name) && name !== "ARGUMENTS";
}

function toNames(value: FieldValue): string[] {
  switch (value.kind) {
    case "scalar":
      return value.text.split(/[\s,]+/u).filter((name) => name !== "");
    case "list":
      return value.items.map((item) => {
        const named = item.kind === "map" ? item.fields.find(({ key }) => key === "name")?.value : item;
        return toText(named) ?? "";
      });
    case "map":
      return value.fields.map(({ key }) => key);
  }
}

/** How much of a text is read, and how long a summary may be. */
const longestSearch = 16_384;
const longestSummary = 1024;

/**
 * Finds the sentence that says what a skill does, where its author wrote no description: the first paragraph, or else the first
 * heading. Code, tables, images, comments and rules are passed over.
 */
function findSummary(body: string): string | undefined {
  const prose = withoutComments(body.slice(0, longestSearch));
  const summary = findParagraph(prose) || findHeading(prose);
  if (summary === "") return undefined;
  return summary.length > longestSummary ? `${summary.slice(0, longestSummary - 1).toWellFormed()}…` : summary;
}

const notProse = /^(?:#|\||!\[|\[!|<|[-*_]{3,}$)/u;
const label = /^[*_]{0,2}description[*_]{0,2}\s*:[*_]{0,2}\s*/iu;

function findParagraph(prose: string): string {
  const lines: string[] = [];
  for (const { text, fence } of readMarkdownLines(prose)) {
    const trimmed = text.trim();
    if (fence === undefined && trimmed !== "" && !notProse.test(trimmed)) lines.push(trimmed);
    else if (lines.length > 0) break;
  }
  return lines.join(" ").replace(label, "").trim();
}

function findHeading(prose: string): string {
  for (const { text, fence } of readMarkdownLines(prose)) {
    const [, heading] = /^#{1,6}\s+(\S.*)/u.exec(text) ?? [];
    if (fence === undefined && heading !== undefined) return heading.trim();
  }
  return "";
}

function withoutComments(text: string): string {
  let kept = "";
  for (let from = 0; ;) {
    const start = text.indexOf("<!--", from);
    const end = start === -1 ? -1 : text.indexOf("-->", start);
    if (end === -1) return kept + text.slice(from);
    kept += text.slice(from, start);
    from = end + 3;
  }
}

/** What {@link parseAllowedTools} answers. */
export interface AllowedTools {
  readonly tools: readonly AllowedTool[];
  /** Commas separate some of them. */
  readonly commas: boolean;
  /** Entries with parentheses that do not close. */
  readonly unclosed: readonly string[];
}

/**
 * Reads the text of `allowed-tools`: tools separated by spaces, by commas or by both, each with or without a rule in
 * parentheses, in which spaces and commas do not separate. Brackets, quotes and dashes of a list that was written as text are
 * ignored.
 */
export function parseAllowedTools(text: string): AllowedTools {
  const tools: AllowedTool[] = [];
  const unclosed: string[] = [];
  let commas = false;
  for (let offset = 0; offset < text.length && tools.length + unclosed.length < mostEntries;) {
    const separator = text[offset] ?? "";
    if (/[\s,]/u.test(separator)) {
      commas ||= separator === ",";
      offset++;
      continue;
    }
    const entry = readEntry(text, offset);
    offset += entry.length;
    const raw = trimList(entry);
    if (raw === "" || raw === "-") continue;
    const tool = toTool(raw);
    if (tool === undefined) unclosed.push(raw);
    else tools.push(tool);
  }
  return { tools, commas, unclosed };
}

/** Bounds for texts that were not written by hand. */
const mostEntries = 500;
const longestEntry = 2000;

/** One entry: up to the next separator that is not in parentheses. What never closes ends at its first separator. */
function readEntry(text: string, start: number): string {
  let depth = 0;
  let firstSeparator = -1;
  for (let offset = start; offset < text.length; offset++) {
    const character = text[offset] ?? "";
    if (character === "(") depth++;
    else if (character === ")") depth = Math.max(0, depth - 1);
    else if (/[\s,]/u.test(character)) {
      if (depth === 0) return text.slice(start, offset);
      if (firstSeparator === -1) firstSeparator = offset;
      if (offset - start > longestEntry) break;
    }
  }
  return depth === 0 || firstSeparator === -1 ? text.slice(start) : text.slice(start, firstSeparator);
}

function trimList(entry: string): string {
  const text = entry.replace(/^[["'`]+/u, "");
  return text.includes("(") ? text.replace(/\)["'`\]]+$/u, ")") : text.replace(/["'`\]]+$/u, "");
}

function toTool(raw: string): AllowedTool | undefined {
  const open = raw.indexOf("(");
  if (open === -1) return raw.includes(")") ? undefined : { raw, name: raw };
  if (open === 0 || !raw.endsWith(")")) return undefined;
  return { raw, name: raw.slice(0, open), rule: raw.slice(open + 1, -1) };
}
