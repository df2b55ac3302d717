import type { JsonValue } from "../../../core/json.ts";
import { noFacts, type ArgvFacts, type CommandFact, type PositionFact } from "../hand/argv-facts.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ShellArm, ShellCase, ShellLoop, ShellNode } from "./parse-shell.ts";
import { unquote } from "./parse-shell.ts";
import { afterCommand, isHelp, ownDefault } from "./shell-facts.ts";
import { commandsOf, fromGetopts, joinFlags, toFlag, type FoundFlag } from "./shell-flags.ts";
import { endsSoon, leastCount, noBranch, readBranch } from "./shell-tests.ts";
import { allArguments, assignmentsOf, literalOf, mentionsOf, variableOf, type Mention } from "./shell-words.ts";

/** Reads what the code of a shell script says about its arguments. */
export function readShell(nodes: readonly ShellNode[]): ArgvFacts {
  const functions = new Map<string, readonly ShellNode[]>();
  for (const node of nodes) if (node.kind === "function") functions.set(node.name, node.body);
  const defaults = new Map<string, JsonValue>();
  const reader = new ShellReader(functions, defaults, 0);
  reader.read(nodes);
  return reader.toFacts();
}

/** How often a function that gets all arguments is followed into another. */
const deepestCalls = 6;

/** Reads a stretch of commands. Places count from the first argument of the script, whatever was shifted away before. */
class ShellReader {
  readonly #functions: ReadonlyMap<string, readonly ShellNode[]>;
  readonly #defaults: Map<string, JsonValue>;
  readonly #depth: number;
  readonly #positions = new Map<number, PositionFact>();
  readonly #places = new Map<string, number>();
  #flags: FoundFlag[] = [];
  readonly #required = new Set<string>();
  readonly #commands: CommandFact[] = [];
  #offset = 0;
  /** Places that hold the value of a flag. */
  readonly #taken = new Set<number>();
  /** How many of the next `shift`s step over a flag, and not over a place. */
  #skippedShifts = 0;
  #rest: ArgvFacts["rest"];
  #minimum: number | undefined;
  #readsArgv = false;
  #separator = false;
  #flagsLast = false;
  #getopts: { readonly spec: string; readonly variable: string } | undefined;

  constructor(functions: ReadonlyMap<string, readonly ShellNode[]>, defaults: Map<string, JsonValue>, depth: number) {
    this.#functions = functions;
    this.#defaults = defaults;
    this.#depth = depth;
  }

  toFacts(): ArgvFacts {
    const flags = joinFlags(this.#flags).map(({ fact, variable }) => {
      const isNeeded =
        variable !== undefined && this.#required.has(variable) && fact.takesValue && fact.default === undefined;
      return isNeeded ? { ...fact, required: true as const } : fact;
    });
    return withoutUndefined<ArgvFacts>({
      readsArgv: this.#readsArgv,
      positions: this.#positions,
      rest: this.#rest,
      minimum: this.#minimum,
      flags,
      commands: this.#commands,
      flagsLast: this.#flagsLast ? true : undefined,
      separator: this.#separator ? true : undefined,
    });
  }

  read(nodes: readonly ShellNode[]): void {
    for (const [index, node] of nodes.entries()) {
      if (node.kind === "command") this.#readCommand(node.words, nodes.slice(index + 1, index + 7));
      else if (node.kind === "case") this.#readCase(node);
      else if (node.kind === "loop") this.#readLoop(node);
    }
  }

  #readCommand(words: readonly string[], following: readonly ShellNode[]): void {
    const [first = ""] = words;
    if (first === "shift") {
      this.#readsArgv = true;
      return this.#shift(words[1] ?? "1");
    }
    if (first === "[" || first === "[[" || first === "test" || first.startsWith("(("))
      return this.#readTest(words, following);
    for (const { name, value, adds } of assignmentsOf(words)) this.#readAssignment(name, value, adds);
    if (assignmentsOf(words).length === 0) this.#readUse(words);
  }

  #shift(count: string): void {
    if (this.#skippedShifts > 0) {
      this.#skippedShifts -= 1;
      return;
    }
    // `shift $((OPTIND-1))` drops the flags; the places of what is left count from the start again.
    if (count.includes("OPTIND")) this.#offset = 0;
    else this.#offset += /^\d+$/u.test(count) ? Number(count) : 1;
  }

  #readAssignment(name: string, value: string, adds: boolean): void {
    const mentions = mentionsOf(value);
    if (mentions.length === 1 && mentions[0] !== undefined) {
      this.#note(mentions[0], name);
      this.#places.set(name, this.#offset + mentions[0].place - 1);
    } else for (const mention of mentions) this.#note(mention);
    const inner = value.replace(/^\((.*)\)$/su, "$1");
    const all = allArguments(inner);
    if (all !== undefined) this.#noteRest(all.from, name);
    else if (/\$[@*]|\$\{[@*]/u.test(value)) this.#noteRest(0, name);
    const literal = adds ? undefined : (literalOf(value) ?? ownDefault(name, value));
    if (literal !== undefined && !this.#defaults.has(name)) this.#defaults.set(name, literal);
    const source = variableOf(value);
    const place = source === undefined ? undefined : this.#places.get(source);
    if (place !== undefined) this.#places.set(name, place);
  }

  #note({ place, operator, text }: Mention, name?: string): void {
    this.#readsArgv = true;
    const index = this.#offset + place - 1;
    if (this.#taken.has(index)) return;
    const before = this.#positions.get(index) ?? {};
    const fallback = operator === "-" ? literalOf(text ?? "") : undefined;
    const required = operator === "?" ? true : operator === undefined && before.required !== false;
    this.#positions.set(
      index,
      withoutUndefined<PositionFact>({
        ...before,
        name: before.name ?? (name === undefined ? undefined : name.toLowerCase()),
        default: before.default ?? fallback,
        required: before.required === true && operator !== "?" ? true : required,
      }),
    );
  }

  #noteRest(from: number, name?: string): void {
    this.#readsArgv = true;
    this.#rest ??= withoutUndefined<NonNullable<ArgvFacts["rest"]>>({
      from: this.#offset + from,
      name: name?.toLowerCase(),
    });
  }

  /** A command that is neither a test nor an assignment. */
  #readUse(words: readonly string[]): void {
    const [first = "", ...others] = words;
    if (first === ":") return this.#readDemand(others);
    const all = words.map(allArguments).find((found) => found !== undefined);
    const body = this.#functions.get(first);
    if (all !== undefined && body !== undefined && this.#depth < deepestCalls) return this.#follow(body, all.from);
    if (first === "set" && words.includes("--")) return;
    if (all !== undefined) this.#noteRest(all.from);
    for (const word of words) for (const mention of mentionsOf(word)) this.#note(mention);
  }

  /** `: "${NAME:?message}"` */
  #readDemand(words: readonly string[]): void {
    for (const word of words) {
      for (const mention of mentionsOf(word)) this.#note(mention);
      const name = /\$\{([A-Za-z_]\w*):?\?/u.exec(word)?.[1];
      if (name !== undefined) this.#demand(name);
    }
  }

  #demand(name: string): void {
    this.#required.add(name);
    const place = this.#places.get(name);
    const before = place === undefined ? undefined : this.#positions.get(place);
    if (place !== undefined && before?.default === undefined) this.#positions.set(place, { ...before, required: true });
  }

  /** Reads a function that gets all arguments as if its commands stood here. */
  #follow(body: readonly ShellNode[], from: number): void {
    const reader = new ShellReader(this.#functions, this.#defaults, this.#depth + 1);
    reader.#offset = this.#offset + from;
    reader.read(body);
    this.#take(reader);
  }

  #take(reader: ShellReader): void {
    for (const [place, fact] of reader.#positions)
      this.#positions.set(place, { ...fact, ...this.#positions.get(place) });
    for (const [name, place] of reader.#places) this.#places.set(name, place);
    for (const name of reader.#required) this.#required.add(name);
    this.#flags.push(...reader.#flags);
    this.#commands.push(...reader.#commands);
    this.#rest ??= reader.#rest;
    this.#minimum ??= reader.#minimum;
    this.#readsArgv ||= reader.#readsArgv;
    this.#separator ||= reader.#separator;
    this.#flagsLast ||= reader.#flagsLast;
  }

  #readTest(words: readonly string[], following: readonly ShellNode[]): void {
    const text = words.join(" ");
    if (/\$#|\$\{#\}/u.test(text)) {
      this.#readsArgv = true;
      const least = leastCount(text);
      if (least !== undefined && endsSoon(following)) this.#minimum ??= this.#offset + least;
      return;
    }
    const empty = /(?:-z|!)\s+"?\$\{?(\w+)/u.exec(text)?.[1];
    if (empty !== undefined && endsSoon(following)) return this.#demandEmpty(empty);
    this.#readComparison(text, words, following);
  }

  #demandEmpty(name: string): void {
    if (!/^\d/u.test(name)) return this.#demand(name);
    this.#note({ place: Number(name), operator: "?" });
  }

  /** `[ "$1" = "--json" ]`, `[ "$cmd" == "list" ]` */
  #readComparison(text: string, words: readonly string[], following: readonly ShellNode[]): void {
    const index = words.findIndex((word) => word === "=" || word === "==");
    const left = words[index - 1] ?? "";
    const right = unquote(words[index + 1] ?? "");
    const [mention] = mentionsOf(left);
    const variable = variableOf(left);
    const place = mention === undefined ? this.#places.get(variable ?? "") : this.#offset + mention.place - 1;
    if (index === -1 || (place === undefined && !/^(?:arg|a|opt|i|param)$/u.test(variable ?? ""))) {
      for (const found of mentionsOf(text)) this.#note({ ...found, operator: found.operator ?? "+" });
      return;
    }
    this.#readsArgv = true;
    if (/^--?[A-Za-z]/u.test(right)) this.#addCompared(right, { place, mention, following });
    else if (place === 0 && /^[A-Za-z][\w:-]*$/u.test(right)) this.#addCommand([right], noFacts);
  }

  /** `[ "$1" = "--tag" ] && TAG="$2"`: a value that is read right after belongs to the flag, and so does its `shift`. */
  #addCompared(flag: string, { place, mention, following }: Compared): void {
    if ((place ?? 0) > 0) this.#flagsLast = true;
    const { variable, value, shifts } = mention === undefined ? noBranch : readBranch(following, mention.place + 1);
    this.#skippedShifts += shifts;
    if (value && mention !== undefined) this.#taken.add(this.#offset + mention.place);
    const fact = { flags: [flag], takesValue: value };
    this.#flags.push(withoutUndefined<FoundFlag>({ fact, variable: value ? variable : undefined }));
  }

  #addCommand(names: readonly string[], facts: ArgvFacts): void {
    if (this.#commands.some((command) => command.names[0] === names[0])) return;
    this.#commands.push({ names, facts });
  }

  #readLoop({ head, body }: ShellLoop): void {
    const words = [...commandsOf(head)].flat();
    const getopts = words.indexOf("getopts");
    if (getopts !== -1) {
      this.#getopts = { spec: unquote(words[getopts + 1] ?? ""), variable: words[getopts + 2] ?? "opt" };
      this.#readsArgv = true;
      this.#separator = true;
    }
    const isOverAll = words[0] === "for" && words.slice(3).some((word) => allArguments(word) !== undefined);
    const isOverRest = words[0] !== "for" && words.some((word) => word.includes("$#") || /\$\{?1/u.test(word));
    if (isOverAll) return this.#readForEach(words[1] ?? "", body);
    if (!isOverRest && getopts === -1) return this.read(body);
    this.#readsArgv = true;
    const offset = this.#offset;
    if (this.#positions.size > 0) this.#flagsLast = true;
    this.read(body);
    // A loop shifts all of them away, one by one.
    this.#offset = getopts === -1 ? offset : 0;
  }

  /** `for arg in "$@"`: either flags are picked out, or each argument is used. */
  #readForEach(name: string, body: readonly ShellNode[]): void {
    this.#readsArgv = true;
    const before = this.#flags.length;
    if (this.#positions.size > 0) this.#flagsLast = true;
    this.#places.set(name, -1);
    this.read(body);
    if (this.#flags.length === before) this.#noteRest(0, name === "arg" || name === "a" ? undefined : name);
  }

  #readCase({ subject, arms }: ShellCase): void {
    const variable = variableOf(subject);
    if (this.#getopts !== undefined && variable === this.#getopts.variable) {
      this.#flags.push(...fromGetopts(this.#getopts.spec, arms, this.#defaults));
      return;
    }
    const [mention] = mentionsOf(subject);
    const place = mention === undefined ? this.#places.get(variable ?? "") : this.#offset + mention.place - 1;
    if (place === undefined) {
      for (const arm of arms) this.read(arm.body);
      return;
    }
    this.#readsArgv = true;
    if (arms.some(({ patterns }) => patterns.some((pattern) => /^--?[A-Za-z]/u.test(pattern) && !isHelp(pattern)))) {
      this.#readFlagArms(arms);
    } else if (place <= 0) this.#readCommandArms(arms);
    else if (mention !== undefined) this.#note({ ...mention, operator: mention.operator ?? "+" });
  }

  #readFlagArms(arms: readonly ShellArm[]): void {
    for (const arm of arms) {
      if (arm.patterns.every(isHelp)) continue;
      if (arm.patterns.includes("--")) this.#separator = true;
      const flag = toFlag(arm, this.#defaults);
      if (flag !== undefined) this.#flags.push(flag);
      else if (arm.patterns.includes("*") || arm.patterns.includes("?*")) this.#readPlainArm(arm);
      else if (arm.patterns.every((pattern) => /^[A-Za-z][\w:-]*$/u.test(pattern)))
        this.#addCommand(arm.patterns, noFacts);
    }
  }

  /** The arm for what is not a flag: `*) INPUT="$1"` or `*) FILES+=("$1")`. */
  #readPlainArm({ body }: ShellArm): void {
    let index = 0;
    for (const words of commandsOf(body)) {
      for (const { name, value, adds } of assignmentsOf(words)) {
        if (!/\$\{?1\b/u.test(value) && !/\$\{?(?:arg|a|i)\b/u.test(value)) continue;
        if (adds) this.#rest ??= { from: index, name: name.toLowerCase() };
        else {
          this.#places.set(name, index);
          this.#positions.set(
            index,
            withoutUndefined<PositionFact>({ name: name.toLowerCase(), default: this.#defaults.get(name) }),
          );
          index += 1;
        }
      }
    }
    this.#flagsLast = false;
  }

  #readCommandArms(arms: readonly ShellArm[]): void {
    for (const { patterns, body } of arms) {
      const names = patterns.filter((pattern) => /^[A-Za-z][\w:.-]*$/u.test(pattern));
      if (names.length === 0 || names.some((name) => name === "help")) continue;
      const reader = new ShellReader(this.#functions, this.#defaults, this.#depth + 1);
      reader.#offset = this.#offset;
      if (reader.#depth <= deepestCalls) reader.read(body);
      this.#addCommand(names, afterCommand(reader.toFacts()));
    }
  }
}

/** A comparison of an argument with a flag. */
interface Compared {
  readonly place: number | undefined;
  readonly mention: Mention | undefined;
  readonly following: readonly ShellNode[];
}
