import { findCalls } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { readLiteral, textOf } from "../code/literals.ts";
import { isToken } from "../code/token.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { switchFlag, valueFlag } from "../flag-parameter.ts";
import type { ArgvFacts, PositionFact } from "../hand/argv-facts.ts";
import type { HelpTexts } from "../hand/help-texts.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";

/** Reads `GetOptions("name=s" => \$name, "verbose!" => \$verbose)` of Perl's Getopt::Long. */
export function fromGetoptLong(code: Code, help: HelpTexts): DerivedInterface | undefined {
  const [call] = findCalls(code, "GetOptions");
  if (call === undefined) return undefined;
  const flags = call.ranges.flatMap(([from, to]) => {
    const specification = textOf(readLiteral(code.tokens, [from, from + 1])) ?? "";
    // `=> \@tags` and `=> \%settings` take the option as often as it is given.
    const isList = code.tokens.slice(from + 1, to).some((token) => /^[@%]/u.test(token.text));
    const parameter = toFlag(specification, help, isList);
    return parameter === undefined ? [] : [parameter];
  });
  const readsMore = code.tokens.some((token) => /^[@$]ARGV$/u.test(token.text));
  return {
    commands: [{ parameters: [...flags, ...(readsMore ? help.positionals([]) : [])], separator: "needed" }],
    confidence: "declared",
    source: "Getopt::Long",
  };
}

const specificationForm = /^([\w-]+(?:\|[\w?-]+)*)(?:([=:])([sifo])([@%])?|([!+]))?$/u;

const numberTypes: Readonly<Record<string, "integer" | "number">> = { i: "integer", o: "integer", f: "number" };

function toFlag(specification: string, help: HelpTexts, isList: boolean): Parameter | undefined {
  const [whole, names = "", , type, container, mark] = specificationForm.exec(specification) ?? [];
  const flags = names.split("|").map((name) => (name.length === 1 ? `-${name}` : `--${name}`));
  if (whole === undefined || /^--(?:help|version|man)$/u.test(flags[0] ?? "")) return undefined;
  const text = help.flag(flags);
  if (mark === "+") return toCounter(flags, text.description);
  if (type === undefined) {
    const opposite = mark === "!" ? flags[0]?.replace("--", "--no-") : undefined;
    return switchFlag({ flags, opposite, description: text.description });
  }
  return valueFlag({
    flags,
    type: numberTypes[type],
    description: text.description,
    choices: text.choices,
    default: text.default,
    required: text.required,
    many: container === undefined && !isList ? undefined : "repeat",
    joint: "=",
  });
}

/** `debug+` counts how often it is given. */
function toCounter(flags: readonly string[], description: string | undefined): Parameter {
  const [flag = "", ...aliases] = flags;
  const { property } = switchFlag({ flags }).part;
  return {
    part: { kind: "count", property, flag, ...(aliases.length > 0 && { aliases }) },
    schema: withoutUndefined({ type: "integer", minimum: 0, description }),
    required: false,
  };
}

/** `my $file = shift;` at the top of a script takes its arguments one by one. */
export function withShifts(facts: ArgvFacts, { tokens }: Code): ArgvFacts {
  const positions = new Map<number, PositionFact>(facts.positions);
  let depth = 0;
  let place = 0;
  for (const [index, token] of tokens.entries()) {
    if (isToken(token, "{")) depth += 1;
    if (isToken(token, "}")) depth -= 1;
    if (depth > 0 || !isToken(token, "shift") || !isToken(tokens[index - 1], "=")) continue;
    const name = tokens[index - 2]?.text.replace(/^[$@%]/u, "") ?? "";
    const isOptional = isToken(tokens[index + 1], "||") || isToken(tokens[index + 1], "//");
    positions.set(place, { name, required: !isOptional || isToken(tokens[index + 2], "die") });
    place += 1;
  }
  return place === 0 ? facts : { ...facts, readsArgv: true, positions };
}
