import {
  noArguments,
  opaqueArguments,
  toInputParameter,
  withInput,
  type DerivedCommand,
  type DerivedInterface,
} from "../derived-interface.ts";
import type { CommandLine, Parameter } from "../parameter.ts";
import { readUsage, type UsageFacts } from "../usage/read-usage.ts";
import type { Synopsis, UsageFlag, UsagePositional } from "../usage/synopsis.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ArgvFacts, StdinFact } from "./argv-facts.ts";
import { mergeFlags } from "./merge-flags.ts";
import { mergePositionals } from "./merge-positionals.ts";
import { pickCommands, type CommandGroup } from "./pick-commands.ts";

/** What there is to go by when a script handles its arguments by hand. */
export interface ManualSources {
  readonly fileName: string;
  readonly facts: ArgvFacts;
  /** Comments, strings and here-documents of the script. */
  readonly texts: readonly string[];
  /** Tells whether a text stands in the code as a string of its own. */
  isWord(text: string): boolean;
}

/** Derives the interface of a script from its code and from what its texts say about how it is called. */
export function deriveManualInterface({ fileName, facts: seen, texts, isWord }: ManualSources): DerivedInterface {
  const facts = withToldInput(seen, texts);
  const sure = facts.flags.filter(({ unsure }) => unsure !== true);
  const byFlag = new Map(sure.flatMap((fact) => fact.flags.map((flag) => [flag, fact.takesValue] as const)));
  const usage = readUsage(texts, fileName, (flag) => byFlag.get(flag));
  const groups = pickCommands(usage, facts, isWord);
  if (groups !== undefined && groups.length > 0) {
    const tellsFlags = groups.some(({ synopses }) => synopses.some((synopsis) => flagNames(synopsis).length > 0));
    const commands = groups.map((group) => toCommand(group, usage, { facts, tellsFlags }));
    return {
      commands,
      confidence: "usage",
      source: usage.synopses.length > 0 || usage.commands.length > 0 ? "usage text" : "code",
    };
  }
  return deriveWhole(withChoices(facts), usage);
}

/** `- reads standard input`, `or from stdin` */
const tellsInput =
  /(?:^|[\s(|[`'"<])-[`'">\])]*\s{0,4}(?:=|:|for|means?|is|reads?|to read|as|→|->)?\s{0,4}(?:from |the ){0,2}(?:stdin|standard input)\b|\b(?:reads?|or|from|via|on|use)\s+(?:from |the ){0,2}(?:stdin|standard input)\b/iu;

/** A script whose texts say that it reads standard input, in place of a file, is taken at its word. */
function withToldInput(facts: ArgvFacts, texts: readonly string[]): ArgvFacts {
  if (facts.stdin !== undefined || !facts.readsArgv || !texts.some((text) => tellsInput.test(text))) return facts;
  return { ...facts, stdin: { as: "text", fields: [] } };
}

function deriveWhole(facts: ArgvFacts, usage: UsageFacts): DerivedInterface {
  const hasUsage = usage.synopses.some((synopsis) => synopsis.items.length > 0);
  const isKnown = hasUsage || facts.positions.size > 0 || facts.flags.length > 0;
  const examples = !hasUsage && facts.readsArgv ? usage.calls : [];
  const synopses = hasUsage ? usage.synopses : examples;
  // A table of options by itself may be about anything; it counts only where the script does look at its arguments.
  const rows = facts.readsArgv || hasUsage ? usage.options : [];
  if (!isKnown && rows.length === 0 && synopses.length === 0) return deriveUnknown(facts);
  const line = toLine(synopses, { facts, usage: { ...usage, options: rows } });
  if (line.parameters.length === 0) return deriveUnknown(facts);
  return {
    commands: [{ ...line, parameters: [...line.parameters, ...inputOf(facts)] }],
    confidence: "usage",
    source: hasUsage ? "usage line" : "code",
  };
}

/** The parameter for standard input of a script that takes arguments as well. */
function inputOf({ stdin }: ArgvFacts): readonly Parameter[] {
  return stdin === undefined ? [] : [toInputParameter(stdin, false)];
}

function deriveUnknown({ readsArgv, stdin }: ArgvFacts): DerivedInterface {
  if (stdin === undefined) return readsArgv ? opaqueArguments() : noArguments();
  return readsArgv ? withInput(opaqueArguments(), stdin) : deriveStdin(stdin);
}

/** The interface of a script that takes all of its input from standard input. */
function deriveStdin(input: StdinFact): DerivedInterface {
  const { as, isList, fields } = input;
  if (as === "text" || isList === true) {
    const source = as === "text" ? "standard input" : "JSON on standard input";
    return { commands: [{ parameters: [toInputParameter(input, true)] }], confidence: "usage", source };
  }
  const parameters = fields.map((field): Parameter => ({
    part: { kind: "field", property: field.name },
    // Nothing in the code says of which type a key is.
    schema: withoutUndefined({ default: field.default }),
    required: field.required,
  }));
  return {
    // What is not seen to be an object may be anything.
    commands: [{ parameters: fields.length > 0 ? parameters : [toInputParameter(input, false)], otherFields: true }],
    confidence: fields.length > 0 ? "usage" : "opaque",
    source: "JSON on standard input",
  };
}

/** Commands that are told as choices of the first parameter. */
function withChoices(facts: ArgvFacts): ArgvFacts {
  const choices = facts.commands
    .flatMap(({ names }) => names)
    .filter((name) => /^[\w:.-]+$/u.test(name) && !name.startsWith("-"));
  if (choices.length < 2) return facts;
  const first = facts.positions.get(0) ?? {};
  return { ...facts, positions: new Map([...facts.positions, [0, { ...first, choices }]]) };
}

function toCommand(group: CommandGroup, usage: UsageFacts, whole: WholeFacts): DerivedCommand {
  const { minimum: _, rest: __, ...shape } = whole.facts;
  const own = hasOwn(group) ? { ...shape, ...group.facts } : shiftFacts(whole.facts);
  const named = new Set(group.synopses.flatMap((synopsis) => flagNames(synopsis)));
  const isNamed = (item: { readonly flags: readonly string[] }): boolean => item.flags.some((flag) => named.has(flag));
  // Where usage lines tell which flags a command has, it has no others; where they do not, it may have all of them.
  const isTold = group.synopses.length > 0 && whole.tellsFlags;
  const shared = isTold ? whole.facts.flags.filter(isNamed) : whole.facts.flags;
  const line = toLine(group.synopses, {
    facts: { ...own, flags: [...group.facts.flags, ...shared] },
    usage: { ...usage, options: isTold ? usage.options.filter(isNamed) : usage.options },
  });
  const parameters = [...line.parameters, ...inputOf(whole.facts)];
  return {
    ...line,
    parameters,
    words: group.words,
    ...(group.description !== undefined && { description: group.description }),
  };
}

interface WholeFacts {
  readonly facts: ArgvFacts;
  /** The usage lines of the commands have flags in them. */
  readonly tellsFlags: boolean;
}

function hasOwn({ facts, synopses }: CommandGroup): boolean {
  return facts.readsArgv || facts.positions.size > 0 || facts.flags.length > 0 || synopses.length > 0;
}

/** What the whole script reads, seen from after the command's name. */
function shiftFacts(facts: ArgvFacts): ArgvFacts {
  const positions = [...facts.positions].filter(([place]) => place > 0);
  const { minimum: _, rest, ...others } = facts;
  return {
    ...others,
    positions: new Map(positions.map(([place, fact]) => [place - 1, { ...fact, required: false }])),
    ...(rest !== undefined && { rest: { ...rest, from: Math.max(0, rest.from - 1) } }),
  };
}

interface LineSources {
  readonly facts: ArgvFacts;
  readonly usage: UsageFacts;
}

function toLine(synopses: readonly Synopsis[], { facts, usage }: LineSources): CommandLine {
  const positionals = mergePositionals({
    lines: synopses.map(({ items }) => items.filter((item): item is UsagePositional => item.kind === "positional")),
    facts,
    rows: usage.arguments,
  });
  const flags = mergeFlags({
    lines: synopses.map(({ items }) => items.filter((item): item is UsageFlag => item.kind === "flag")),
    facts: facts.flags,
    rows: usage.options,
  });
  const hasSeparator = synopses.some((synopsis) => synopsis.separator);
  const separator = hasSeparator ? "always" : facts.separator && !facts.flagsLast ? "needed" : undefined;
  return {
    parameters: facts.flagsLast ? [...positionals, ...flags] : [...flags, ...positionals],
    ...(separator !== undefined && { separator }),
  };
}

function flagNames(synopsis: Synopsis): readonly string[] {
  return synopsis.items.flatMap((item) => (item.kind === "flag" ? item.flags : []));
}
