import { toPropertyName, type Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { PythonArgument } from "./python-facts.ts";
import { known, text } from "./python-types.ts";

/** A parameter that several arguments make together. */
export interface MergedParameter {
  readonly parameter: Parameter;
}

/**
 * Joins arguments that set one name to different constants: `--json` and `--csv` with `dest="format"`, or `--cache` and
 * `--no-cache`. Others stay as they are.
 */
export function mergeConstants<Argument extends PythonArgument>(
  arguments_: readonly Argument[],
): readonly (Argument | MergedParameter)[] {
  const byDest = Map.groupBy(arguments_.filter(isConstant), (argument) => text(argument.keywords["dest"]) ?? "");
  const done = new Set<string>();
  return arguments_.flatMap((argument): (Argument | MergedParameter)[] => {
    const dest = isConstant(argument) ? (text(argument.keywords["dest"]) ?? "") : "";
    const group = byDest.get(dest);
    if (dest === "" || group === undefined || group.length < 2) return [argument];
    if (done.has(dest)) return [];
    done.add(dest);
    return [{ parameter: toChoice(dest, group) }];
  });
}

const constantActions = new Set(["store_true", "store_false", "store_const"]);

function isConstant({ keywords }: PythonArgument): boolean {
  return constantActions.has(text(keywords["action"]) ?? "");
}

function valueOf({ keywords }: PythonArgument): string | undefined {
  const action = text(keywords["action"]);
  if (action === "store_true") return "true";
  if (action === "store_false") return "false";
  const value = known(keywords["const"]);
  return value === undefined || value === null || typeof value === "object" ? undefined : String(value);
}

function toChoice(dest: string, group: readonly PythonArgument[]): Parameter {
  const words: Record<string, readonly string[]> = {};
  const aliases: Record<string, string> = {};
  const notes: string[] = [];
  for (const argument of group) {
    const value = valueOf(argument);
    const [first, ...others] = longFirst(argument.flags ?? []);
    if (value === undefined || first === undefined) continue;
    words[value] = [first];
    for (const other of others) aliases[other] = value;
    const help = text(argument.keywords["help"]);
    if (help !== undefined) notes.push(`${value}: ${help}`);
  }
  const values = Object.keys(words);
  const isSwitch = values.every((value) => value === "true" || value === "false");
  const fallback = group
    .map(({ keywords }) => known(keywords["default"]))
    .find((value) => value !== undefined && value !== null);
  const hasDefault = isSwitch
    ? typeof fallback === "boolean"
    : typeof fallback === "string" && values.includes(fallback);
  const schema = withoutUndefined({
    ...(isSwitch ? { type: "boolean" } : { type: "string", enum: values }),
    description: notes.length === 0 ? undefined : notes.join("; "),
    default: hasDefault ? fallback : undefined,
  });
  const part = withoutUndefined<Parameter["part"]>({
    kind: "choice",
    property: toPropertyName(dest) || "choice",
    words,
    aliases: Object.keys(aliases).length === 0 ? undefined : aliases,
  });
  return { part, schema, required: false };
}

/** The long spellings first: they say more, and are the ones that are written. */
export function longFirst(flags: readonly string[]): readonly string[] {
  return flags.toSorted((left, right) => Number(right.startsWith("--")) - Number(left.startsWith("--")));
}
