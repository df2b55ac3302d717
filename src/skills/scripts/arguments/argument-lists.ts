import { parametersOf, type Code } from "../code/code.ts";
import { dispatch, dottedName, lastName, numberOf, type CodeNode } from "../code/node.ts";

/** How a language names the list of arguments. */
export interface Dialect {
  /** What the list is called, and how many of its entries come before the first argument. */
  readonly roots: Readonly<Record<string, number>>;
  /** Reading a place that is not there stops the script. */
  readonly strict?: true;
}

/** JavaScript and TypeScript, in Node, Bun and Deno. */
export const javascriptDialect: Dialect = { roots: { "process.argv": 2, "Bun.argv": 2, "Deno.args": 0 } };

/** Python. */
export const pythonDialect: Dialect = { roots: { "sys.argv": 1 }, strict: true };

/** The list of arguments, or a part of it. */
export interface ArgumentList {
  /** Entry `n` of it is argument `n - skip`. */
  readonly skip: number;
  /** Flags were taken out of it. */
  readonly filtered: boolean;
}

/** A place in the code where the list of arguments is used. */
export interface ListUse extends ArgumentList {
  readonly node: CodeNode;
}

/** Where code uses the list of arguments, also under other names and as the parameter of a function. */
export interface ArgumentLists {
  readonly uses: readonly ListUse[];
  /** The list that an expression is. */
  of(node: CodeNode): ArgumentList | undefined;
}

/** Finds the list of arguments in code. */
export function findLists(code: Code, dialect: Dialect): ArgumentLists {
  const aliases = new Map<string, ArgumentList>(importedLists(code));

  function listOf(node: CodeNode | undefined, depth = 0): ArgumentList | undefined {
    if (node === undefined || depth > 8) return undefined;
    const inner = (part: CodeNode | undefined): ArgumentList | undefined => listOf(part, depth + 1);
    return dispatch<ArgumentList | undefined>(node, {
      name: ({ name }) => aliases.get(name),
      member: (member) => {
        const skip = dialect.roots[dottedName(member) ?? ""];
        return skip === undefined ? undefined : { skip, filtered: false };
      },
      slice: ({ object, from }) => cut(inner(object), numberOf(from) ?? 0),
      list: ({ items: [first, second] }) =>
        first?.kind === "spread" && second === undefined ? inner(first.operand) : undefined,
      operation: ({ operator, operands: [first, second, third] }) => {
        if (operator === "?:") return inner(second) ?? inner(third);
        return /^(?:\|\||\?\?|or)$/u.test(operator) ? inner(first) : undefined;
      },
      call: (call) => listOfCall(call, inner),
    });
  }

  // More than once: a name may be used above the line that gives it.
  for (let round = 0, before = -1; round < 3 && aliases.size > before; round++) {
    before = aliases.size;
    learnNames(code, aliases, listOf);
  }
  const uses = code.all.flatMap((node): ListUse[] => {
    const list = listOf(node);
    const outer = list === undefined ? undefined : code.parentOf(node);
    return list === undefined || (outer !== undefined && listOf(outer) !== undefined) ? [] : [{ ...list, node }];
  });
  return { uses, of: (node) => listOf(node) };
}

type ListOf = (node: CodeNode | undefined) => ArgumentList | undefined;

/** `list.slice(2)`, `list.filter(…)`, `hideBin(list)`, `Array.from(list)` */
function listOfCall({ callee, args }: CodeNode & { kind: "call" }, listOf: ListOf): ArgumentList | undefined {
  const name = lastName(callee) ?? "";
  const own = callee.kind === "member" ? listOf(callee.object) : undefined;
  if (own !== undefined && (name === "slice" || name === "drop")) return cut(own, numberOf(args[0]) ?? 0);
  if (own !== undefined && name === "filter") return { ...own, filtered: true };
  if (name === "hideBin") return cut(listOf(args[0]), 2);
  return name === "from" || name === "list" ? listOf(args[0]) : undefined;
}

function cut(list: ArgumentList | undefined, from: number): ArgumentList | undefined {
  return list === undefined ? undefined : { ...list, skip: list.skip - from };
}

/** `import { argv } from "node:process"`, `from sys import argv` */
function* importedLists({ all }: Code): Generator<readonly [string, ArgumentList]> {
  for (const node of all) {
    const skip = node.kind !== "import" ? undefined : /^(?:node:)?process$/u.test(node.module) ? 2 : 1;
    if (node.kind !== "import" || skip === undefined || (skip === 1 && node.module !== "sys")) continue;
    for (const { imported, local } of node.names) if (imported === "argv") yield [local, { skip, filtered: false }];
  }
}

function learnNames(code: Code, aliases: Map<string, ArgumentList>, listOf: ListOf): void {
  const learn = (name: string, node: CodeNode): void => {
    const list = name === "" || aliases.has(name) ? undefined : listOf(node);
    if (list !== undefined) aliases.set(name, list);
  };
  for (const { target, value } of code.assigns) if (target.kind === "name") learn(target.name, value);
  // `parse(process.argv.slice(2))` makes the first parameter of `parse` another name for the list.
  for (const { callee, args } of code.calls) {
    const fn = callee.kind === "name" ? code.functions.get(callee.name) : undefined;
    if (fn === undefined) continue;
    for (const [place, { name }] of parametersOf(fn).entries()) if (args[place]) learn(name, args[place]);
  }
}
