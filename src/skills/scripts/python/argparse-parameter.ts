import type { JsonValue } from "../../../core/json.ts";
import { pathByLabel } from "../facts/file-parameters.ts";
import { positional, switchFlag, valueFlag, type FlagDeclaration } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { longFirst } from "./merge-constants.ts";
import type { PythonArgument, PythonValue } from "./python-facts.ts";
import { fromChoices, fromType, known, text, type TypeFacts } from "./python-types.ts";

type Keywords = Readonly<Record<string, PythonValue>>;

/** Makes the parameter for one `add_argument`; `note` goes into its description. None for help and version. */
export function toArgparseParameter({ flags, keywords }: PythonArgument, note = ""): Parameter | undefined {
  const names = flags ?? [];
  const action = text(keywords["action"]) ?? keywords["action"]?.name?.split(".").at(-1) ?? "store";
  if (action === "help" || action === "version") return undefined;
  const isPositional = !(names[0] ?? text(keywords["dest"]) ?? "").startsWith("-");
  const description = joinSentences(toHelp(keywords), note);
  return isPositional
    ? toPositional(names[0] ?? text(keywords["dest"]) ?? "", keywords, description)
    : toFlag(longFirst(names), action, { keywords, description });
}

function joinSentences(help: string, note: string): string {
  if (help === "" || note === "") return help + note;
  return `${help.trimEnd()}${/[.!?。]$/u.test(help.trimEnd()) ? "" : "."} ${note}`;
}

/** The help with its placeholders filled, as argparse does. */
function toHelp(keywords: Keywords): string {
  const value = known(keywords["default"]);
  const shown =
    value === undefined || (typeof value === "object" && value !== null) ? "" : value === null ? "None" : String(value);
  return (text(keywords["help"]) ?? "")
    .replaceAll("%(default)s", shown)
    .replaceAll(/%\((?:default|type|const)\)[sdrf]/gu, shown)
    .replaceAll(/\s*[([]default:?\s*[)\]]/giu, "")
    .replaceAll("%(prog)s", "the script")
    .replaceAll("%%", "%");
}

/** How many words an argument takes. */
interface Count {
  readonly many: boolean;
  readonly optional: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
}

function toCount(nargs: JsonValue | undefined): Count {
  if (nargs === "?") return { many: false, optional: true };
  if (nargs === "+") return { many: true, optional: false, minItems: 1 };
  if (nargs === "*" || nargs === "...") return { many: true, optional: true };
  if (typeof nargs === "number" && nargs >= 1) return { many: true, optional: false, minItems: nargs, maxItems: nargs };
  return { many: false, optional: false };
}

function toTypeFacts(keywords: Keywords): TypeFacts {
  const type = fromType(keywords["type"]);
  const metavar = pathByLabel(text(keywords["metavar"]) ?? "");
  return { file: metavar, ...type, ...fromChoices(keywords["choices"], type.type) };
}

/** JSON that is passed as text may be of any type. */
function orJson(parameter: Parameter, { json }: TypeFacts): Parameter {
  if (json === undefined) return parameter;
  const { type: _, ...schema } = parameter.schema;
  return { ...parameter, schema };
}

function toPositional(name: string, keywords: Keywords, description: string): Parameter {
  const facts = toTypeFacts(keywords);
  const nargs = keywords["nargs"]?.name?.endsWith("REMAINDER") ? "..." : known(keywords["nargs"]);
  const count = toCount(nargs);
  const fallback = known(keywords["default"]);
  const parameter = positional({
    ...facts,
    name,
    description,
    many: count.many,
    minItems: count.minItems,
    maxItems: count.maxItems,
    default: count.optional ? fallback : undefined,
    required: !count.optional,
  });
  return orJson(parameter, facts);
}

interface Rest {
  readonly keywords: Keywords;
  readonly description: string;
}

function toFlag(flags: readonly string[], action: string, { keywords, description }: Rest): Parameter {
  const fallback = known(keywords["default"]);
  const base = { flags, property: text(keywords["dest"]), description, required: known(keywords["required"]) === true };
  switch (action) {
    case "store_true":
    case "store_const":
      return switchFlag({ ...base, default: typeof fallback === "boolean" ? fallback : undefined, required: false });
    case "store_false":
      return toNegativeSwitch(base);
    case "BooleanOptionalAction":
      return switchFlag({ ...base, opposite: oppositeOf(flags), default: fallback });
    case "count":
      return toCounter(base, fallback);
    case "append_const":
      return switchFlag({ ...base, required: false });
    default:
      return toValue(base, action, keywords);
  }
}

function oppositeOf(flags: readonly string[]): string {
  return (flags.find((flag) => flag.startsWith("--")) ?? flags[0] ?? "").replace(/^--?/u, "--no-");
}

/** `--no-cache` with `dest="cache"` turns off what is on. Without a name of its own it is what it says: `no_cache`. */
function toNegativeSwitch(base: FlagDeclaration): Parameter {
  const [flag = "", ...aliases] = base.flags;
  if (base.property === undefined) return switchFlag({ ...base, required: false });
  const made = switchFlag({ ...base, flags: [], opposite: flag, default: true, required: false });
  if (aliases.length === 0 || made.part.kind !== "choice") return made;
  return { ...made, part: { ...made.part, aliases: Object.fromEntries(aliases.map((alias) => [alias, "false"])) } };
}

function toCounter({ flags, property, description }: FlagDeclaration, fallback: JsonValue | undefined): Parameter {
  const [flag = "", ...aliases] = flags;
  const made = switchFlag({ flags, property, description });
  const part = withoutUndefined<Parameter["part"]>({
    kind: "count",
    property: made.part.property,
    flag,
    aliases: aliases.length === 0 ? undefined : aliases,
  });
  const schema = withoutUndefined({
    type: "integer",
    minimum: 0,
    description: description === "" ? undefined : description,
    default: typeof fallback === "number" && fallback === 0 ? 0 : undefined,
  });
  return { part, schema, required: false };
}

function toValue(base: FlagDeclaration, action: string, keywords: Keywords): Parameter {
  const facts = toTypeFacts(keywords);
  const count = toCount(known(keywords["nargs"]));
  const many = toMany(action, count);
  const fallback = known(keywords["default"]) ?? undefined;
  const parameter = valueFlag({
    ...base,
    ...facts,
    many,
    minItems: count.minItems ?? (many !== undefined && base.required ? 1 : undefined),
    maxItems: many === "repeat" ? undefined : count.maxItems,
    default: fallback,
    joint: base.flags.some((flag) => flag.startsWith("--")) ? "=" : "",
    alone: count.optional && !count.many ? (known(keywords["const"]) ?? undefined) : undefined,
    // argparse adds to a default list and complains about two of one group, so a default is better not written.
    omitsDefault: fallback !== undefined,
  });
  return orJson(parameter, facts);
}

function toMany(action: string, count: Count): FlagDeclaration["many"] {
  if (action === "append") return "repeat";
  if (action === "extend") return count.many ? "list" : "repeat";
  return count.many ? "list" : undefined;
}
