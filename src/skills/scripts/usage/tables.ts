import type { JsonValue } from "../../../core/json.ts";
import { parseSynopsis } from "./parse-synopsis.ts";
import type { UsageValue } from "./synopsis.ts";
import { withoutUndefined } from "../without-undefined.ts";

/** A row of a table of options in a help text: `-o, --out FILE  Where to write (default: out.json)`. */
export interface OptionRow {
  readonly flags: readonly string[];
  /** None if the flag stands alone. */
  readonly value?: UsageValue;
  readonly description: string;
}

/** A row of a table of arguments or of commands. */
export interface NamedRow {
  /** All that stands before the description: `add <id> [--force]`. */
  readonly head: string;
  readonly description: string;
}

/** The tables of a help text. */
export interface HelpTables {
  readonly options: readonly OptionRow[];
  readonly arguments: readonly NamedRow[];
  readonly commands: readonly NamedRow[];
}

const mostLines = 5000;
const longestLine = 600;

/** What parts the two columns of a table. */
const columns = /\s{2,}|\t+|\s+[–—-]\s+|\s*[:：]\s+|\s+=>?\s+/u;

const sections: readonly { readonly kind: "arguments" | "commands"; readonly heading: RegExp }[] = [
  {
    kind: "commands",
    heading:
      /^[\s#*=]*(?:available )?(?:sub-?commands?|commands?|actions?|命令|子命令|コマンド|명령어?)[\s*=]*[:：]?[\s*=]*$/iu,
  },
  {
    kind: "arguments",
    heading:
      /^[\s#*=]*(?:positional )?(?:arguments?|args|parameters?|params|inputs?|参数|引数)(?: \([^)]*\))?[\s*=]*[:：][\s*=]*$/iu,
  },
];

/** Reads the tables of a help text. */
export function readTables(text: string): HelpTables {
  const tables = { options: [] as OptionRow[], arguments: [] as NamedRow[], commands: [] as NamedRow[] };
  const lines = text.split("\n", mostLines).map((line) => line.slice(0, longestLine));
  let section: "arguments" | "commands" | undefined;
  let indent: number | undefined;

  for (const [index, line] of lines.entries()) {
    const option = readOption(lines, index);
    if (option !== undefined) {
      tables.options.push(option);
      continue;
    }
    const opened = sections.find(({ heading }) => heading.test(line))?.kind;
    if (opened !== undefined) {
      section = opened;
      indent = undefined;
    } else if (line.trim() !== "" && section !== undefined) {
      const own = line.search(/\S/u);
      indent ??= own;
      // A line further in goes on with the row above; one further out ends the table.
      if (own < indent || (own === 0 && indent > 0)) section = undefined;
      else if (own === indent) pushRow(tables[section], line);
    }
  }
  return tables;
}

function readOption(lines: readonly string[], index: number): OptionRow | undefined {
  const [before = "", line = "", next = ""] = [lines[index - 1], lines[index], lines[index + 1]];
  // A line that goes on after a backslash belongs to a command, and its flags to that command's program.
  if (/\\\s*$/u.test(before)) return undefined;
  const row = line.replace(/^\s*(?:[*•]\s+)?/u, "").replaceAll("`", "");
  // `--radius: 0.5rem;` is a variable of CSS.
  if (!/^--?[A-Za-z?]/u.test(row) || /^--[\w-]+\s*:[^;]*;/u.test(row)) return undefined;
  const gap = columns.exec(row);
  const head = gap === null ? row : row.slice(0, gap.index);
  const items = parseSynopsis(head).items;
  const flags = items.flatMap((item) => (item.kind === "flag" ? item.flags : []));
  // Prose that starts with a flag has more words after it than a table has.
  if (items.some((item) => item.kind === "positional") || head.length > 100) return undefined;
  const value = items.find((item) => item.kind === "flag" && item.value !== undefined);
  const description = gap === null ? followingText(next) : row.slice(gap.index + gap[0].length);
  return {
    flags,
    description: description.trim(),
    ...(value?.kind === "flag" && value.value && { value: value.value }),
  };
}

/** The description may stand on the line below, further in. */
function followingText(line: string): string {
  return /^\s{4,}[^-\s]/u.test(line) ? line : "";
}

function pushRow(rows: NamedRow[], line: string): void {
  const row = line
    .replace(/^\s*(?:[*•-]\s+)?/u, "")
    .replaceAll("`", "")
    .trimEnd();
  const gap = columns.exec(row);
  const head = gap === null ? row : row.slice(0, gap.index);
  const text = gap === null ? "" : row.slice(gap.index + gap[0].length);
  rows.push({ head, description: text.replace(/^[-–—:：]\s+/u, "").trim() });
}

/** What the prose of a description says about a value. */
export interface DescribedValue {
  readonly default?: JsonValue;
  readonly required: boolean;
  readonly choices?: readonly string[];
}

/** What is quoted is a value. A bare word is one only if nothing goes on after it, or the unit of a number: "this year" is not a value. */
const defaultWords =
  /(?:\bdefaults?(?: value)?(?: to| is)?|默认(?:值)?(?:为)?)\s*[:=：]?\s*(?<value>"[^"\n]{1,80}"|'[^'\n]{1,80}'|`[^`\n]{1,80}`|[^\s,;()[\]（），。]{1,80}(?=\s*(?:$|[,;()[\]（），。|]|[–—-]\s)|(?<=[.])\s)|-?\d+(?:\.\d+)?(?=\s*(?:ms|s|secs?|seconds?|m|mins?|minutes?|hours?|days?|px|pixels?|%|bytes?|[km]b|items?|results?|rows?|lines?|pages?|times|retries|characters?|chars|tokens?|workers?)\s*(?:$|[.,;()[\]|])))/iu;
const choiceWords =
  /(?:\b(?:one of|choices?|options|values?|either)\b\s*[:=]?\s*|\(|^|:\s)(?<list>[\w.+-]+(?:\s?\|\s?[\w.+-]+)+|["'`][\w.+-]+["'`](?:(?:,|\s*\||,? or)\s*["'`][\w.+-]+["'`])+)/iu;

/** Words that say what the script does without a value. */
const noDefault =
  /^(?:none|null|nil|auto-?detect(?:ed)?|n\/a|current|the|to|from|all|any|if|when|values?|std(?:in|out|err)|today|tomorrow|yesterday|now|cwd|pwd|unlimited|infinite|infinity|empty|blank|unset|undefined|varies|enabled|disabled|optional|interactive|prompt|random|generated|computed|inferred|derived|everything|nothing|below|above|see|on|off|same)$/iu;
const requiredWord = /(?:^|[([*\s])(?:required|必填|必需|必须)(?=[)\].,:;\s]|$)/iu;
const conditionWord = /not required|if required|unless|when/iu;

/** Reads default, necessity and choices from a description. */
export function readDescription(text: string): DescribedValue {
  const word = defaultWords.exec(text)?.groups?.["value"]?.replaceAll(/^["'`]|["'`.]+$/gu, "") ?? "";
  const list = choiceWords.exec(text)?.groups?.["list"] ?? "";
  const choices = list.split(/\s*(?:\||,| or )\s*/u).map((choice) => choice.replaceAll(/["'`]/gu, ""));
  return withoutUndefined<DescribedValue>({
    required: requiredWord.test(text) && !conditionWord.test(text),
    default: word === "" || noDefault.test(word) ? undefined : toLiteral(word),
    choices: choices.length > 1 ? choices.filter((choice) => choice !== "") : undefined,
  });
}

/** Reads a word as the value that it looks like: a number, true or false, or text. */
export function toLiteral(text: string): JsonValue {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?$/u.test(text)) return Number(text);
  if (text === "true" || text === "True") return true;
  if (text === "false" || text === "False") return false;
  return text;
}
