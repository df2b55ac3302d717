import { around, type Code } from "../code/code.ts";
import { calledName, dispatch, dottedName, lastName, textOf, type CodeNode } from "../code/node.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ArgvFacts, FlagFact, PositionFact } from "./argv-facts.ts";

/** What a loop over the arguments does with those that are no flags. */
export interface LoopPlaces {
  readonly positions: ReadonlyMap<number, PositionFact>;
  readonly rest?: ArgvFacts["rest"];
}

const flagText = /^--?[A-Za-z][\w-]*=?$/u;

/**
 * Finds the variables that get what is no flag: `else options.file = arg`, `default: files.push(arg)`. The argument is the variable
 * that the same loop compares with flags.
 */
export function findLoopPlaces(code: Code): LoopPlaces {
  const { variables, loop } = findLoop(code);
  const isInside = (node: CodeNode): boolean => loop === undefined || [...around(code, node)].includes(loop);
  const isArgument = (node: CodeNode | undefined): boolean => variables.has(variableOf(node) ?? "");
  const names: string[] = [];
  for (const { target, value, declares } of code.assigns.filter(isInside)) {
    const name = declares || !isArgument(value) ? undefined : lastName(target);
    const isKept = name !== undefined && !/^(?:key|flag|name|current|last|prev|previous|opt|option)$/iu.test(name);
    if (isKept && !names.includes(name)) names.push(name);
  }
  const added = code.calls.filter(isInside).find(isAdded);
  const list = added?.callee.kind === "member" ? lastName(added.callee.object) : undefined;
  return withoutUndefined<LoopPlaces>({
    positions: new Map(names.map((name, place) => [place, { name }] as const)),
    rest: list === undefined ? undefined : { from: names.length, name: list },
  });

  /** `files.push(arg)` */
  function isAdded(call: CodeNode & { kind: "call" }): boolean {
    return /^(?:push|append)$/u.test(calledName(call) ?? "") && call.args.length === 1 && isArgument(call.args[0]);
  }
}

function findLoop(code: Code): { readonly variables: ReadonlySet<string>; readonly loop: CodeNode | undefined } {
  const variables = new Set<string>();
  let loop: CodeNode | undefined;
  for (const node of code.all) {
    if (!flagText.test(textOf(node) ?? "")) continue;
    const compared = variableOf(comparedWith(code, node));
    if (compared === undefined) continue;
    variables.add(compared);
    loop ??= [...around(code, node)].find((outer) => outer.kind === "loop");
  }
  return { variables, loop };
}

/** A variable, or the entry of a list at a variable: `arg`, `args[i]`. The entry at another place, `args[i + 1]`, is another argument. */
function variableOf(node: CodeNode | undefined): string | undefined {
  if (node?.kind === "name") return node.name;
  if (node?.kind !== "index" || node.index.kind !== "name") return undefined;
  const list = dottedName(node.object);
  return list === undefined ? undefined : `${list}[${node.index.name}]`;
}

/** What a flag is compared with: in an operation, in a case, in a list. */
function comparedWith(code: Code, node: CodeNode): CodeNode | undefined {
  const outer = code.parentOf(node);
  if (outer === undefined) return undefined;
  return dispatch<CodeNode | undefined>(outer, {
    operation: ({ operator, operands }) =>
      /^(?:===?|in)$/u.test(operator) ? operands.find((operand) => operand !== node) : undefined,
    list: (list) => comparedWith(code, list),
    case: () => {
      const chosen = code.parentOf(outer);
      return chosen?.kind === "switch" ? chosen.subject : undefined;
    },
    // `arg.startsWith("--out=")`
    call: ({ callee }) => (callee.kind === "member" ? callee.object : undefined),
    // `["-o", "--out"].includes(arg)`
    member: () => {
      const call = code.parentOf(outer);
      return call?.kind === "call" && call.callee === outer ? call.args[0] : undefined;
    },
  });
}

/**
 * Finds the flags of a loop that takes any flag: `if (arg.startsWith("--")) options[arg.slice(2)] = …`. Which there are is then
 * told by the properties that the rest of the code reads.
 */
export function findOpenFlags(code: Code, known: readonly FlagFact[]): readonly FlagFact[] {
  const stores = findStores(code);
  if (stores.size === 0) return [];
  const taken = new Set(known.flatMap((fact) => fact.flags));
  const uses = new Map<string, boolean>();
  for (const node of code.all) {
    const name = propertyRead(code, node, stores);
    if (name === undefined || taken.has(`--${name}`) || /^(?:_|help|h|length|hasOwnProperty)$/u.test(name)) continue;
    uses.set(name, (uses.get(name) ?? true) && isSwitch(code, node));
  }
  return [...uses].slice(0, 60).map(([name, isOnly]) => ({ flags: [`--${name}`], takesValue: !isOnly }));
}

/** The variables that a loop puts flags into, by their name without dashes. */
function findStores(code: Code): ReadonlySet<string> {
  const asksForDashes = code.all.some((node) => /^--?$/u.test(textOf(node) ?? ""));
  const stores = new Set<string>();
  for (const { target } of code.assigns) {
    if (target.kind !== "index" || target.object.kind !== "name") continue;
    const isCut = withoutDashes(target.index);
    if (isCut || (asksForDashes && target.index.kind === "name")) stores.add(target.object.name);
  }
  return stores;
}

/** `arg.replace(/^--/, "")`, `arg.slice(2)` */
function withoutDashes(node: CodeNode): boolean {
  return node.kind === "call" && /^(?:replace|slice|substring|substr)$/u.test(calledName(node) ?? "");
}

/** The property of a store that is read here: `.out`, `["out"]`, `.get("out")`. */
function propertyRead(code: Code, node: CodeNode, stores: ReadonlySet<string>): string | undefined {
  const isOfStore = (object: CodeNode): boolean => object.kind === "name" && stores.has(object.name);
  const outer = code.parentOf(node);
  if (outer?.kind === "assign" && outer.target === node) return undefined;
  return dispatch<string | undefined>(node, {
    index: ({ object, index }) => (isOfStore(object) ? textOf(index) : undefined),
    call: ({ callee, args: [key] }) =>
      callee.kind === "member" && callee.property === "get" && isOfStore(callee.object) ? textOf(key) : undefined,
    member: ({ object, property }) => {
      // A method of the store itself is not a flag.
      const isMethod = outer?.kind === "call" && outer.callee === node;
      return isOfStore(object) && !isMethod ? property : undefined;
    },
  });
}

/** Whether code only asks if the property is set. */
function isSwitch(code: Code, node: CodeNode): boolean {
  const outer = code.parentOf(node);
  if (outer?.kind === "if") return outer.test === node;
  if (outer?.kind !== "operation") return false;
  if (outer.operator === "?:") return outer.operands[0] === node;
  if (outer.operator === "&&") return outer.operands[0] === node;
  return outer.operator === "!" && !givesUpWithout(code, outer);
}

/** `if (!options.topic) exit()` asks for a value. */
function givesUpWithout(code: Code, not: CodeNode): boolean {
  return code.parentOf(not)?.kind === "if";
}
