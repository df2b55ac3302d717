import { argumentsOf, callAt, type Call } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { textOf, textsOf, toJson, type Literal } from "../code/literals.ts";
import { findToken, isToken, type Token } from "../code/token.ts";
import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import type { FlagDeclaration } from "../flag-parameter.ts";
import { numberMade } from "../hand/code-positions.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { splitCommand, toArgument, toOption } from "./flag-notation.ts";

/** A command while its calls are read. */
interface OpenCommand {
  readonly words: readonly string[];
  readonly parent?: OpenCommand;
  readonly options: Parameter[];
  readonly arguments: Parameter[];
  readonly children: OpenCommand[];
  description?: string;
  hasAction: boolean;
}

/** Reads the chains of commander and of cac, which follow the same idea. */
export function fromCommander(code: Code): DerivedInterface | undefined {
  const source = code.tokens.find(
    (token) => token.kind === "string" && /^(?:commander|cac|@commander-js\/extra-typings)$/u.test(token.text),
  );
  if (source === undefined) return undefined;
  const reader = new ChainReader(code);
  reader.read();
  const { root } = reader;
  const leaves = root.children.length === 0 ? [root] : collectLeaves(root);
  if (leaves.every((leaf) => leaf.options.length === 0 && leaf.arguments.length === 0 && leaf.words.length === 0))
    return undefined;
  return withoutUndefined<DerivedInterface>({
    commands: leaves.slice(0, 100).map((leaf) => toCommand(leaf, source.text === "cac")),
    confidence: "declared",
    source: source.text === "cac" ? "cac" : "commander",
    description: root.description,
  });
}

function collectLeaves(command: OpenCommand): readonly OpenCommand[] {
  const own = command.hasAction && (command.words.length > 0 || command.arguments.length > 0) ? [command] : [];
  const below = command.children.flatMap(collectLeaves);
  return command.children.length === 0 ? [command] : [...own, ...below];
}

/** cac keeps what stands after `--` apart from the positionals. */
function toCommand(command: OpenCommand, isCac: boolean): DerivedCommand {
  // Commander takes the options of the commands above at any place.
  const globals: Parameter[] = [];
  for (let above = command.parent; above !== undefined; above = above.parent) globals.unshift(...above.options);
  return withoutUndefined<DerivedCommand>({
    parameters: [...globals, ...command.options, ...command.arguments],
    words: command.words.length === 0 ? undefined : command.words,
    separator: isCac ? undefined : "needed",
    description: command.description,
  });
}

function open(words: readonly string[], parent?: OpenCommand): OpenCommand {
  const command = { words, options: [], arguments: [], children: [], hasAction: false, ...(parent && { parent }) };
  parent?.children.push(command);
  return command;
}

/** No program has commands of commands that go deeper. */
const deepest = 16;

const rootNames = new Set(["program", "cli", "app", "commander"]);

class ChainReader {
  readonly root: OpenCommand = open([]);
  readonly #code: Code;
  readonly #byName = new Map<string, OpenCommand>();
  #current: OpenCommand | undefined;
  #assigned: string | undefined;
  #isRootTaken = false;

  constructor(code: Code) {
    this.#code = code;
  }

  read(): void {
    const { tokens } = this.#code;
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index];
      if (token?.kind !== "word") continue;
      if (!isToken(tokens[index - 1], ".")) {
        this.#startChain(token, index);
        continue;
      }
      const call = this.#current === undefined ? undefined : callAt(this.#code, index);
      if (call === undefined) continue;
      this.#readMethod(token.text, call);
      // What an action does is no part of the chain.
      if (token.text === "action") index = call.close;
    }
  }

  #startChain(token: Token, index: number): void {
    const { tokens } = this.#code;
    const isNew = isToken(tokens[index - 1], "new") && token.text === "Command";
    if (isNew) return this.#startNew(index, index - 2);
    if (token.text === "cac" && isToken(tokens[index + 1], "(")) return this.#startNew(index, index - 1);
    const known = this.#byName.get(token.text) ?? (rootNames.has(token.text) ? this.root : undefined);
    if (known === undefined || !isToken(tokens[index + 1], ".")) return;
    this.#current = known;
    this.#assigned = isToken(tokens[index - 1], "=") ? tokens[index - 2]?.text : undefined;
  }

  /** The first command that is made is the program; others wait until they are added to it. */
  #startNew(index: number, equals: number): void {
    const { tokens } = this.#code;
    const command = this.#isRootTaken ? open([textIn(this.#code, index)].filter((name) => name !== "")) : this.root;
    this.#isRootTaken = true;
    const name = isToken(tokens[equals], "=") ? tokens[equals - 1] : undefined;
    if (name?.kind === "word") this.#byName.set(name.text, command);
    this.#current = command;
    this.#assigned = undefined;
  }

  #readMethod(method: string, call: Call): void {
    const current = this.#current;
    if (current === undefined) return;
    const values = argumentsOf(this.#code, call);
    switch (method) {
      case "command":
        return this.#openCommand(current, values);
      case "addCommand":
        return this.#adopt(current, values[0]);
      case "option":
      case "requiredOption":
        return this.#addOption(current, call, { values, required: method === "requiredOption" });
      case "addOption":
        return this.#addLongOption(current, call);
      case "argument":
      case "arguments":
        return addArguments(current, values);
      case "description":
      case "summary":
        current.description ??= textOf(values[0]) ?? "";
        return;
      case "action":
        current.hasAction = true;
        return;
      default:
    }
  }

  #openCommand(parent: OpenCommand, values: readonly Literal[]): void {
    const { name, arguments: places } = splitCommand(textOf(values[0]) ?? "");
    if (name === "" || parent.words.length >= deepest) return;
    // cac writes a default command as `[...files]`.
    const isDefault = /^[<[]/u.test(name);
    const command = isDefault ? parent : open([...parent.words, name], parent);
    const description = textOf(values[1]);
    if (description !== undefined) command.description ??= description;
    for (const place of isDefault ? [name, ...places] : places) {
      const parameter = toArgument(place);
      if (parameter !== undefined) command.arguments.push(parameter);
    }
    this.#current = command;
    if (this.#assigned !== undefined) this.#byName.set(this.#assigned, command);
    this.#assigned = undefined;
  }

  /** `program.addCommand(sub)` */
  #adopt(parent: OpenCommand, value: Literal | undefined): void {
    const child = value?.kind === "name" ? this.#byName.get(value.name) : undefined;
    if (child === undefined || child === parent || child.parent !== undefined || child === this.root) return;
    (child as { parent?: OpenCommand }).parent = parent;
    parent.children.push(child);
  }

  #addOption(
    command: OpenCommand,
    call: Call,
    { values, required }: { values: readonly Literal[]; required: boolean },
  ): void {
    const notation = textOf(values[0]);
    if (notation === undefined) return;
    const type = numberMade(this.#code.tokens, call.open, call.close);
    // A function before the default turns the text into a value; cac has an object there.
    const settings = values.find((value, index) => index > 1 && value.kind === "object");
    const rest = values.slice(2).map(toJson);
    const fallback = settings === undefined ? rest.find((value) => value !== undefined) : toJson(defaultIn(settings));
    const facts = withoutUndefined<Omit<FlagDeclaration, "flags">>({
      description: textOf(values[1]),
      type,
      default: fallback,
      required,
    });
    const parameter = toOption(notation, facts);
    if (parameter !== undefined) command.options.push(parameter);
  }

  /** `addOption(new Option("-s, --size <size>", "…").choices([…]).default("m"))` */
  #addLongOption(command: OpenCommand, call: Call): void {
    const { tokens } = this.#code;
    const at = findToken(tokens, [call.open + 1, call.close], "Option");
    const made = at === -1 ? undefined : callAt(this.#code, at);
    if (made === undefined) return;
    const [notation, description] = argumentsOf(this.#code, made);
    const chained = (name: string): readonly Literal[] | undefined => {
      const index = findToken(tokens, [made.close + 1, call.close], name);
      const found = index === -1 ? undefined : callAt(this.#code, index);
      return found === undefined ? undefined : argumentsOf(this.#code, found);
    };
    const choices = chained("choices")?.[0];
    const parameter = toOption(textOf(notation) ?? "", {
      description: textOf(description),
      choices: choices === undefined ? undefined : textsOf(choices),
      default: toJson(chained("default")?.[0]),
      required: chained("makeOptionMandatory") !== undefined,
      type: chained("argParser") === undefined ? undefined : numberMade(tokens, call.open, call.close),
    });
    if (parameter !== undefined) command.options.push(parameter);
  }
}

function defaultIn(settings: Literal): Literal | undefined {
  return settings.kind === "object" ? settings.entries.find(([key]) => key === "default")?.[1] : undefined;
}

function addArguments(command: OpenCommand, values: readonly Literal[]): void {
  const notation = textOf(values[0]) ?? "";
  const places = notation.includes(" ") ? notation.split(/\s+/u) : [notation];
  for (const place of places) {
    const parameter = toArgument(place, { description: textOf(values[1]), default: toJson(values[2]) });
    if (parameter !== undefined) command.arguments.push(parameter);
  }
}

/** The name in `new Command("name")`. */
function textIn(code: Code, index: number): string {
  const call = callAt(code, index);
  return call === undefined ? "" : (textOf(argumentsOf(code, call)[0]) ?? "");
}
