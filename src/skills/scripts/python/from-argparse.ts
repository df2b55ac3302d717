import type { JsonValue } from "../../../core/json.ts";
import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import { positional } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { toArgparseParameter } from "./argparse-parameter.ts";
import type { PythonArgument, PythonParser, PythonValue } from "./python-facts.ts";
import { mergeConstants } from "./merge-constants.ts";

/** Makes the interface of a script from its argparse parser. One command for each sub-command, at any depth. */
export function fromArgparse(parser: PythonParser, handlesSeparator: boolean): DerivedInterface {
  const commands = collect(parser, { words: [], above: [] }, handlesSeparator).slice(0, mostCommands);
  // Arguments that are made at run time are not known.
  const open = hasDynamic(parser);
  return withoutUndefined<DerivedInterface>({
    commands: open ? commands.map((command) => ({ ...command, open })) : commands,
    confidence: "declared",
    source: parser.old ? "optparse" : "argparse",
    description: parser.description ?? undefined,
  });
}

const mostCommands = 150;

function hasDynamic(parser: PythonParser): boolean {
  if (parser.commands?.parsers.length === 0 || parser.strangers.length > 0) return true;
  return (
    parser.arguments.some(({ flags }) => flags === null) ||
    (parser.commands?.parsers.some((child) => hasDynamic(child.parser)) ?? false)
  );
}

/** Where a parser stands among those above it. */
interface Place {
  readonly words: readonly string[];
  /** The parameters of the parsers above: each must stand before the word of the parser below. */
  readonly above: readonly Parameter[];
}

function collect(parser: PythonParser, place: Place, handlesSeparator: boolean): readonly DerivedCommand[] {
  const own = toParameters(parser);
  const children = parser.commands?.parsers ?? [];
  if (children.length === 0) return [toCommand(parser, place, { own, handlesSeparator })];
  const above = [...place.above, ...own.map((parameter) => ({ ...parameter, after: place.words.length }))];
  return children.flatMap(({ name, parser: child }) =>
    collect(child, { words: [...place.words, name], above }, handlesSeparator),
  );
}

interface Own {
  readonly own: readonly Parameter[];
  readonly handlesSeparator: boolean;
}

function toCommand(parser: PythonParser, { words, above }: Place, { own, handlesSeparator }: Own): DerivedCommand {
  const isRemainder = parser.arguments.some(({ keywords }) => isRest(keywords["nargs"]));
  // What takes the rest leaves nothing over.
  const extra = hasExtra(parser) && !isRemainder ? [extraParameter(parser.extra ?? "args")] : [];
  // A command that has a flag of its own by that name needs it from there.
  const taken = new Set(own.map(({ part }) => part.property));
  return withoutUndefined<DerivedCommand>({
    parameters: [...above.filter(({ part }) => !taken.has(part.property)), ...own, ...extra],
    words: words.length === 0 ? undefined : words,
    separator: toSeparator(parser, { isRemainder, handlesSeparator, hasRest: extra.length > 0 }),
    description: words.length === 0 ? undefined : (parser.help ?? parser.description ?? undefined),
  });
}

interface Rest {
  readonly isRemainder: boolean;
  readonly handlesSeparator: boolean;
  readonly hasRest: boolean;
}

/** What argparse takes as the rest, or leaves over, keeps its "--"; optparse drops it. */
function toSeparator(
  { old }: PythonParser,
  { isRemainder, handlesSeparator, hasRest }: Rest,
): DerivedCommand["separator"] {
  if (old) return "needed";
  if (hasRest) return undefined;
  return isRemainder && handlesSeparator ? "always" : "needed";
}

/** Sub-commands that are made at run time leave words that are not known. */
function hasExtra({ extra, commands }: PythonParser): boolean {
  return (extra !== null && !extra.startsWith("_")) || commands?.parsers.length === 0;
}

function isRest(nargs: PythonValue | undefined): boolean {
  return nargs?.value === "..." || nargs?.name?.endsWith("REMAINDER") === true;
}

/** What `parse_known_args` leaves over. */
function extraParameter(name: string): Parameter {
  return positional({ name, many: true, description: "Further arguments, passed on as they are" });
}

function toParameters(parser: PythonParser): readonly Parameter[] {
  const described = parser.arguments.filter((argument) => argument.flags !== null && !isHidden(argument));
  const merged = mergeConstants(described);
  const parameters = merged.map((item) =>
    "parameter" in item ? item.parameter : toArgparseParameter(item, exclusiveNote(item, parser.arguments)),
  );
  const known = parameters.filter((parameter) => parameter !== undefined);
  const isPlace = ({ part }: Parameter): boolean => part.kind === "positional";
  // Flags first: argparse gives a list the positionals that follow it, so it must not be the last before them.
  const flags = known.filter((parameter) => !isPlace(parameter));
  const isOpen = ({ part }: Parameter): boolean => part.kind === "flag" && part.many === "list";
  return [...flags.filter(isOpen), ...flags.filter((flag) => !isOpen(flag)), ...known.filter(isPlace)];
}

function isHidden({ keywords }: PythonArgument): boolean {
  const help: JsonValue | undefined = keywords["help"]?.value;
  return keywords["help"]?.name?.endsWith("SUPPRESS") === true || help === "==SUPPRESS==";
}

/** Says which other arguments this one excludes: no schema that every provider takes can. */
function exclusiveNote({ exclusive, flags }: PythonArgument, all: readonly PythonArgument[]): string {
  if (exclusive === null) return "";
  const others = all.filter(
    (argument) => argument.exclusive?.group === exclusive.group && argument.flags?.[0] !== flags?.[0],
  );
  const names = others.map(
    (argument) => argument.flags?.find((flag) => flag.startsWith("--")) ?? argument.flags?.[0] ?? "",
  );
  if (names.length === 0) return "";
  return exclusive.required
    ? `Give exactly one of this and ${names.join(", ")}.`
    : `Not together with ${names.join(", ")}.`;
}
