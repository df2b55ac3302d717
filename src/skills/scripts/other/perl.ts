import type { ArgvFacts, PositionFact } from "../arguments/argv-facts.ts";
import type { HelpTexts } from "../arguments/help-texts.ts";
import { findCalls, type Scanned } from "../code/scan.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";

/** Reads `GetOptions("name=s" => \$name, "verbose!" => \$verbose)` of Perl's Getopt::Long. */
export function fromGetoptLong(scanned: Scanned, help: HelpTexts): DerivedInterface | undefined {
  const [call] = findCalls(scanned, /\bGetOptions\s*\(/gu);
  if (call === undefined) return undefined;
  let isOpen = false as boolean;
  const flags = call.args.flatMap(([from, to]): readonly Parameter[] => {
    const specification = scanned.pieces.find(({ kind, start }) => kind === "string" && start === from)?.text;
    // A hash that gets all of them stands first, without a specification; anything else is not known.
    if (specification === undefined) isOpen ||= !/^\\%\w+$/u.test(scanned.code.slice(from, to));
    // `=> \@tags` and `=> \%settings` take the option as often as it is given.
    const isList = /=>\s*\\[@%]/u.test(scanned.code.slice(from, to));
    const parameter = toFlag(specification ?? "", help, isList);
    return parameter === undefined ? [] : [parameter];
  });
  const readsMore = /[@$]ARGV\b/u.test(scanned.code);
  const parameters = [...flags, ...(readsMore ? help.positionals([]) : [])];
  return {
    commands: [{ parameters, separator: "needed", ...(isOpen && { open: true }) }],
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
export function withShifts(facts: ArgvFacts, { code }: Scanned): ArgvFacts {
  const positions = new Map<number, PositionFact>(facts.positions);
  const shifts = Array.from(
    code.matchAll(/^(?:my\s+)?\$(\w+)\s*=\s*shift\b(?:\s*\(?@ARGV\)?)?\s*(\|\||\/\/|or\b)?\s*(die\b)?/gmu),
  );
  for (const [place, [, name = "", otherwise, dies]] of shifts.entries())
    positions.set(place, { name, required: otherwise === undefined || otherwise === "or" || dies !== undefined });
  return shifts.length === 0 ? facts : { ...facts, readsArgv: true, positions };
}
