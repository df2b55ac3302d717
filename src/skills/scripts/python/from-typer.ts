import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import { toDescription } from "../describe.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import type { ValueFacts } from "../value-schema.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { readDocstring } from "./docstring.ts";
import { factsOf } from "./from-signature.ts";
import { longFirst } from "./merge-constants.ts";
import type { PythonParameter, PythonValue, TyperFacts } from "./python-facts.ts";
import { known, text } from "./python-types.ts";

type Command = TyperFacts["commands"][number];

/** Makes the interface of a script from its typer commands. */
export function fromTyper({ apps, commands }: TyperFacts): DerivedInterface | undefined {
  const callbacks = new Map(commands.filter(({ callback }) => callback).map((command) => [command.app ?? "", command]));
  const real = commands.filter(({ callback }) => !callback);
  if (real.length === 0) return undefined;
  const perApp = Map.groupBy(real, ({ app }) => app ?? "");
  const hasSubApps = Object.values(apps).some(({ parent }) => parent !== null);
  return {
    commands: real.slice(0, 150).map((command) => {
      const path = pathOf(command.app, apps);
      // An app with one command and nothing else is that command.
      const isAlone =
        (perApp.get(command.app ?? "")?.length ?? 0) === 1 && !callbacks.has(command.app ?? "") && !hasSubApps;
      const words = command.app === null || isAlone ? path : [...path, nameOf(command)];
      const above = path.length === 0 && !isAlone ? toParameters(callbacks.get(command.app ?? "")) : [];
      return toCommand(command, words, above);
    }),
    confidence: "declared",
    source: "typer",
  };
}

function pathOf(app: string | null, apps: TyperFacts["apps"]): readonly string[] {
  const path: string[] = [];
  for (let name = app; name !== null && path.length < 6;) {
    const current: TyperFacts["apps"][string] | undefined = Object.hasOwn(apps, name) ? apps[name] : undefined;
    if (current === undefined || current.parent === null) break;
    path.unshift(current.name ?? name);
    name = current.parent;
  }
  return path;
}

function nameOf({ name, function: own }: Command): string {
  return name ?? own.name.toLowerCase().replaceAll("_", "-");
}

function toCommand(command: Command, words: readonly string[], above: readonly Parameter[]): DerivedCommand {
  const description = toDescription(command.help ?? command.function.doc ?? "");
  return withoutUndefined<DerivedCommand>({
    parameters: [...above.map((parameter) => ({ ...parameter, after: 0 })), ...toParameters(command)],
    words: words.length === 0 ? undefined : words,
    separator: "needed",
    description: description === "" ? undefined : description,
  });
}

function toParameters(command: Command | undefined): readonly Parameter[] {
  if (command === undefined) return [];
  const docs = readDocstring(command.function.doc);
  const isContext = ({ name }: PythonParameter): boolean => name === "ctx" || name === "context";
  const made = command.function.parameters
    .filter((parameter) => !isContext(parameter))
    .map((parameter) => toParameter(parameter, docs.get(parameter.name)));
  const isPlace = ({ part }: Parameter): boolean => part.kind === "positional";
  return [...made.filter((parameter) => !isPlace(parameter)), ...made.filter(isPlace)];
}

function toParameter(parameter: PythonParameter, description: string | undefined): Parameter {
  const { declared } = parameter;
  const flagsGiven = (declared?.values ?? [])
    .map((value) => text(value))
    .filter((value) => value?.startsWith("-") === true);
  const facts = declaredFacts(parameter, description);
  // Without a declaration what has no default is a place, and what has one is an option.
  const isPlace = declared === undefined ? parameter.required : declared.kind === "Argument";
  if (isPlace) return positional({ ...facts, name: parameter.name, required: isNeeded(parameter) });
  const pair = flagsGiven.find((flag) => flag?.includes("/"));
  const named = `--${parameter.name.replaceAll("_", "-")}`;
  if (facts.type === "boolean") return toSwitch(parameter, facts, { pair, flags: flagsGiven as string[], named });
  const flags = flagsGiven.length === 0 ? [named] : longFirst(flagsGiven as string[]);
  const { many, ...single } = facts;
  return valueFlag({
    ...single,
    flags,
    property: parameter.name,
    many: many ? "repeat" : undefined,
    required: isNeeded(parameter),
    joint: flags.some((flag) => flag.startsWith("--")) ? "=" : "",
  });
}

interface Spellings {
  readonly pair: string | undefined;
  readonly flags: readonly string[];
  readonly named: string;
}

/** typer makes `--flag/--no-flag` of a boolean, unless it is told which flags there are. */
function toSwitch(parameter: PythonParameter, facts: ValueFacts, { pair, flags, named }: Spellings): Parameter {
  const base = { ...facts, property: parameter.name, required: false };
  if (pair !== undefined) {
    const [on = "", off] = pair.split("/");
    return switchFlag({ ...base, flags: [on, ...flags.filter((flag) => flag !== pair)], opposite: off });
  }
  const opposite = flags.length === 0 ? named.replace(/^--/u, "--no-") : undefined;
  return switchFlag({ ...base, flags: flags.length === 0 ? [named] : longFirst(flags), opposite });
}

/** `typer.Option(...)`: needed; `typer.Option(5)` or a plain default: not. */
function isNeeded(parameter: PythonParameter): boolean {
  const [first] = parameter.declared?.values ?? [];
  if (parameter.declared === undefined) return parameter.required;
  if (first?.ellipsis) return true;
  // With `Annotated` the declaration has only names in it, and the default stands after "=".
  const isAnnotated = first === undefined || text(first)?.startsWith("-") === true;
  return isAnnotated && parameter.required && parameter.declared.keywords["default"] === undefined;
}

function declaredFacts(parameter: PythonParameter, description: string | undefined): ValueFacts {
  const facts = factsOf(parameter, description);
  const { declared } = parameter;
  if (declared === undefined) return facts;
  const [first] = declared.values;
  const isDefault = first !== undefined && !first.ellipsis && text(first)?.startsWith("-") !== true;
  const fallback =
    known(parameter.default) ?? (isDefault ? known(first) : undefined) ?? known(declared.keywords["default"]);
  const withDefault = factsOf(
    { ...parameter, ...(fallback !== undefined && { default: { value: fallback } }) },
    description,
  );
  return {
    ...withDefault,
    description: text(declared.keywords["help"]) ?? withDefault.description,
    minimum: numberIn(declared.keywords["min"]),
    maximum: numberIn(declared.keywords["max"]),
  };
}

function numberIn(value: PythonValue | undefined): number | undefined {
  const number = known(value);
  return typeof number === "number" ? number : undefined;
}
