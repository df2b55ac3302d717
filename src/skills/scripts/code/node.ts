import type { JsonValue } from "../../../core/json.ts";

/**
 * What code is made of, as far as it matters for arguments. JavaScript, TypeScript and Python become the same nodes, so that one
 * reader finds out what their code does with its arguments. Parentheses, types and `await` are left out.
 */
export type CodeNode =
  | Name
  | Value
  | Template
  | List
  | ObjectNode
  | Entry
  | Spread
  | Hole
  | Member
  | Index
  | Slice
  | Call
  | Keyword
  | Operation
  | Assign
  | FunctionNode
  | Parameter
  | If
  | Loop
  | Switch
  | Case
  | Leave
  | Import
  | Other;

interface Place {
  /** Where it begins in the text. */
  readonly start: number;
}

/** A variable, by its name. */
export interface Name extends Place {
  readonly kind: "name";
  readonly name: string;
}

/** A text, a number, true, false or nothing. */
export interface Value extends Place {
  readonly kind: "value";
  readonly value: JsonValue;
}

/** A text with expressions in it. */
export interface Template extends Place {
  readonly kind: "template";
  /** As it is written, without its quotes. */
  readonly text: string;
  readonly parts: readonly CodeNode[];
}

/** Also the pattern `[a, b] = …`. */
export interface List extends Place {
  readonly kind: "list";
  readonly items: readonly CodeNode[];
}

/** Also the pattern `{ a, b } = …`. */
export interface ObjectNode extends Place {
  readonly kind: "object";
  readonly entries: readonly CodeNode[];
}

/** `key: value` in an object. */
export interface Entry extends Place {
  readonly kind: "entry";
  /** Not set when it is computed. */
  readonly key?: string;
  readonly computed?: CodeNode;
  readonly value: CodeNode;
}

/** `...rest`, `*rest` */
export interface Spread extends Place {
  readonly kind: "spread";
  readonly operand: CodeNode;
}

/** An item of a pattern that is left out. */
export interface Hole extends Place {
  readonly kind: "hole";
}

/** `object.property` */
export interface Member extends Place {
  readonly kind: "member";
  readonly object: CodeNode;
  readonly property: string;
}

/** `object[index]` */
export interface Index extends Place {
  readonly kind: "index";
  readonly object: CodeNode;
  readonly index: CodeNode;
}

/** Python's `object[from:]`. */
export interface Slice extends Place {
  readonly kind: "slice";
  readonly object: CodeNode;
  readonly from?: CodeNode;
}

/** `callee(args)`, `new callee(args)` */
export interface Call extends Place {
  readonly kind: "call";
  /** Of two calls in a chain, the first ends before the second. */
  readonly end: number;
  readonly callee: CodeNode;
  readonly args: readonly CodeNode[];
  readonly isNew?: true;
}

/** Python's `name=value` in a call. */
export interface Keyword extends Place {
  readonly kind: "keyword";
  readonly name: string;
  readonly value: CodeNode;
}

/** `+`, `===`, `&&`, `not`, `in`; `?:` has its condition, what holds and what does not. */
export interface Operation extends Place {
  readonly kind: "operation";
  readonly operator: string;
  readonly operands: readonly CodeNode[];
}

/** `target = value`, also in a declaration. */
export interface Assign extends Place {
  readonly kind: "assign";
  /** `=`, `+=` */
  readonly operator: string;
  readonly target: CodeNode;
  readonly value: CodeNode;
  /** `const name = …` */
  readonly declares?: true;
}

/** A function or a method. */
export interface FunctionNode extends Place {
  readonly kind: "function";
  readonly name?: string;
  readonly parameters: readonly CodeNode[];
  readonly body: readonly CodeNode[];
}

/** A parameter of a function. */
export interface Parameter extends Place {
  readonly kind: "parameter";
  readonly target: CodeNode;
  /** The first word of its type. */
  readonly annotation?: string;
  readonly fallback?: CodeNode;
  /** It takes all further arguments. */
  readonly rest?: true;
}

/** A condition, and what is done if it holds and if not. */
export interface If extends Place {
  readonly kind: "if";
  readonly test: CodeNode;
  readonly then: readonly CodeNode[];
  readonly otherwise: readonly CodeNode[];
}

/** A loop of any kind. */
export interface Loop extends Place {
  readonly kind: "loop";
  /** `variable of over`, `variable in over` */
  readonly variable?: CodeNode;
  readonly over?: CodeNode;
  readonly head: readonly CodeNode[];
  readonly body: readonly CodeNode[];
}

/** A choice by one value: `switch`. */
export interface Switch extends Place {
  readonly kind: "switch";
  readonly subject: CodeNode;
  readonly cases: readonly CodeNode[];
}

/** One case of a {@link Switch}. */
export interface Case extends Place {
  readonly kind: "case";
  /** None for the default. Cases without code of their own are part of the next one. */
  readonly values: readonly CodeNode[];
  readonly body: readonly CodeNode[];
}

/** What ends a function, a loop or a case. */
export interface Leave extends Place {
  readonly kind: "leave";
  readonly how: "return" | "throw" | "break" | "continue";
  readonly value?: CodeNode;
}

/** Names that come from another module. */
export interface Import extends Place {
  readonly kind: "import";
  readonly module: string;
  readonly names: readonly { readonly imported: string; readonly local: string }[];
}

/** Anything else. */
export interface Other extends Place {
  readonly kind: "other";
  /** What the parser calls it. */
  readonly type: string;
  readonly children: readonly CodeNode[];
}

/** What is done with the kinds of nodes that matter. */
export type ByKind<Result> = {
  readonly [Kind in CodeNode["kind"]]?: (node: Extract<CodeNode, { readonly kind: Kind }>) => Result;
};

/** Does what is to be done with a node of its kind; nothing for the kinds that do not matter. */
export function dispatch<Result>(node: CodeNode, handlers: ByKind<Result>): Result | undefined {
  const handle = handlers[node.kind] as ((node: CodeNode) => Result) | undefined;
  return handle?.(node);
}

/** The nodes that a node is made of, in the order of the text. */
export function childrenOf(node: CodeNode): readonly CodeNode[] {
  const children: CodeNode[] = [];
  for (const field of Object.values(node) as unknown[]) {
    if (Array.isArray(field)) for (const item of field as unknown[]) if (isNode(item)) children.push(item);
    if (isNode(field)) children.push(field);
  }
  return children;
}

function isNode(value: unknown): value is CodeNode {
  return typeof value === "object" && value !== null && "kind" in value && "start" in value;
}

/** Every node in `nodes` and below, each before what it is made of. */
export function* walk(nodes: readonly CodeNode[]): Generator<CodeNode> {
  const stack = nodes.toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    for (const child of childrenOf(node).toReversed()) stack.push(child);
  }
}

/** The text that a node is. */
export function textOf(node: CodeNode | undefined): string | undefined {
  return node?.kind === "value" && typeof node.value === "string" ? node.value : undefined;
}

/** The number that a node is. */
export function numberOf(node: CodeNode | undefined): number | undefined {
  return node?.kind === "value" && typeof node.value === "number" ? node.value : undefined;
}

/** A text, a number, true or false; nothing for everything else, also for null. */
export function plainValue(node: CodeNode | undefined): JsonValue | undefined {
  return node?.kind === "value" ? (node.value ?? undefined) : undefined;
}

/** The last name of what is called: `parse` in `parse(…)` and in `JSON.parse(…)`. */
export function calledName(node: CodeNode): string | undefined {
  if (node.kind !== "call") return undefined;
  return lastName(node.callee);
}

/** `c` of `a.b.c`, `c` of `c`. */
export function lastName(node: CodeNode): string | undefined {
  if (node.kind === "name") return node.name;
  return node.kind === "member" ? node.property : undefined;
}

/** `a.b.c` as text; nothing for what is not only names. */
export function dottedName(node: CodeNode): string | undefined {
  if (node.kind === "name") return node.name;
  const before = node.kind === "member" ? dottedName(node.object) : undefined;
  return node.kind === "member" && before !== undefined ? `${before}.${node.property}` : undefined;
}
