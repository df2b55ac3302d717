import { findSynopses } from "./find-synopses.ts";
import { parseSynopsis, type TakesValue } from "./parse-synopsis.ts";
import type { Synopsis } from "./synopsis.ts";
import { createProgramFinder } from "./program-name.ts";
import { readTables, type HelpTables } from "./tables.ts";

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

/** `list | show NAME | move FROM TO` are three calls in one line. */
function splitCommands(line: string): readonly string[] {
  const parts = line.split(/\s\|\s/u);
  const areCalls = parts.length > 1 && parts.every((part) => /^[a-z][\w-]*(?:\s+[<[A-Z-].*)?$/u.test(part.trim()));
  return areCalls && parts.some((part) => part.trim().includes(" ")) ? parts.map((part) => part.trim()) : [line];
}

const aboutUsage =
  /usage|synopsis|用法|使用|使い方|사용|uso|utilisation|verwendung|aufruf|использование|gebruik|użycie|kullanım|\$0|\$\{0|argv|basename|%\(prog|PROGRAM_NAME|__FILE__/iu;
const aboutTables =
  /(?:^|\n)[ \t*•`]*--?[A-Za-z]|arguments?|args|param|inputs?|commands?|actions?|参数|引数|命令|コマンド|명령/iu;

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
    tables.options = [...tables.options, ...read.options];
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
