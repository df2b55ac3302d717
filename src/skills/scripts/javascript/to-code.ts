import type { JsonValue } from "../../../core/json.ts";
import { indexCode, type Code } from "../code/code.ts";
import type { CodeNode, Entry, Parameter } from "../code/node.ts";
import type { Piece } from "../code/pieces.ts";
import { childOf, type SyntaxNode, type SyntaxTree } from "../syntax/parse.ts";
import { leave, toImport, toLoop, toSwitch } from "./statements.ts";
import { commentsOf, commentTypes, meaningful, operandsOf, unescape, type Convert, type Converter } from "./tree.ts";

/** Turns the syntax tree of JavaScript or TypeScript into code that can be searched. */
export function toCode(text: string, { root, hasErrors }: SyntaxTree): Code {
  const converter = new TreeConverter(text);
  const nodes = converter.all(root);
  const pieces = [...commentsOf(text, root), ...converter.pieces].toSorted((left, right) => left.start - right.start);
  return indexCode(nodes, { text, pieces, hasErrors });
}

class TreeConverter implements Converter {
  readonly pieces: Piece[] = [];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  textOf({ start, end }: SyntaxNode): string {
    return this.#text.slice(start, end);
  }

  /** All nodes below `node` that mean something. */
  all(node: SyntaxNode | undefined): CodeNode[] {
    return meaningful(node).flatMap((child) => this.#statement(child));
  }

  one(node: SyntaxNode | undefined): CodeNode {
    if (node === undefined) return { kind: "hole", start: 0 };
    const convert = Object.hasOwn(converters, node.type) ? converters[node.type] : undefined;
    return convert === undefined
      ? { kind: "other", type: node.type, start: node.start, children: this.all(node) }
      : convert(this, node);
  }

  field(node: SyntaxNode, name: string): CodeNode {
    return this.one(childOf(node, name));
  }

  /** The statements of a block, or the one statement that stands for it. */
  body(node: SyntaxNode | undefined): CodeNode[] {
    if (node === undefined) return [];
    return node.type === "statement_block" || node.type === "else_clause" ? this.all(node) : this.#statement(node);
  }

  #statement(node: SyntaxNode): CodeNode[] {
    if (transparent.has(node.type)) return this.all(node);
    return skipped.has(node.type) ? [] : [this.one(node)];
  }

  /** The value of a string, with its escapes undone. */
  string(node: SyntaxNode): string {
    const text = node.children
      .filter(({ named }) => named)
      .map((part) => (part.type === "escape_sequence" ? unescape(this.textOf(part)) : this.textOf(part)))
      .join("");
    this.pieces.push({ kind: "string", text, start: node.start, end: node.end, line: node.line });
    return text;
  }
}

/** Types, punctuation and words that say nothing about arguments. */
const skipped = new Set([
  ...commentTypes,
  "type_annotation",
  "type_arguments",
  "type_parameters",
  "type_alias_declaration",
  "interface_declaration",
  "optional_chain",
  "regex_flags",
  "accessibility_modifier",
]);

/** What only stands around statements. */
const transparent = new Set([
  "lexical_declaration",
  "variable_declaration",
  "expression_statement",
  "statement_block",
  "ERROR",
]);

const value = (start: number, content: JsonValue): CodeNode => ({ kind: "value", start, value: content });
const inner: Convert = (converter, node) => converter.one(operandsOf(node)[0]);

const toFunction: Convert = (converter, node) => {
  const name = childOf(node, "name");
  const parameters = childOf(node, "parameters") ?? childOf(node, "parameter");
  const list = parameters?.type === "formal_parameters" ? operandsOf(parameters) : parameters ? [parameters] : [];
  const body = childOf(node, "body");
  const isExpression = body !== undefined && body.type !== "statement_block";
  return {
    kind: "function",
    start: node.start,
    ...(name !== undefined && { name: converter.textOf(name) }),
    parameters: list.map((parameter) => toParameter(converter, parameter)),
    body: isExpression
      ? [{ kind: "leave", how: "return", start: body.start, value: converter.one(body) }]
      : converter.body(body),
  };
};

function toParameter(converter: Converter, node: SyntaxNode): Parameter {
  const pattern = childOf(node, "pattern") ?? childOf(node, "left") ?? node;
  const fallback = childOf(node, "value") ?? childOf(node, "right");
  const type = childOf(node, "type");
  const target = converter.one(pattern);
  return {
    kind: "parameter",
    start: node.start,
    target: target.kind === "spread" ? target.operand : target,
    ...(target.kind === "spread" && { rest: true }),
    ...(type !== undefined && { annotation: /\w+/u.exec(converter.textOf(type))?.[0] ?? "" }),
    ...(fallback !== undefined && fallback !== pattern && { fallback: converter.one(fallback) }),
  };
}

const toEntry: Convert = (converter, node) => {
  const key = childOf(node, "key") ?? childOf(node, "name");
  const content =
    node.type === "method_definition" ? toFunction(converter, node) : converter.one(childOf(node, "value"));
  return { kind: "entry", start: node.start, ...keyOf(converter, key), value: content };
};

function keyOf(converter: Converter, key: SyntaxNode | undefined): Pick<Entry, "key" | "computed"> {
  if (key === undefined) return {};
  if (key.type === "string") return { key: converter.string(key) };
  if (key.type !== "computed_property_name") return { key: converter.textOf(key) };
  return { computed: converter.one(operandsOf(key)[0]) };
}

const shorthand: Convert = (converter, node) => {
  const key = converter.textOf(node);
  return { kind: "entry", start: node.start, key, value: { kind: "name", name: key, start: node.start } };
};

/** `a = 1` in a pattern. */
const withDefault: Convert = (converter, node) => {
  const left = childOf(node, "left");
  const assign: CodeNode = {
    kind: "assign",
    operator: "=",
    start: node.start,
    target:
      left?.type === "shorthand_property_identifier_pattern"
        ? { kind: "name", name: converter.textOf(left), start: node.start }
        : converter.one(left),
    value: converter.field(node, "right"),
  };
  if (node.type !== "object_assignment_pattern" || left === undefined) return assign;
  return { kind: "entry", start: node.start, key: converter.textOf(left), value: assign };
};

const toCall: Convert = (converter, node) => ({
  kind: "call",
  start: node.start,
  end: node.end,
  callee: converter.one(childOf(node, "function") ?? childOf(node, "constructor")),
  args: operandsOf(childOf(node, "arguments")).map((argument) => converter.one(argument)),
  ...(node.type === "new_expression" && { isNew: true }),
});

const toOperation: Convert = (converter, node) => {
  const operator = childOf(node, "operator");
  const operands = operandsOf(node).filter((child) => child !== operator);
  const negative = node.type === "unary_expression" && operator !== undefined && converter.textOf(operator) === "-";
  const operand = negative && operands[0] !== undefined ? converter.one(operands[0]) : undefined;
  if (operand?.kind === "value" && typeof operand.value === "number") return value(node.start, -operand.value);
  return {
    kind: "operation",
    operator: operator === undefined ? "" : converter.textOf(operator),
    start: node.start,
    operands: operand === undefined ? operands.map((child) => converter.one(child)) : [operand],
  };
};

const toAssign: Convert = (converter, node) => {
  const operator = childOf(node, "operator");
  return {
    kind: "assign",
    operator: operator === undefined ? "=" : converter.textOf(operator),
    start: node.start,
    target: converter.field(node, "left"),
    value: converter.field(node, "right"),
  };
};

const toDeclaration: Convert = (converter, node) => ({
  kind: "assign",
  operator: "=",
  start: node.start,
  target: converter.field(node, "name"),
  value: converter.field(node, "value"),
  declares: true,
});

const toTemplate: Convert = (converter, node) => {
  const text = converter.string(node);
  const parts = operandsOf(node).filter(({ type }) => type === "template_substitution");
  if (parts.length === 0) return value(node.start, text);
  return { kind: "template", start: node.start, text, parts: parts.map((part) => inner(converter, part)) };
};

const name: Convert = (converter, node) => ({ kind: "name", name: converter.textOf(node), start: node.start });
const list: Convert = (converter, node) => ({ kind: "list", start: node.start, items: itemsOf(converter, node) });

/** The items of a list, also those that are left out: `[, , file]` has three. */
function itemsOf(converter: Converter, node: SyntaxNode): readonly CodeNode[] {
  const items: CodeNode[] = [];
  let isOpen = true;
  for (const child of node.children) {
    if (child.type === "," && isOpen) items.push({ kind: "hole", start: child.start });
    if (child.type === ",") isOpen = true;
    else if (child.named && child.type !== "comment") {
      items.push(converter.one(child));
      isOpen = false;
    }
  }
  return items;
}

const object: Convert = (converter, node) => ({ kind: "object", start: node.start, entries: converter.all(node) });

const converters: Readonly<Record<string, Convert>> = {
  identifier: name,
  this: name,
  undefined: (_, node) => value(node.start, null),
  null: (_, node) => value(node.start, null),
  true: (_, node) => value(node.start, true),
  false: (_, node) => value(node.start, false),
  string: (converter, node) => value(node.start, converter.string(node)),
  template_string: toTemplate,
  number: (converter, node) => value(node.start, toNumber(converter.textOf(node))),
  array: list,
  array_pattern: list,
  object,
  object_pattern: object,
  pair: toEntry,
  pair_pattern: toEntry,
  method_definition: toEntry,
  shorthand_property_identifier: shorthand,
  shorthand_property_identifier_pattern: shorthand,
  assignment_pattern: withDefault,
  object_assignment_pattern: withDefault,
  spread_element: (converter, node) => ({ kind: "spread", start: node.start, operand: inner(converter, node) }),
  rest_pattern: (converter, node) => ({ kind: "spread", start: node.start, operand: inner(converter, node) }),
  member_expression: (converter, node) => {
    const property = childOf(node, "property");
    const text = property === undefined ? "" : converter.textOf(property);
    return { kind: "member", start: node.start, object: converter.field(node, "object"), property: text };
  },
  subscript_expression: (converter, node) => ({
    kind: "index",
    start: node.start,
    object: converter.field(node, "object"),
    index: converter.field(node, "index"),
  }),
  call_expression: toCall,
  new_expression: toCall,
  binary_expression: toOperation,
  unary_expression: toOperation,
  update_expression: toOperation,
  ternary_expression: (converter, node) => ({
    kind: "operation",
    operator: "?:",
    start: node.start,
    operands: ["condition", "consequence", "alternative"].map((field) => converter.field(node, field)),
  }),
  assignment_expression: toAssign,
  augmented_assignment_expression: toAssign,
  variable_declarator: toDeclaration,
  parenthesized_expression: inner,
  await_expression: inner,
  as_expression: inner,
  satisfies_expression: inner,
  non_null_expression: inner,
  type_assertion: (converter, node) => converter.one(operandsOf(node).at(-1)),
  function_declaration: toFunction,
  function_expression: toFunction,
  generator_function: toFunction,
  generator_function_declaration: toFunction,
  arrow_function: toFunction,
  if_statement: (converter, node) => ({
    kind: "if",
    start: node.start,
    test: converter.field(node, "condition"),
    then: converter.body(childOf(node, "consequence")),
    otherwise: converter.body(childOf(node, "alternative")),
  }),
  for_statement: toLoop,
  for_in_statement: toLoop,
  while_statement: toLoop,
  do_statement: toLoop,
  switch_statement: toSwitch,
  return_statement: leave("return"),
  throw_statement: leave("throw"),
  break_statement: leave("break"),
  continue_statement: leave("continue"),
  import_statement: toImport,
};

function toNumber(text: string): JsonValue {
  const number = Number(text.replaceAll("_", "").replace(/n$/u, ""));
  return Number.isFinite(number) ? number : null;
}
