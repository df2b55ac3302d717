import type { FlagPart, PropertyPart } from "../argv-mapping.ts";
import { pathByLabel } from "../facts/file-parameters.ts";
import { toPropertyName, type Parameter } from "../parameter.ts";
import type { UsageFlag, UsageValue } from "../usage/synopsis.ts";
import { readDescription, type OptionRow } from "../usage/tables.ts";
import { toValueSchema, typeOfLabel, typeOfNumber, type ValueFacts } from "../value-schema.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { FlagFact } from "./argv-facts.ts";

/** What is known about the flags of one command. */
export interface FlagSources {
  /** The flags of each usage line. */
  readonly lines: readonly (readonly UsageFlag[])[];
  readonly facts: readonly FlagFact[];
  /** The table of options in the help text. */
  readonly rows: readonly OptionRow[];
}

/** All that is known about one flag. */
interface Merged {
  flags: readonly string[];
  code: FlagFact | undefined;
  usage: UsageFlag | undefined;
  row: OptionRow | undefined;
  /** In how many usage lines it has to be given. */
  demanded: number;
}

const notForTools = /^(?:-h|-\?|--help|--version|-V|--usage|-help)$/u;

/** Joins what usage lines, tables and code say about the flags of a command. Help and version are left out. */
export function mergeFlags({ lines, facts, rows }: FlagSources): Parameter[] {
  const merged: Merged[] = [];
  const byFlag = new Map<string, Merged>();

  function entry(flags: readonly string[]): Merged {
    const known = flags.map((flag) => byFlag.get(flag)).find((item) => item !== undefined);
    const item = known ?? { flags: [], code: undefined, usage: undefined, row: undefined, demanded: 0 };
    if (known === undefined) merged.push(item);
    item.flags = [...new Set([...item.flags, ...flags])];
    for (const flag of flags) byFlag.set(flag, item);
    return item;
  }

  for (const fact of facts) entry(fact.flags).code ??= fact;
  for (const flag of lines.flat()) {
    const item = entry(flag.flags);
    if (item.usage?.value === undefined) item.usage = flag;
    if (flag.required) item.demanded += 1;
  }
  for (const row of rows) entry(row.flags).row ??= row;

  const wanted = merged.filter(({ flags }) => !flags.some((flag) => notForTools.test(flag)));
  return joinPairs(wanted.slice(0, mostFlags)).map((item) => toParameter(item, lines.length));
}

const mostFlags = 150;

interface Paired extends Merged {
  /** The flag that says the opposite. */
  readonly opposite?: string;
}

/** `--color` and `--no-color` are one parameter. */
function joinPairs(merged: readonly Merged[]): readonly Paired[] {
  const byName = new Map(merged.flatMap((item) => item.flags.map((flag) => [flag, item] as const)));
  const opposites = new Set<Merged>();
  const paired = merged.map((item): Paired => {
    const opposite = item.flags.map((flag) => flag.replace(/^--/u, "--no-")).find((flag) => byName.has(flag));
    const other = opposite === undefined ? undefined : byName.get(opposite);
    if (opposite === undefined || other === undefined || other === item || takesValue(item) || takesValue(other))
      return item;
    opposites.add(other);
    return { ...item, opposite };
  });
  return paired.filter((_, index) => !opposites.has(merged[index] as Merged));
}

function valueOf({ usage, row }: Merged): UsageValue | undefined {
  return usage?.value ?? row?.value;
}

function takesValue(item: Merged): boolean {
  return item.code?.takesValue === true || valueOf(item) !== undefined;
}

function toParameter(item: Paired, lineCount: number): Parameter {
  const flag = item.code?.flags[0] ?? item.flags.find((name) => name.startsWith("--")) ?? item.flags[0] ?? "";
  const property = toName(item) || "flag";
  const aliases = item.flags.filter((name) => name !== flag);
  return takesValue(item)
    ? toValueFlag(item, { flag, property, aliases, lineCount })
    : toSwitch(item, { flag, property, aliases });
}

/** A long flag names itself; for a letter, the variable or the placeholder says more. */
function toName(item: Merged): string {
  const long = item.flags.find((flag) => /^--?\w{2,}/u.test(flag));
  if (long !== undefined) return toPropertyName(long);
  const label = valueOf(item)?.label ?? "";
  const name = item.code?.name ?? (/^[A-Za-z][\w-]+$/u.test(label) ? label.toLowerCase() : undefined);
  return toPropertyName(name ?? item.flags[0] ?? "");
}

interface Spelling {
  readonly flag: string;
  readonly property: string;
  readonly aliases: readonly string[];
}

function toSwitch(item: Paired, { flag, property, aliases }: Spelling): Parameter {
  const words = { true: [flag], ...(item.opposite !== undefined && { false: [item.opposite] }) };
  const schema = toValueSchema({
    type: "boolean",
    description: describe(item),
    default: typeof item.code?.default === "boolean" ? item.code.default : undefined,
  });
  const part = withoutUndefined<PropertyPart>({
    kind: "choice",
    property,
    words,
    aliases: aliases.length === 0 ? undefined : Object.fromEntries(aliases.map((alias) => [alias, "true"])),
  });
  return { part, schema, required: false };
}

function toValueFlag(
  item: Merged,
  { flag, property, aliases, lineCount }: Spelling & { lineCount: number },
): Parameter {
  const { code, usage, row } = item;
  const many = code?.many === true || usage?.many === true;
  const facts = toFacts(item);
  const part = withoutUndefined<FlagPart>({
    kind: "flag",
    property,
    flag,
    aliases: aliases.length === 0 ? undefined : aliases,
    many: many ? "repeat" : undefined,
    ...toJoint(code, usage),
  });
  const isDemanded = lineCount > 0 && item.demanded === lineCount;
  const isNeeded = code?.required === true || isDemanded || readDescription(row?.description ?? "").required;
  const schema = toValueSchema({ ...facts, many, description: describe(item) });
  const file = pathByLabel(valueOf(item)?.label);
  return { part, schema, required: facts.default === undefined && isNeeded, file };
}

function toFacts(item: Merged): ValueFacts {
  const { code } = item;
  const value = valueOf(item);
  const described = readDescription(item.row?.description ?? "");
  const fallback = code?.default ?? described.default;
  const choices = code?.choices ?? value?.choices ?? described.choices;
  if (choices !== undefined) return { choices, default: fallback };
  const type = code?.type ?? typeOfNumber(fallback) ?? (value ? typeOfLabel(value.label) : undefined);
  return { type, default: fallback };
}

function toJoint(code: FlagFact | undefined, usage: UsageFlag | undefined): Pick<FlagPart, "joint" | "joined"> {
  if (code?.joined === "always" || (code === undefined && usage?.joined)) return { joint: "=", joined: "always" };
  return code?.joined === "either" ? { joint: "=" } : {};
}

function describe({ code, row }: Merged): string | undefined {
  return row?.description ?? code?.description;
}
