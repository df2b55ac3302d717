import {
  calledName,
  childrenOf,
  walk,
  type Assign,
  type Call,
  type CodeNode,
  type FunctionNode,
  type Parameter,
} from "./node.ts";
import type { Piece } from "./pieces.ts";

/** Source text as a tree, ready to be searched. */
export interface Code {
  readonly text: string;
  readonly nodes: readonly CodeNode[];
  /** All nodes, in the order of the text. */
  readonly all: readonly CodeNode[];
  /** Comments and strings, in the order of the text. */
  readonly pieces: readonly Piece[];
  /** Parts of it could not be parsed. */
  readonly hasErrors: boolean;
  readonly calls: readonly Call[];
  readonly assigns: readonly Assign[];
  /** The assignments to a name, and to what is in it: `name = …`, `name.x = …`, `name[x] = …`. */
  assignsTo(name: string): readonly Assign[];
  /** The calls by the last name of what they call. */
  callsOf(name: string): readonly Call[];
  /** By name; of several the first. */
  readonly functions: ReadonlyMap<string, FunctionNode>;
  parentOf(node: CodeNode): CodeNode | undefined;
}

/** Makes a tree ready to be searched. */
export function indexCode(
  nodes: readonly CodeNode[],
  { text, pieces, hasErrors }: Pick<Code, "text" | "pieces" | "hasErrors">,
): Code {
  const parents = new Map<CodeNode, CodeNode>();
  const functions = new Map<string, FunctionNode>();
  const all = [...walk(nodes)];
  for (const node of all) {
    for (const child of childrenOf(node)) parents.set(child, node);
    const named = namedFunction(node);
    if (named !== undefined && !functions.has(named.name)) functions.set(named.name, named.node);
  }
  const calls = all.filter((node) => node.kind === "call");
  const assigns = all.filter((node) => node.kind === "assign");
  const callsByName = Map.groupBy(calls, (call) => calledName(call) ?? "");
  const assignsByName = Map.groupBy(assigns, ({ target }) => {
    const root = target.kind === "member" || target.kind === "index" ? target.object : target;
    return root.kind === "name" ? root.name : "";
  });
  return {
    text,
    nodes,
    all,
    pieces,
    hasErrors,
    functions,
    calls,
    assigns,
    assignsTo: (name) => assignsByName.get(name) ?? [],
    callsOf: (name) => callsByName.get(name) ?? [],
    parentOf: (node) => parents.get(node),
  };
}

/** `function name() {}`, `const name = () => {}` */
function namedFunction(node: CodeNode): { name: string; node: FunctionNode } | undefined {
  if (node.kind === "function") return node.name === undefined ? undefined : { name: node.name, node };
  const isNamed = node.kind === "assign" && node.target.kind === "name" && node.value.kind === "function";
  return isNamed && node.target.kind === "name" && node.value.kind === "function"
    ? { name: node.target.name, node: node.value }
    : undefined;
}

/** The nodes around a node, from the inside out. */
export function* around(code: Code, node: CodeNode): Generator<CodeNode> {
  for (let outer = code.parentOf(node); outer !== undefined; outer = code.parentOf(outer)) yield outer;
}

/** The function that encloses a node. */
export function enclosingFunction(code: Code, node: CodeNode): FunctionNode | undefined {
  for (const outer of around(code, node)) if (outer.kind === "function") return outer;
  return undefined;
}

/** The parameters of a function, each with the name that it has in the function if it has only one. */
export function parametersOf(fn: FunctionNode): readonly { readonly name: string; readonly node: Parameter }[] {
  return fn.parameters.flatMap((node) =>
    node.kind === "parameter" ? [{ name: node.target.kind === "name" ? node.target.name : "", node }] : [],
  );
}
