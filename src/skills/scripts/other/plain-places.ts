import { noFacts, type ArgvFacts, type PositionFact } from "../arguments/argv-facts.ts";
import { readRange, type Scanned } from "../code/scan.ts";
import { toJson } from "../code/literals.ts";
import { withoutUndefined } from "../without-undefined.ts";

/** How a language that is not parsed reads its arguments. */
export interface PlainArguments {
  /** The list, as it is written in code. */
  readonly list: RegExp;
  /** The number of the first argument in it. */
  readonly first: number;
  /** Reading a place that is not there stops the script. */
  readonly strict?: true;
}

/** How each language names the list of its arguments. */
export const plainArguments = {
  python: { list: /\bsys\.argv\b/u, first: 1, strict: true },
  ruby: { list: /\bARGV\b/u, first: 0 },
  perl: { list: /[@$]ARGV\b/u, first: 0 },
  php: { list: /\$argv\b/u, first: 1 },
  lua: { list: /(?<![\w.])arg(?=\[)/u, first: 1 },
  r: { list: /\bcommandArgs\([^()\n]{0,40}\)/u, first: 1 },
  powershell: { list: /\$args\b/iu, first: 0 },
  javascript: { list: /\b(?:process\.argv|Deno\.args|Bun\.argv)\b/u, first: 2 },
  shell: { list: /\$(?:[1-9@*#]|\{[1-9@*#])/u, first: 0 },
} as const satisfies Record<string, PlainArguments>;

const mostPlaces = 30;

/**
 * Reads `name = ARGV[0] || "default"` and its like in a language that is not parsed. What else the script does with its arguments
 * is left to its usage text.
 */
export function readPlainPlaces(scanned: Scanned, { list, first, strict }: PlainArguments): ArgvFacts {
  const code = withInterpolated(scanned);
  if (!list.test(code)) return noFacts;
  const positions = new Map<number, PositionFact>();
  const names = [list.source, ...aliasesOf(code, list)].join("|");
  const read = new RegExp(
    String.raw`(?:[$@]?(?<name>[A-Za-z_]\w*)\s*(?:=|<-|:=)\s*)?(?:${names})(?:\[|\.fetch\()(?<number>\d{1,2})[\])]`,
    list.flags.includes("i") ? "giu" : "gu",
  );
  for (const match of code.matchAll(read)) {
    const { name, number = "0" } = match.groups ?? {};
    const place = Number(number) - first;
    if (place < 0 || place > mostPlaces) continue;
    const fallback = fallbackAfter(scanned, match.index + match[0].length);
    const fact = withoutUndefined<PositionFact>({
      name,
      default: toJson(fallback) ?? undefined,
      required: fallback !== undefined ? false : strict ? true : undefined,
    });
    positions.set(place, { ...fact, ...positions.get(place) });
  }
  return { ...noFacts, readsArgv: true, positions };
}

/** The code with what stands in double quotes: `"$ARGV[0]"` reads an argument. */
function withInterpolated({ code, text, pieces }: Scanned): string {
  let whole = code;
  for (const { kind, start, end } of pieces) {
    if (kind === "string" && text.charAt(start) === '"')
      whole = whole.slice(0, start) + text.slice(start, end) + whole.slice(end);
  }
  return whole;
}

/** `args <- commandArgs(…)` gives the list another name. */
function aliasesOf(code: string, list: RegExp): readonly string[] {
  const given = new RegExp(String.raw`(?<!\w)([A-Za-z_]\w*)\s*(?:=|<-)\s*(?:${list.source})\s*(?:$|;)`, "gmu");
  return Array.from(code.matchAll(given), ([, name = ""]) => String.raw`\b${name}`);
}

/** What the code takes instead of an argument that is not given. */
function fallbackAfter(scanned: Scanned, from: number): ReturnType<typeof readRange> | undefined {
  const [before, rest] =
    /^\s*(?:or|\|\||\?\?|\/\/)\s*([^;\n]{1,200})/u.exec(scanned.code.slice(from, from + 240)) ?? [];
  if (before === undefined || rest === undefined) return undefined;
  const end = from + before.trimEnd().length;
  const value = readRange(scanned, [end - rest.trimEnd().length, end]);
  // `or abort(…)` and `or die …` take nothing instead.
  return value.kind === "value" ? value : undefined;
}
