import type { JsonValue } from "../../core/json.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { ReadArgv } from "../../core/script-code.ts";
import type { ArgvMapping, ChoicePart, CountPart, FlagPart, PositionalPart } from "./argv-mapping.ts";
import { fromWord } from "./parameter.ts";

type Option = FlagPart | ChoicePart | CountPart;

/** Turns a command line back into the input that it means: the inverse of `toArgv`. */
export function fromArgv(mapping: ArgvMapping, inputSchema: JsonSchema, argv: readonly string[]): ReadArgv {
  const reader = new ArgvReader(mapping, inputSchema, argv);
  reader.read();
  return { input: reader.input, unknownFlags: reader.unknownFlags, unknownWords: reader.unknownWords };
}

class ArgvReader {
  readonly input: Record<string, JsonValue> = {};
  readonly unknownFlags: string[] = [];
  readonly unknownWords: string[] = [];
  readonly #options: ReadonlyMap<string, Option>;
  readonly #positionals: readonly PositionalPart[];
  readonly #schema: JsonSchema;
  readonly #words: readonly string[];
  readonly #takesSeparator: boolean;
  readonly #takesOtherFlags: boolean;
  readonly #pending: string[];
  readonly #plain: string[] = [];

  constructor(mapping: ArgvMapping, inputSchema: JsonSchema, argv: readonly string[]) {
    this.#options = toOptions(mapping);
    this.#positionals = mapping.parts.filter((part) => part.kind === "positional");
    this.#words = mapping.parts.filter((part) => part.kind === "word").map((part) => part.word);
    this.#schema = isSchemaObject(inputSchema["properties"]) ? inputSchema["properties"] : {};
    this.#takesSeparator = mapping.separator !== undefined;
    this.#takesOtherFlags = mapping.otherFlags === true;
    // Reversed, so that taking the next word is cheap.
    this.#pending = argv.toReversed();
  }

  read(): void {
    const words = [...this.#words];
    for (let word = this.#pending.pop(); word !== undefined; word = this.#pending.pop()) {
      if (word === "--" && this.#takesSeparator) this.#plain.push(...this.#pending.splice(0).toReversed());
      else if (this.#readOption(word)) continue;
      else if (words.length > 0 && word === words[0]) words.shift();
      else if (word.startsWith("-") && word.length > 1 && !/^-\d/u.test(word) && !this.#takesAnyWord())
        this.unknownFlags.push(word);
      else this.#plain.push(word);
    }
    this.#readPositionals();
  }

  /** A script that only passes its words on takes flags as words too. */
  #takesAnyWord(): boolean {
    return this.#options.size === 0 && this.#positionals.some((part) => part.many);
  }

  #readOption(word: string): boolean {
    const whole = this.#options.get(word);
    if (whole !== undefined) {
      this.#readWhole(whole, word);
      return true;
    }
    const [, flag = "", joint = "", value = ""] = /^(--?[^=:\s]+)([=:])(.*)$/su.exec(word) ?? [];
    const joined = this.#options.get(flag);
    if (joined?.kind === "flag" && joint !== "") {
      this.#put(joined, value);
      return true;
    }
    return this.#readShortOptions(word) || this.#readOtherFlag(word);
  }

  /** `--name=value`, `--name value`, `--name` of a script that may take more flags than are known. */
  #readOtherFlag(word: string): boolean {
    const [, property, joined] = /^--([A-Za-z][\w.-]*)(?:=(.*))?$/su.exec(word) ?? [];
    if (!this.#takesOtherFlags || property === undefined || this.#takesAnyWord()) return false;
    const next = this.#pending.at(-1);
    const isAlone = joined === undefined && (next === undefined || this.#isOption(next));
    this.input[property] = isAlone ? true : (joined ?? this.#pending.pop() ?? "");
    return true;
  }

  /** `-abc` is `-a -b -c` where each of them is known; `-n5` is `-n 5`. */
  #readShortOptions(word: string): boolean {
    if (!/^-[A-Za-z]./u.test(word)) return false;
    const first = this.#options.get(word.slice(0, 2));
    if (first?.kind === "flag") {
      this.#put(first, word.slice(2));
      return true;
    }
    const flags = Array.from(word.slice(1), (letter) => `-${letter}`);
    const options = flags.map((flag) => this.#options.get(flag));
    if (options.some((option) => option === undefined || option.kind === "flag")) return false;
    for (const [index, option] of options.entries()) if (option) this.#readWhole(option, flags[index] ?? "");
    return true;
  }

  #readWhole(option: Option, word: string): void {
    if (option.kind === "choice") return this.#choose(option, word);
    if (option.kind === "count") {
      const before = this.input[option.property];
      this.input[option.property] = (typeof before === "number" ? before : 0) + 1;
      return;
    }
    if (option.many === "list") return this.#readList(option);
    const next = this.#pending.at(-1);
    if (option.alone !== undefined && (next === undefined || this.#isOption(next))) {
      this.input[option.property] = option.alone;
      return;
    }
    if (next === undefined) return;
    this.#pending.pop();
    this.#put(option, next);
  }

  #readList(option: FlagPart): void {
    for (let next = this.#pending.at(-1); next !== undefined && !this.#isOption(next); next = this.#pending.at(-1)) {
      this.#pending.pop();
      this.#put(option, next);
    }
  }

  #isOption(word: string): boolean {
    if (word === "--") return true;
    return word.startsWith("-") && word.length > 1 && !/^-\d/u.test(word);
  }

  #choose(option: ChoicePart, word: string): void {
    const listed = Object.keys(option.words).find((key) => option.words[key]?.[0] === word);
    const key = listed ?? option.aliases?.[word];
    if (key === undefined) return;
    const value = key === "true" ? true : key === "false" ? false : key;
    this.input[option.property] = this.#isList(option.property) ? [...this.#listSoFar(option.property), value] : value;
  }

  #put(option: FlagPart, word: string): void {
    const { property } = option;
    if (!this.#isList(property) || option.many === undefined) {
      this.input[property] = this.#toValue(property, word, option);
      return;
    }
    const words = option.many === "comma" ? word.split(",") : [word];
    this.input[property] = [...this.#listSoFar(property), ...words.map((item) => this.#toItem(property, item))];
  }

  #toValue(property: string, word: string, option?: FlagPart): JsonValue {
    const schema = this.#schemaOf(property);
    if (option?.booleans && schema["type"] === "boolean") {
      const index = option.booleans.indexOf(word);
      return index === -1 ? word : index === 0;
    }
    return fromWord(word, schema);
  }

  #toItem(property: string, word: string): JsonValue {
    const items = this.#schemaOf(property)["items"];
    return fromWord(word, isSchemaObject(items) ? items : {});
  }

  #listSoFar(property: string): readonly JsonValue[] {
    const before = this.input[property];
    return Array.isArray(before) ? (before as readonly JsonValue[]) : [];
  }

  #schemaOf(property: string): JsonSchema {
    const schema = Object.hasOwn(this.#schema, property) ? this.#schema[property] : undefined;
    return isSchemaObject(schema) ? schema : {};
  }

  #isList(property: string): boolean {
    return this.#schemaOf(property)["type"] === "array";
  }

  #readPositionals(): void {
    const words = this.#plain;
    for (const [index, part] of this.#positionals.entries()) {
      if (words.length === 0) return;
      if (part.many) {
        const after = this.#positionals.length - index - 1;
        const taken = words.splice(0, Math.max(0, words.length - after));
        if (taken.length > 0) this.input[part.property] = taken.map((word) => this.#toItem(part.property, word));
      } else {
        this.input[part.property] = this.#toValue(part.property, words.shift() ?? "");
      }
    }
    this.unknownWords.push(...words);
  }
}

function toOptions(mapping: ArgvMapping): Map<string, Option> {
  const options = new Map<string, Option>();
  for (const part of mapping.parts) {
    if (part.kind === "flag" || part.kind === "count") {
      for (const flag of [part.flag, ...(part.aliases ?? [])]) options.set(flag, part);
    } else if (part.kind === "choice") {
      for (const words of Object.values(part.words)) if (words[0] !== undefined) options.set(words[0], part);
      for (const alias of Object.keys(part.aliases ?? {})) options.set(alias, part);
    }
  }
  return options;
}
