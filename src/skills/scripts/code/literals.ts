import type { JsonValue } from "../../../core/json.ts";
import { enclosingFunction, type Code } from "./code.ts";
import {
  dispatch,
  dottedName,
  type Assign,
  type CodeNode,
  type FunctionNode,
  type Loop,
  type Parameter,
} from "./node.ts";

/** A value as it is written in code, as far as it can be resolved without running anything. */
export type Literal =
  | { readonly kind: "value"; readonly value: JsonValue }
  /** `open`: there may be more in it. */
  | { readonly kind: "list"; readonly items: readonly Literal[]; readonly open?: true }
  | { readonly kind: "object"; readonly entries: readonly LiteralEntry[]; readonly open?: true }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "unknown" };

type LiteralEntry = readonly [key: string, value: Literal];

const unknown: Literal = { kind: "unknown" };

/** Reads what an expression is. */
export function readLiteral(code: Code, node: CodeNode | undefined): Literal {
  return node === undefined ? unknown : new LiteralReader(code).read(node, 0);
}

/** Reads the arguments of a call. */
export function argumentsOf(code: Code, call: CodeNode | undefined): readonly Literal[] {
  return call?.kind === "call" ? call.args.map((argument) => readLiteral(code, argument)) : [];
}

const deepest = 20;
/** Constants made of constants can grow without end; no script has options as large as this. */
const mostParts = 5000;

class LiteralReader {
  readonly #code: Code;
  #parts = 0;

  constructor(code: Code) {
    this.#code = code;
  }

  read(node: CodeNode, depth: number): Literal {
    this.#parts += 1;
    if (depth > deepest || this.#parts > mostParts) return unknown;
    const literal = dispatch<Literal>(node, {
      value: ({ value }) => ({ kind: "value", value }),
      list: ({ items }) => this.#readList(items, depth),
      object: ({ entries }) => this.#readObject(entries, depth),
      operation: ({ operator, operands }) => this.#readOperation(operator, operands, depth),
      name: (name) => this.#readName(name, depth),
      member: ({ object, property }) => entryOf(this.read(object, depth + 1), property) ?? unknown,
      call: (call) => this.#readCall(call, depth),
    });
    return literal ?? unknown;
  }

  #readList(nodes: readonly CodeNode[], depth: number): Literal {
    let open = false as boolean;
    const items = nodes.flatMap((node): readonly Literal[] => {
      if (node.kind !== "spread") return [this.read(node, depth + 1)];
      const spread = this.read(node.operand, depth + 1);
      if (spread.kind !== "list" || spread.open) open = true;
      return spread.kind === "list" ? spread.items : [];
    });
    return { kind: "list", items, ...(open && { open: true }) };
  }

  #readObject(nodes: readonly CodeNode[], depth: number): Literal {
    const entries = new Map<string, Literal>();
    let open = false;
    for (const node of nodes) {
      const part = this.#readEntry(node, depth);
      for (const [key, value] of part.entries) entries.set(key, value);
      open ||= part.open;
    }
    return { kind: "object", entries: [...entries], ...(open && { open: true }) };
  }

  #readEntry(node: CodeNode, depth: number): { readonly entries: readonly LiteralEntry[]; readonly open: boolean } {
    if (node.kind === "spread") {
      const spread = this.read(node.operand, depth + 1);
      return spread.kind === "object"
        ? { entries: spread.entries, open: spread.open === true }
        : { entries: [], open: true };
    }
    if (node.kind !== "entry") return { entries: [], open: true };
    const keys = node.key === undefined ? this.keysOf(node.computed, depth) : [node.key];
    const entries = (keys ?? []).map((key): LiteralEntry => [key, this.read(node.value, depth + 1)]);
    return { entries, open: keys === undefined };
  }

  /** The texts that an expression is: one, or those of the list that a loop goes over. */
  keysOf(node: CodeNode | undefined, depth: number): readonly string[] | undefined {
    if (node === undefined) return undefined;
    const own = textOf(this.read(node, depth + 1));
    if (own !== undefined) return [own];
    const loop = node.kind === "name" ? this.#loopOver(node.name, node) : undefined;
    const list = loop?.over === undefined ? undefined : this.read(loop.over, depth + 1);
    if (list?.kind !== "list" || list.open) return undefined;
    const texts = textsOf(list);
    return texts.length === list.items.length ? texts : undefined;
  }

  #loopOver(name: string, node: CodeNode): Loop | undefined {
    for (let outer = this.#code.parentOf(node); outer !== undefined; outer = this.#code.parentOf(outer)) {
      if (outer.kind === "loop" && outer.variable?.kind === "name" && outer.variable.name === name) return outer;
    }
    return undefined;
  }

  #readOperation(operator: string, operands: readonly CodeNode[], depth: number): Literal {
    const values = operands.map((operand) => toJson(this.read(operand, depth + 1)));
    const [left, right] = values;
    if (operator === "+" && typeof left === "string" && typeof right === "string")
      return { kind: "value", value: left + right };
    // `60 * 1000`
    if (operator === "*" && typeof left === "number" && typeof right === "number")
      return { kind: "value", value: left * right };
    return unknown;
  }

  /** `Object.freeze({ … })`, and a function of the script that returns a value. */
  #readCall(node: CodeNode & { kind: "call" }, depth: number): Literal {
    const [first] = node.args;
    const name = dottedName(node.callee) ?? "";
    if (/^(?:Object\.freeze|Object\.seal|structuredClone)$/u.test(name) && first) return this.read(first, depth + 1);
    const fn = this.#code.functions.get(name);
    const returns = fn?.body.filter((statement) => statement.kind === "leave" && statement.how === "return") ?? [];
    const [only] = returns;
    return returns.length === 1 && only?.kind === "leave" && only.value ? this.read(only.value, depth + 1) : unknown;
  }

  #readName(node: CodeNode & { kind: "name" }, depth: number): Literal {
    const { name } = node;
    for (let scope = enclosingFunction(this.#code, node); ; scope = enclosingFunction(this.#code, scope)) {
      const parameter = scope === undefined ? undefined : this.#parameterOf(scope, name);
      if (scope !== undefined && parameter !== undefined) return this.#readParameter(scope, parameter, depth);
      const assigned = this.#assignsIn(scope, name);
      const first = assigned.find(({ operator }) => operator === "=");
      if (first !== undefined) return this.#withChanges(name, this.#readAssigned(first, assigned, depth), depth);
      if (scope === undefined) return { kind: "name", name };
    }
  }

  #assignsIn(scope: FunctionNode | undefined, name: string): readonly Assign[] {
    return this.#code.assignsTo(name).filter(
      (assign) =>
        assign.target.kind === "name" &&
        enclosingFunction(this.#code, assign) === scope &&
        // The default of a parameter is not an assignment.
        this.#code.parentOf(assign)?.kind !== "list",
    );
  }

  /** What is set more than once may be any of it. */
  #readAssigned(first: Assign, all: readonly Assign[], depth: number): Literal {
    const value = this.read(first.value, depth + 1);
    if (all.length === 1) return value;
    return value.kind === "object" || value.kind === "list" ? { ...value, open: true } : value;
  }

  #parameterOf(scope: FunctionNode, name: string): { readonly place: number; readonly path: string[] } | undefined {
    for (const [place, parameter] of scope.parameters.entries()) {
      if (parameter.kind !== "parameter") continue;
      if (parameter.target.kind === "name" && parameter.target.name === name) return { place, path: [] };
      // `function parse({ options })`
      const entries = parameter.target.kind === "object" ? parameter.target.entries : [];
      const entry = entries.find((one) => one.kind === "entry" && nameIn(one.value) === name);
      if (entry?.kind === "entry" && entry.key !== undefined) return { place, path: [entry.key] };
    }
    return undefined;
  }

  /** A parameter is what the one call of its function passes; what several calls pass may be any of it. */
  #readParameter(
    scope: FunctionNode,
    { place, path }: { readonly place: number; readonly path: readonly string[] },
    depth: number,
  ): Literal {
    const name = [...this.#code.functions].find(([, fn]) => fn === scope)?.[0];
    const calls = name === undefined ? [] : this.#code.callsOf(name);
    const values = calls.map((call) => {
      const argument = call.args[place] ?? (scope.parameters[place] as Parameter | undefined)?.fallback;
      const value = argument === undefined ? unknown : this.read(argument, depth + 1);
      return path.reduce((outer: Literal, key) => entryOf(outer, key) ?? unknown, value);
    });
    const [only] = values;
    if (values.length === 1 && only !== undefined) return only;
    const entries = values.flatMap((value) => (value.kind === "object" ? value.entries : []));
    return entries.length === 0 ? unknown : { kind: "object", entries: [...new Map(entries)], open: true };
  }

  /** Adds what the code puts into an object after it was made: `options.x = …`, `options[key] = …`, `list.push(…)`. */
  #withChanges(name: string, literal: Literal, depth: number): Literal {
    if (literal.kind === "list") {
      const isChanged = ["push", "unshift", "splice"]
        .flatMap((method) => this.#code.callsOf(method))
        .some(({ callee }) => callee.kind === "member" && nameIn(callee.object) === name);
      return isChanged ? { ...literal, open: true } : literal;
    }
    if (literal.kind !== "object") return literal;
    const entries = new Map(literal.entries);
    let open = literal.open === true;
    for (const { target, value } of this.#code.assignsTo(name)) {
      if (target.kind !== "member" && target.kind !== "index") continue;
      const keys = target.kind === "member" ? [target.property] : this.keysOf(target.index, depth);
      for (const key of keys ?? []) entries.set(key, this.read(value, depth + 1));
      open ||= keys === undefined;
    }
    open ||= this.#code.callsOf("assign").some(({ args: [first] }) => first !== undefined && nameIn(first) === name);
    return { kind: "object", entries: [...entries], ...(open && { open: true }) };
  }
}

function nameIn(node: CodeNode): string | undefined {
  if (node.kind === "assign") return nameIn(node.target);
  return node.kind === "name" ? node.name : undefined;
}

/** The JSON that a literal is; nothing if any part of it could not be resolved. */
export function toJson(literal: Literal | undefined): JsonValue | undefined {
  switch (literal?.kind) {
    case "value":
      return literal.value;
    case "list": {
      const items = literal.items.map(toJson);
      return literal.open !== true && items.every((item) => item !== undefined) ? items : undefined;
    }
    case "object": {
      const entries = literal.entries.map(([key, value]) => [key, toJson(value)] as const);
      return literal.open !== true && entries.every(([, value]) => value !== undefined)
        ? (Object.fromEntries(entries) as Record<string, JsonValue>)
        : undefined;
    }
    case "name":
    case "unknown":
    case undefined:
      return undefined;
  }
}

/** The entry of an object by its key. */
export function entryOf(literal: Literal | undefined, key: string): Literal | undefined {
  return literal?.kind === "object" ? literal.entries.find(([name]) => name === key)?.[1] : undefined;
}

/** The text that a literal is. */
export function textOf(literal: Literal | undefined): string | undefined {
  const value = toJson(literal);
  return typeof value === "string" ? value : undefined;
}

/** The texts that a list has; others in it are left out. */
export function textsOf(literal: Literal | undefined): readonly string[] {
  if (literal?.kind === "list") return literal.items.map(textOf).filter((text) => text !== undefined);
  const text = textOf(literal);
  return text === undefined ? [] : [text];
}

/** Whether everything that matters of a value is known. */
export function isWhole(literal: Literal | undefined): boolean {
  if (literal === undefined) return true;
  if (literal.kind === "list") return literal.open !== true && literal.items.every(isWhole);
  return literal.kind === "value" || (literal.kind === "object" && literal.open !== true);
}
