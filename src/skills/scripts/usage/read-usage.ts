import { parseSynopsis, type TakesValue } from "./parse-synopsis.ts";
import type { Synopsis } from "./synopsis.ts";
import { createProgramFinder, type ProgramFinder } from "./program-name.ts";
import { type HelpTables, readTables } from "./tables.ts";

/** Everything that the texts of a script say about how it is called. */
export interface UsageFacts extends HelpTables {
  readonly synopses: readonly Synopsis[];
  /** Example calls that stand in its texts. */
  readonly calls: readonly Synopsis[];
}

/** That an example has a flag does not mean that every call needs it. */
function asExample(synopsis: Synopsis): Synopsis {
  return {
    ...synopsis,
    items: synopsis.items.map((item) => (item.kind === "flag" ? { ...item, required: false } : item)),
  };
}

/** `list | show NAME | move FROM TO` are three calls in one line, and so are `{list|show NAME}`. */
function splitCommands(line: string): readonly string[] {
  const [, inBraces] = /^\s*\{([^{}]{1,500})\}\s*$/u.exec(line) ?? [];
  const parts = inBraces === undefined ? line.split(/\s\|\s/u) : splitOutside(inBraces);
  const areCalls = parts.length > 1 && parts.every((part) => /^[a-z][\w-]*(?:\s+[<[A-Z-].*)?$/u.test(part.trim()));
  return areCalls && parts.some((part) => part.trim().includes(" ")) ? parts.map((part) => part.trim()) : [line];
}

/** Splits at `|`, but not between angle brackets: `move <from|to>`. */
function splitOutside(text: string): readonly string[] {
  return text.match(/(?:<[^<>]*>|\[[^[\]]*\]|[^|])+/gu) ?? [];
}

const aboutUsage =
  /usage|synopsis|用法|使用|使い方|사용|uso|utilisation|verwendung|aufruf|использование|gebruik|użycie|kullanım|\$0|\$\{0|argv|basename|%\(prog|PROGRAM_NAME|__FILE__/iu;
const aboutTables =
  /(?:^|\n)[ \t*•`]*--?[A-Za-z]|arguments?|args|param|inputs?|commands?|actions?|参数|引数|命令|コマンド|명령/iu;

const aboutHelp =
  /^[\s#*=]*(?:[\w ]{0,30}(?:options?|flags?|switches|arguments?|usage)|参数|选项)\b[^\n]{0,40}[:：]/imu;

/** A usage text is long, but not that long. */
const mostSynopses = 200;

/** Reads the texts of the script `fileName`: its comments, its strings, its here-documents. */
export function readUsage(texts: readonly string[], fileName: string, takesValue?: TakesValue): UsageFacts {
  const usage = new Set<string>();
  const calls = new Set<string>();
  const tables = {
    options: [] as HelpTables["options"],
    arguments: [] as HelpTables["arguments"],
    commands: [] as HelpTables["commands"],
  };
  const stem = fileName.replace(/\.\w+$/u, "").toLowerCase();
  const program = createProgramFinder(fileName);
  for (const text of texts) {
    // Most texts of a script are about something else; a glance is cheaper than to read them.
    if (aboutUsage.test(text) || text.toLowerCase().includes(stem)) {
      const found = findSynopses(text, fileName);
      for (const line of found.usage.flatMap(splitCommands)) usage.add(line);
      for (const line of found.calls) calls.add(line);
    }
    if (!aboutTables.test(text)) continue;
    const read = readTables(text);
    // Flags without a word about them are a help text only under a heading: others are handed to another program.
    const isHelp = aboutHelp.test(text) || read.options.some(({ description }) => description !== "");
    if (isHelp) tables.options = [...tables.options, ...read.options];
    tables.arguments = [...tables.arguments, ...read.arguments];
    // A row of commands may call the script in full: `node report.js list  List them`.
    tables.commands = [
      ...tables.commands,
      ...read.commands.map((row) => ({ ...row, head: program.after(row.head) ?? row.head })),
    ];
  }
  const parse = (lines: ReadonlySet<string>): readonly Synopsis[] =>
    [...lines].slice(0, mostSynopses).map((line) => parseSynopsis(line, takesValue));
  return { ...tables, synopses: parse(usage), calls: parse(calls).map(asExample) };
}

/** The lines of a text that say how a script is called, as they are written from after the program's name on. */
export interface FoundSynopses {
  /** From lines that are marked as usage. */
  readonly usage: readonly string[];
  /** Lines that merely call the script: examples. */
  readonly calls: readonly string[];
}

/** "Usage" as it is said in the languages that skills are written in. */
const usageMark =
  /(?:^|[^\p{L}])(?:usage|synopsis|用法|使用方法|使用方式|使用法|使い方|사용법|사용|uso|utilisation|verwendung|aufruf|использование|gebruik|użycie|kullanım)(?<about> examples?|示例)?\s*(?:\([^)]{0,40}\))?\s*[:：](?<rest>.*)$/iu;

const usageHeading = /^[\s#*=-]*(?:usage|synopsis|用法|使用方法|使い方|사용법)[\s*=-]*$/iu;

const mostLines = 5000;
const longestLine = 600;

/** Finds the usage lines of the script that is called `fileName`. */
export function findSynopses(text: string, fileName: string): FoundSynopses {
  const found = { usage: [] as string[], calls: [] as string[] };
  const lines = joinContinued(text.split("\n", mostLines));
  const program = createProgramFinder(fileName);

  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const mark = readMark(line);
    if (mark === undefined) {
      const call = program.after(line);
      if (call !== undefined) found.calls.push(call);
      continue;
    }
    const target = mark.isExample ? found.calls : found.usage;
    if (mark.rest !== "") target.push(program.afterAny(mark.rest));
    const reader = createReader(target, program, mark.rest !== "");
    while (index + 1 < lines.length && reader.take(lines[index + 1] ?? "", lines[index + 2] ?? "")) index += 1;
    reader.finish();
  }
  return found;
}

/** What a line says after "Usage:"; nothing if it is not such a line. */
function readMark(line: string): { rest: string; isExample: boolean } | undefined {
  const groups = usageMark.exec(line)?.groups;
  if (groups !== undefined) return { rest: groups["rest"]?.trim() ?? "", isExample: groups["about"] !== undefined };
  return usageHeading.test(line) ? { rest: "", isExample: false } : undefined;
}

const heading = /^\s*\p{L}[\p{L} /-]{1,40}[:：]\s*$/u;
const continuation = /^\s+[[<({-]/u;
const optionRow = /^\s*-\S*[\s,].*\s{2,}\S/u;

/** Reads the lines after a usage mark as long as they belong to it. */
interface UsageReader {
  take(line: string, next: string): boolean;
  /** Takes what was read under another name of the program, if nothing was read under its own. */
  finish(): void;
}

function createReader(target: string[], program: ProgramFinder, hasLine: boolean): UsageReader {
  const strangers: string[] = [];
  let found = hasLine;
  let blanks = 0;

  function takeBlank(next: string): boolean {
    blanks += 1;
    const isOver = found || strangers.length > 0;
    return blanks <= 1 && (!isOver || program.afterMarked(next) !== undefined);
  }

  function takeOther(line: string): boolean {
    if (!found) {
      strangers.push(line);
      return blanks === 0 || strangers.length === 1;
    }
    if (blanks > 0 || !continuation.test(line) || optionRow.test(line)) return false;
    // A line that goes on with brackets or flags belongs to the one before.
    target.push(`${target.pop() ?? ""} ${line.trim()}`);
    return true;
  }

  return {
    take(line, next) {
      if (/^\s*`{3}/u.test(line)) return !found;
      if (line.trim() === "") return takeBlank(next);
      if (readMark(line) !== undefined || heading.test(line)) return false;
      const call = program.afterMarked(line);
      if (call === undefined) return takeOther(line);
      target.push(call);
      found = true;
      blanks = 0;
      return true;
    },
    finish() {
      if (!found && isSynopsis(strangers)) target.push(...strangers.map((line) => program.afterAny(line)));
    },
  };
}

/** Lines that begin with one word, which is then the program, or that have placeholders. */
function isSynopsis(lines: readonly string[]): boolean {
  const first = /^\s*(\S+)/u.exec(lines[0] ?? "")?.[1] ?? "";
  if (!/^[\w./-]+$/u.test(first) || lines.length > 60) return false;
  const isShared =
    lines.length > 1 && lines.every((line) => line.trimStart().startsWith(`${first} `) || line.trim() === first);
  return isShared || (lines.length === 1 && /^\s+\S+\s+(?:[<[]|--)/u.test(lines[0] ?? ""));
}

/** Joins lines that end in a backslash, and cuts those that are too long to be read by anyone. */
function joinContinued(lines: readonly string[]): readonly string[] {
  const joined: string[] = [];
  let pending = "";
  for (const line of lines) {
    const short = line.slice(0, longestLine);
    const whole = pending === "" ? short : `${pending} ${short.trim()}`;
    const continues = short.trimEnd().endsWith("\\") && whole.length < longestLine;
    pending = continues ? whole.trimEnd().slice(0, -1).trimEnd() : "";
    if (!continues) joined.push(whole);
  }
  if (pending !== "") joined.push(pending);
  return joined;
}
