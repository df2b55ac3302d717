import type { JsonValue } from "../../../core/json.ts";
import { noFacts, type ArgvFacts, type PositionFact } from "../arguments/argv-facts.ts";
import { withoutUndefined } from "../without-undefined.ts";
import {
  emptyWord,
  unquote,
  type Mention,
  type ShellArm,
  type ShellCase,
  type ShellLoop,
  type ShellNode,
  type ShellWord,
} from "./parse-shell.ts";
import { commandsOf, fromGetopts, isHelp, toFlag, type FoundFlag } from "./shell-flags.ts";
import { ShellNotes } from "./shell-notes.ts";
import { endsSoon, leastCount, noBranch, readBranch } from "./shell-tests.ts";
import { allArguments, assignmentsOf, literalOf, ownDefault, variableOf, type Assignment } from "./shell-words.ts";

/** Reads what the code of a shell script says about its arguments. */
export function readShell(nodes: readonly ShellNode[]): ArgvFacts {
  const functions = new Map<string, readonly ShellNode[]>();
  for (const node of nodes) if (node.kind === "function") functions.set(node.name, node.body);
  const defaults = new Map<string, JsonValue>();
  const reader = new ShellReader({ functions, defaults });
  reader.read(nodes);
  return reader.notes.toFacts();
}

/** How often a function that gets all arguments is followed into another. */
const deepestCalls = 6;

/** Reads a stretch of commands. */
class ShellReader {
  readonly notes: ShellNotes;
  readonly #functions: ReadonlyMap<string, readonly ShellNode[]>;
  readonly #defaults: Map<string, JsonValue>;
  readonly #depth: number;
  #getopts: { readonly spec: string; readonly variable: string } | undefined;

  constructor({ functions, defaults, depth = 0, offset = 0 }: Surroundings) {
    this.#functions = functions;
    this.#defaults = defaults;
    this.#depth = depth;
    this.notes = new ShellNotes(offset);
  }

  /** A reader for commands that stand inside of others, with the first `shifted` arguments gone. */
  #readerInside(shifted: number): ShellReader {
    return new ShellReader({
      functions: this.#functions,
      defaults: this.#defaults,
      depth: this.#depth + 1,
      offset: this.notes.offset + shifted,
    });
  }

  read(nodes: readonly ShellNode[]): void {
    for (const [index, node] of nodes.entries()) {
      if (node.kind === "command") this.#readCommand(node.words, nodes.slice(index + 1, index + 7));
      else if (node.kind === "case") this.#readCase(node);
      else if (node.kind === "loop") this.#readLoop(node);
    }
  }

  #readCommand(words: readonly ShellWord[], following: readonly ShellNode[]): void {
    const first = words[0]?.text ?? "";
    if (first === "shift") return this.notes.shift(words[1]?.text ?? "1");
    if (first === "[" || first === "[[" || first === "test" || first.startsWith("(("))
      return this.#readTest(words, following);
    for (const assignment of assignmentsOf(words)) this.#readAssignment(assignment);
    if (assignmentsOf(words).length === 0) this.#readUse(words);
  }

  #readAssignment({ name, value: { text: value, mentions }, adds }: Assignment): void {
    if (mentions.length === 1 && mentions[0] !== undefined) {
      this.notes.note(mentions[0], name);
      this.notes.places.set(name, this.notes.placeOf(mentions[0]));
    } else for (const mention of mentions) this.notes.note(mention);
    const inner = value.replace(/^\((.*)\)$/su, "$1");
    const all = allArguments(inner);
    if (all !== undefined) this.notes.noteRest(all.from, name);
    else if (/\$[@*]|\$\{[@*]/u.test(value)) this.notes.noteRest(0, name);
    const literal = adds ? undefined : (literalOf(value) ?? ownDefault(name, value));
    if (literal !== undefined && !this.#defaults.has(name)) this.#defaults.set(name, literal);
    const source = variableOf(value);
    const place = source === undefined ? undefined : this.notes.places.get(source);
    if (place !== undefined) this.notes.places.set(name, place);
  }

  /** A command that is neither a test nor an assignment. */
  #readUse(words: readonly ShellWord[]): void {
    const first = words[0]?.text ?? "";
    if (first === ":") return this.#readDemand(words.slice(1));
    const all = words.map(({ text }) => allArguments(text)).find((found) => found !== undefined);
    const body = this.#functions.get(first);
    if (all !== undefined && body !== undefined && this.#depth < deepestCalls) return this.#follow(body, all.from);
    if (first === "set" && words.some(({ text }) => text === "--")) return;
    if (all !== undefined) this.notes.noteRest(all.from);
    for (const { mentions } of words) for (const mention of mentions) this.notes.note(mention);
  }

  /** `: "${NAME:?message}"` */
  #readDemand(words: readonly ShellWord[]): void {
    for (const { text, mentions } of words) {
      for (const mention of mentions) this.notes.note(mention);
      const name = /\$\{([A-Za-z_]\w*):?\?/u.exec(text)?.[1];
      if (name !== undefined) this.notes.demand(name);
    }
  }

  /** Reads a function that gets all arguments as if its commands stood here. */
  #follow(body: readonly ShellNode[], from: number): void {
    const reader = this.#readerInside(from);
    reader.read(body);
    this.notes.take(reader.notes);
  }

  #readTest(words: readonly ShellWord[], following: readonly ShellNode[]): void {
    const text = words.map((word) => word.text).join(" ");
    if (/\$#|\$\{#\}/u.test(text)) {
      this.notes.readsArgv = true;
      const least = leastCount(text);
      if (least !== undefined && endsSoon(following)) this.notes.minimum ??= this.notes.offset + least;
      return;
    }
    const empty = /(?:-z|!)\s+"?\$\{?(\w+)/u.exec(text)?.[1];
    if (empty !== undefined && endsSoon(following)) return this.#demandEmpty(empty);
    this.#readComparison(words, following);
  }

  #demandEmpty(name: string): void {
    if (!/^\d/u.test(name)) return this.notes.demand(name);
    this.notes.note({ place: Number(name), operator: "?" });
  }

  /** `[ "$1" = "--json" ]`, `[ "$cmd" == "list" ]` */
  #readComparison(words: readonly ShellWord[], following: readonly ShellNode[]): void {
    const index = words.findIndex(({ text }) => text === "=" || text === "==");
    const left = words[index - 1] ?? emptyWord;
    const right = unquote(words[index + 1]?.text ?? "");
    const [mention] = left.mentions;
    const variable = variableOf(left.text) ?? "";
    const place = mention === undefined ? this.notes.places.get(variable) : this.notes.placeOf(mention);
    if (index === -1 || (place === undefined && !/^(?:arg|a|opt|i|param)$/u.test(variable))) {
      for (const found of words.flatMap(({ mentions }) => mentions))
        this.notes.note({ ...found, operator: found.operator ?? "+" });
      return;
    }
    this.notes.readsArgv = true;
    if (/^--?[A-Za-z]/u.test(right)) this.#addCompared(right, { place, mention, following });
    else if (place === 0 && /^[A-Za-z][\w:-]*$/u.test(right)) this.notes.addCommand([right], noFacts);
  }

  /** `[ "$1" = "--tag" ] && TAG="$2"`: a value that is read right after belongs to the flag, and so does its `shift`. */
  #addCompared(flag: string, { place, mention, following }: Compared): void {
    if ((place ?? 0) > 0) this.notes.flagsLast = true;
    const { variable, value, shifts } = mention === undefined ? noBranch : readBranch(following, mention.place + 1);
    this.notes.skipShifts(shifts);
    if (value && mention !== undefined) this.notes.takeValueAfter(mention);
    const fact = { flags: [flag], takesValue: value };
    this.notes.flags.push(withoutUndefined<FoundFlag>({ fact, variable: value ? variable : undefined }));
  }

  #readLoop({ head, body }: ShellLoop): void {
    const words = [...commandsOf(head)].flat().map(({ text }) => text);
    const getopts = words.indexOf("getopts");
    if (getopts !== -1) {
      this.#getopts = { spec: unquote(words[getopts + 1] ?? ""), variable: words[getopts + 2] ?? "opt" };
      this.notes.readsArgv = true;
      this.notes.separator = true;
    }
    const isOverAll = words[0] === "for" && words.slice(3).some((word) => allArguments(word) !== undefined);
    const isOverRest = words[0] !== "for" && words.some((word) => word.includes("$#") || /\$\{?1/u.test(word));
    if (isOverAll) return this.#readForEach(words[1] ?? "", body);
    if (!isOverRest && getopts === -1) return this.read(body);
    this.notes.readsArgv = true;
    const offset = this.notes.offset;
    if (this.notes.positions.size > 0) this.notes.flagsLast = true;
    this.read(body);
    // A loop shifts all of them away, one by one.
    this.notes.offset = getopts === -1 ? offset : 0;
  }

  /** `for arg in "$@"`: either flags are picked out, or each argument is used. */
  #readForEach(name: string, body: readonly ShellNode[]): void {
    this.notes.readsArgv = true;
    const before = this.notes.flags.length;
    if (this.notes.positions.size > 0) this.notes.flagsLast = true;
    this.notes.places.set(name, -1);
    this.read(body);
    if (this.notes.flags.length === before) this.notes.noteRest(0, name === "arg" || name === "a" ? undefined : name);
  }

  #readCase({ subject, arms }: ShellCase): void {
    const variable = variableOf(subject.text);
    if (this.#getopts !== undefined && variable === this.#getopts.variable) {
      this.notes.flags.push(...fromGetopts(this.#getopts.spec, arms, this.#defaults));
      return;
    }
    const [mention] = subject.mentions;
    const place = mention === undefined ? this.notes.places.get(variable ?? "") : this.notes.placeOf(mention);
    if (place === undefined) {
      for (const arm of arms) this.read(arm.body);
      return;
    }
    this.notes.readsArgv = true;
    if (arms.some(({ patterns }) => patterns.some((pattern) => /^--?[A-Za-z]/u.test(pattern) && !isHelp(pattern)))) {
      this.#readFlagArms(arms);
    } else if (place <= 0) this.#readCommandArms(arms);
    else if (mention !== undefined) this.notes.note({ ...mention, operator: mention.operator ?? "+" });
  }

  #readFlagArms(arms: readonly ShellArm[]): void {
    for (const arm of arms) {
      if (arm.patterns.every(isHelp)) continue;
      if (arm.patterns.includes("--")) this.notes.separator = true;
      const flag = toFlag(arm, this.#defaults);
      if (flag !== undefined) this.notes.flags.push(flag);
      else if (arm.patterns.includes("*") || arm.patterns.includes("?*")) this.#readPlainArm(arm);
      else if (arm.patterns.every((pattern) => /^[A-Za-z][\w:-]*$/u.test(pattern)))
        this.notes.addCommand(arm.patterns, noFacts);
    }
  }

  /** The arm for what is not a flag: `*) INPUT="$1"` or `*) FILES+=("$1")`. */
  #readPlainArm({ body }: ShellArm): void {
    let index = 0;
    for (const words of commandsOf(body)) {
      for (const { name, value, adds } of assignmentsOf(words)) {
        if (!/\$\{?(?:1|arg|a|i)\b/u.test(value.text)) continue;
        if (adds) this.notes.rest ??= { from: index, name: name.toLowerCase() };
        else {
          this.notes.places.set(name, index);
          this.notes.positions.set(
            index,
            withoutUndefined<PositionFact>({ name: name.toLowerCase(), default: this.#defaults.get(name) }),
          );
          index += 1;
        }
      }
    }
    this.notes.flagsLast = false;
  }

  #readCommandArms(arms: readonly ShellArm[]): void {
    for (const { patterns, body } of arms) {
      const names = patterns.filter((pattern) => /^[A-Za-z][\w:.-]*$/u.test(pattern));
      if (names.length === 0 || names.some((name) => name === "help")) continue;
      const reader = this.#readerInside(0);
      if (reader.#depth <= deepestCalls) reader.read(body);
      this.notes.addCommand(names, afterCommand(reader.notes.toFacts()));
    }
  }
}

/** What commands stand in. */
interface Surroundings {
  readonly functions: ReadonlyMap<string, readonly ShellNode[]>;
  /** What variables are set to before they are used; shared, and added to. */
  readonly defaults: Map<string, JsonValue>;
  readonly depth?: number;
  /** How many arguments were shifted away. */
  readonly offset?: number;
}

/** A comparison of an argument with a flag. */
interface Compared {
  readonly place: number | undefined;
  readonly mention: Mention | undefined;
  readonly following: readonly ShellNode[];
}

/** The facts of a sub-command, seen from after its name. */
function afterCommand(facts: ArgvFacts): ArgvFacts {
  const positions = [...facts.positions]
    .filter(([place]) => place > 0)
    .map(([place, fact]) => [place - 1, fact] as const);
  return withoutUndefined<ArgvFacts>({
    ...facts,
    positions: new Map(positions),
    rest: facts.rest === undefined ? undefined : { ...facts.rest, from: Math.max(0, facts.rest.from - 1) },
    minimum: facts.minimum === undefined ? undefined : Math.max(0, facts.minimum - 1),
  });
}
