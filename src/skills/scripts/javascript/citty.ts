import { argumentsOf, findCalls } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { entryOf, textOf, textsOf, toJson, type Literal } from "../code/literals.ts";
import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";

/** Reads `defineCommand({ meta, args, subCommands })` of citty. */
export function fromCitty(code: Code): DerivedInterface | undefined {
  const calls = findCalls(code, "defineCommand").map((call) => argumentsOf(code, call)[0]);
  const configs = calls.filter((config) => config?.kind === "object");
  if (configs.length === 0) return undefined;
  const root = configs.find((config) => entryOf(config, "subCommands") !== undefined);
  const leaves = configs.filter((config) => config !== root && entryOf(config, "args") !== undefined);
  if (root === undefined) {
    const [only] = leaves;
    return only === undefined ? undefined : toInterface([toCommand(only, [])]);
  }
  const commands = leaves.map((config) => toCommand(config, [nameOf(config)])).filter(({ words }) => words?.[0] !== "");
  return commands.length === 0 ? undefined : toInterface(commands);
}

function toInterface(commands: readonly DerivedCommand[]): DerivedInterface {
  return { commands, confidence: "declared", source: "citty" };
}

function nameOf(config: Literal | undefined): string {
  return textOf(entryOf(entryOf(config, "meta"), "name")) ?? "";
}

function toCommand(config: Literal | undefined, words: readonly string[]): DerivedCommand {
  const args = entryOf(config, "args");
  const entries = args?.kind === "object" ? args.entries : [];
  const parameters = entries.map(([name, settings]) => toParameter(name, settings));
  const isPlace = (parameter: Parameter): boolean => parameter.part.kind === "positional";
  return withoutUndefined<DerivedCommand>({
    parameters: [...parameters.filter((parameter) => !isPlace(parameter)), ...parameters.filter(isPlace)],
    words: words.length === 0 ? undefined : words,
    separator: "needed",
    description: textOf(entryOf(entryOf(config, "meta"), "description")),
  });
}

function toParameter(name: string, settings: Literal): Parameter {
  const type = textOf(entryOf(settings, "type"));
  const facts = {
    description: textOf(entryOf(settings, "description")),
    default: toJson(entryOf(settings, "default")),
    required: toJson(entryOf(settings, "required")),
  };
  if (type === "positional") return positional({ ...facts, name, required: facts.required !== false });
  const flags = [name, ...textsOf(entryOf(settings, "alias"))].map((flag) =>
    flag.length === 1 ? `-${flag}` : `--${flag}`,
  );
  if (type === "boolean") return switchFlag({ ...facts, flags, opposite: `--no-${name}`, required: false });
  const options = entryOf(settings, "options");
  return valueFlag({
    ...facts,
    flags,
    choices: options === undefined ? undefined : textsOf(options),
    required: facts.required === true,
    joint: "=",
  });
}
