import type { Code } from "../code/code.ts";
import { argumentsOf, entryOf, textOf, textsOf, toJson, type Literal } from "../code/literals.ts";
import { calledName, lastName, textOf as textIn, walk, type Call, type CodeNode } from "../code/node.ts";
import type { DerivedCommand, DerivedInterface } from "../derived-interface.ts";
import type { FlagDeclaration } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { splitCommand, toArgument, toOption } from "./flag-notation.ts";

/** A command while its calls are read. */
interface OpenCommand {
  readonly words: readonly string[];
  parent?: OpenCommand;
  readonly options: Parameter[];
  readonly arguments: Parameter[];
  readonly children: OpenCommand[];
  description?: string;
  hasAction: boolean;
  /** It has options that could not be resolved. */
  isOpen: boolean;
}

/** Reads the chains of commander and of cac, which follow the same idea. */
export function fromCommander(code: Code): DerivedInterface | undefined {
  const source = code.all
    .map(textIn)
    .concat(code.all.map((node) => (node.kind === "import" ? node.module : undefined)))
    .find((text) => /^(?:commander|cac|@commander-js\/extra-typings)$/u.test(text ?? ""));
  if (source === undefined) return undefined;
  const { root } = new ChainReader(code);
  const leaves = root.children.length === 0 ? [root] : collectLeaves(root);
  const isEmpty = ({ options, arguments: places, words, isOpen }: OpenCommand): boolean =>
    options.length === 0 && places.length === 0 && words.length === 0 && !isOpen;
  if (leaves.every(isEmpty)) return undefined;
  return withoutUndefined<DerivedInterface>({
    commands: leaves.slice(0, 100).map((leaf) => toCommand(leaf, source === "cac")),
    confidence: "declared",
    source: source === "cac" ? "cac" : "commander",
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
  let { isOpen } = command;
  for (let above = command.parent; above !== undefined; above = above.parent) {
    globals.unshift(...above.options);
    isOpen ||= above.isOpen;
  }
  return withoutUndefined<DerivedCommand>({
    parameters: [...globals, ...command.options, ...command.arguments],
    words: command.words.length === 0 ? undefined : command.words,
    separator: isCac ? undefined : "needed",
    description: command.description,
    open: isOpen ? true : undefined,
  });
}

function open(words: readonly string[], parent?: OpenCommand): OpenCommand {
  const command = { words, options: [], arguments: [], children: [], hasAction: false, isOpen: false };
  const opened: OpenCommand = parent === undefined ? command : { ...command, parent };
  parent?.children.push(opened);
  return opened;
}

/** No program has commands of commands that go deeper. */
const deepest = 16;

const rootNames = new Set(["program", "cli", "app", "commander"]);

class ChainReader {
  readonly root: OpenCommand = open([]);
  readonly #code: Code;
  readonly #byName = new Map<string, OpenCommand>();
  readonly #byCall = new Map<CodeNode, OpenCommand | undefined>();
  #isRootTaken = false;

  constructor(code: Code) {
    this.#code = code;
    for (const node of code.all) {
      if (node.kind === "call") this.#commandOf(node);
      const command = node.kind === "assign" ? this.#commandOf(node.value) : undefined;
      if (node.kind === "assign" && node.target.kind === "name" && command) this.#byName.set(node.target.name, command);
    }
  }

  /** The command that an expression is. What its calls say is noted when it is seen first. */
  #commandOf(node: CodeNode): OpenCommand | undefined {
    if (node.kind === "name") return this.#byName.get(node.name) ?? (rootNames.has(node.name) ? this.root : undefined);
    if (node.kind !== "call") return undefined;
    if (this.#byCall.has(node)) return this.#byCall.get(node);
    const command = this.#read(node);
    this.#byCall.set(node, command);
    return command;
  }

  #read(call: Call): OpenCommand | undefined {
    const name = calledName(call) ?? "";
    const isNew =
      (call.isNew && name === "Command") || (call.callee.kind === "name" && /^(?:cac|createCommand)$/u.test(name));
    if (isNew) return this.#start(textOf(argumentsOf(this.#code, call)[0]));
    const command = call.callee.kind === "member" ? this.#commandOf(call.callee.object) : undefined;
    return command === undefined ? undefined : this.#readMethod(command, name, call);
  }

  /** The first command that is made is the program; others wait until they are added to it. */
  #start(name = ""): OpenCommand {
    const command = this.#isRootTaken ? open(name === "" ? [] : [name]) : this.root;
    this.#isRootTaken = true;
    return command;
  }

  /** Notes what a method says, and gives the command that the chain goes on with. */
  #readMethod(current: OpenCommand, method: string, call: Call): OpenCommand {
    const values = argumentsOf(this.#code, call);
    if (method === "command") return this.#openCommand(current, values);
    if (method === "addCommand") this.#adopt(current, call.args[0]);
    else if (method === "option" || method === "requiredOption") addOption(current, call, values);
    else if (method === "addOption") this.#addLongOption(current, call);
    else if (method === "argument" || method === "arguments") addArguments(current, values);
    else if (method === "description" || method === "summary") current.description ??= textOf(values[0]) ?? "";
    else if (method === "action") current.hasAction = true;
    return current;
  }

  #openCommand(parent: OpenCommand, values: readonly Literal[]): OpenCommand {
    const { name, arguments: places } = splitCommand(textOf(values[0]) ?? "");
    if (name === "") parent.isOpen = true;
    if (name === "" || parent.words.length >= deepest) return parent;
    // cac writes a default command as `[...files]`.
    const isDefault = /^[<[]/u.test(name);
    const command = isDefault ? parent : open([...parent.words, name], parent);
    const description = textOf(values[1]);
    if (description !== undefined) command.description ??= description;
    for (const place of isDefault ? [name, ...places] : places) {
      const parameter = toArgument(place);
      if (parameter !== undefined) command.arguments.push(parameter);
    }
    return command;
  }

  /** `program.addCommand(sub)` */
  #adopt(parent: OpenCommand, argument: CodeNode | undefined): void {
    const child = argument === undefined ? undefined : this.#commandOf(argument);
    if (child === undefined) parent.isOpen = true;
    if (child === undefined || child === parent || child.parent !== undefined || child === this.root) return;
    child.parent = parent;
    parent.children.push(child);
  }

  /** `addOption(new Option("-s, --size <size>", "…").choices([…]).default("m"))` */
  #addLongOption(command: OpenCommand, call: Call): void {
    const made = [...walk(call.args)].filter((node) => node.kind === "call");
    const option = made.find((node) => node.isNew && calledName(node) === "Option");
    const [notation, description] = argumentsOf(this.#code, option);
    const chained = (name: string): readonly Literal[] | undefined => {
      const found = made.find((node) => calledName(node) === name);
      return found === undefined ? undefined : argumentsOf(this.#code, found);
    };
    const choices = chained("choices")?.[0];
    const parameter = toOption(textOf(notation) ?? "", {
      description: textOf(description),
      choices: choices === undefined ? undefined : textsOf(choices),
      default: toJson(chained("default")?.[0]),
      required: chained("makeOptionMandatory") !== undefined,
      type: chained("argParser") === undefined ? undefined : numberIn(call.args),
    });
    if (parameter !== undefined) command.options.push(parameter);
    else if (textOf(notation) === undefined) command.isOpen = true;
  }
}

/** `parseInt`, `(text) => Number(text)` */
function numberIn(nodes: readonly CodeNode[]): "integer" | "number" | undefined {
  for (const node of walk(nodes)) {
    const name = lastName(node);
    if (name === "parseInt") return "integer";
    if (name === "parseFloat" || name === "Number") return "number";
  }
  return undefined;
}

function addOption(command: OpenCommand, call: Call, values: readonly Literal[]): void {
  const notation = textOf(values[0]);
  if (notation === undefined) {
    command.isOpen = true;
    return;
  }
  // A function before the default turns the text into a value; cac has an object there.
  const settings = values.find((value, index) => index > 1 && value.kind === "object");
  const rest = values.slice(2).map(toJson);
  const fallback =
    settings === undefined ? rest.find((value) => value !== undefined) : toJson(entryOf(settings, "default"));
  const facts = withoutUndefined<Omit<FlagDeclaration, "flags">>({
    description: textOf(values[1]),
    type: numberIn(call.args),
    default: fallback,
    required: calledName(call) === "requiredOption",
  });
  const parameter = toOption(notation, facts);
  if (parameter !== undefined) command.options.push(parameter);
}

function addArguments(command: OpenCommand, values: readonly Literal[]): void {
  const notation = textOf(values[0]) ?? "";
  const places = notation.includes(" ") ? notation.split(/\s+/u) : [notation];
  for (const place of places) {
    const parameter = toArgument(place, { description: textOf(values[1]), default: toJson(values[2]) });
    if (parameter !== undefined) command.arguments.push(parameter);
  }
}
