import type { JsonValue } from "../../../core/json.ts";
import type { FlagFact } from "../arguments/argv-facts.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ShellArm, ShellNode, ShellWord } from "./parse-shell.ts";
import { assignmentsOf } from "./shell-words.ts";

/** A flag, and the variable that the script keeps its value in. */
export interface FoundFlag {
  readonly fact: FlagFact;
  readonly variable?: string;
}

/** Every command of a body, also those in conditions and in inner cases. */
export function* commandsOf(nodes: readonly ShellNode[]): Generator<readonly ShellWord[]> {
  for (const node of nodes) {
    if (node.kind === "command") yield node.words;
    else if (node.kind === "case") for (const arm of node.arms) yield* commandsOf(arm.body);
    else if (node.kind === "loop") yield* commandsOf([...node.head, ...node.body]);
  }
}

/** Tells whether a pattern of a `case` asks for help, or stands for any other flag. */
export function isHelp(pattern: string): boolean {
  return /^(?:-h|--help|-\?|-\*|--version|-V|-\*\)?|--\*|-h\*|help)$/u.test(pattern);
}

/** Reads an arm such as `-o|--out) OUT="$2"; shift 2 ;;`. */
export function toFlag(arm: ShellArm, defaults: ReadonlyMap<string, JsonValue>): FoundFlag | undefined {
  const flags = arm.patterns.filter((pattern) => /^--?[A-Za-z]/u.test(pattern));
  const names = [...new Set(flags.map((flag) => flag.replace(/=.*$/u, "").replace(/[*?].*$/u, "")))];
  if (names.length === 0) return undefined;
  const joinedCount = flags.filter((flag) => flag.includes("=")).length;
  const body = readBody([...commandsOf(arm.body)]);
  const takesValue = joinedCount > 0 || body.readsNext;
  const fallback = body.variable === undefined ? undefined : defaults.get(body.variable);
  const fact = withoutUndefined<FlagFact>({
    flags: longFirst(names),
    name: body.variable?.toLowerCase(),
    takesValue,
    joined: joinedCount === 0 ? undefined : joinedCount === flags.length ? "always" : "either",
    many: takesValue && body.adds ? true : undefined,
    default: takesValue && !body.adds && typeof fallback !== "boolean" ? fallback : undefined,
  });
  return withoutUndefined<FoundFlag>({ fact, variable: body.variable });
}

interface ArmBody {
  readonly readsNext: boolean;
  readonly variable: string | undefined;
  readonly adds: boolean;
}

function readBody(commands: readonly (readonly ShellWord[])[]): ArmBody {
  let readsNext = false;
  let shifted = false;
  let variable: string | undefined;
  let adds = false;
  for (const words of commands) {
    const text = words.map((word) => word.text).join(" ");
    const takes = /\$(?:2\b|\{2)|\$\{?OPTARG/u.test(text) || (shifted && /\$(?:1\b|\{1)/u.test(text));
    if (takes || /\bshift 2\b/u.test(text)) readsNext = true;
    if (words[0]?.text === "shift") shifted = true;
    const [assignment] = assignmentsOf(words);
    if (assignment === undefined || (variable !== undefined && !takes)) continue;
    variable = assignment.name;
    adds = assignment.adds;
  }
  return { readsNext, variable, adds };
}

/** The long spelling says more; it is the one that is written. */
function longFirst(flags: readonly string[]): readonly string[] {
  return flags.toSorted((left, right) => Number(right.startsWith("--")) - Number(left.startsWith("--")));
}

/** Joins `--out) …` and `--out=*) …`, which many scripts write as two arms. */
export function joinFlags(found: readonly FoundFlag[]): FoundFlag[] {
  const joined: FoundFlag[] = [];
  for (const flag of found) {
    const index = joined.findIndex(({ fact }) => fact.flags.some((name) => flag.fact.flags.includes(name)));
    const before = joined[index];
    if (before === undefined) {
      joined.push(flag);
      continue;
    }
    const flags = [...new Set([...before.fact.flags, ...flag.fact.flags])];
    const isBoth = (before.fact.joined === "always") !== (flag.fact.joined === "always");
    joined[index] = {
      ...before,
      fact: { ...flag.fact, ...before.fact, flags, takesValue: true, ...(isBoth && { joined: "either" as const }) },
    };
  }
  return joined;
}

/** Reads the letters of `getopts`, with the arms that handle them. */
export function fromGetopts(
  spec: string,
  arms: readonly ShellArm[],
  defaults: ReadonlyMap<string, JsonValue>,
): FoundFlag[] {
  const found: FoundFlag[] = [];
  for (const [, letter = "", colon] of spec.replace(/^:/u, "").matchAll(/([A-Za-z0-9])(:?)/gu)) {
    if (letter === "h" && colon === "") continue;
    const arm = arms.find(({ patterns }) => patterns.includes(letter));
    const body = readBody([...commandsOf(arm?.body ?? [])]);
    const takesValue = colon === ":";
    const fallback = body.variable === undefined ? undefined : defaults.get(body.variable);
    const fact = withoutUndefined<FlagFact>({
      flags: [`-${letter}`],
      name: body.variable?.toLowerCase(),
      takesValue,
      many: takesValue && body.adds ? true : undefined,
      default: takesValue && typeof fallback !== "boolean" ? fallback : undefined,
    });
    found.push(withoutUndefined<FoundFlag>({ fact, variable: body.variable }));
  }
  return found;
}
