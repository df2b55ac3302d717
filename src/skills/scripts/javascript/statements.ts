import type { CodeNode } from "../code/node.ts";
import { childOf, type SyntaxNode } from "../syntax/parse.ts";
import { operandsOf, type Convert } from "./tree.ts";

/** Converts a `switch`. Cases that share a body become one. */
export const toSwitch: Convert = (converter, node) => {
  const cases: CodeNode[] = [];
  let values: CodeNode[] = [];
  let start = node.start;
  for (const item of operandsOf(childOf(node, "body"))) {
    if (values.length === 0) ({ start } = item);
    const own = childOf(item, "value");
    if (own !== undefined) values.push(converter.one(own));
    const body = item.children.filter(({ field, named }) => field === "body" && named);
    if (body.length === 0) continue;
    cases.push({ kind: "case", start, values, body: body.flatMap((child) => converter.body(child)) });
    values = [];
  }
  return { kind: "switch", start: node.start, subject: converter.field(node, "value"), cases };
};

/** Converts a loop over values, or one with a condition. */
export const toLoop: Convert = (converter, node) => {
  const left = childOf(node, "left");
  const base = { kind: "loop", start: node.start, body: converter.body(childOf(node, "body")) } as const;
  if (left !== undefined)
    return { ...base, variable: converter.one(left), over: converter.field(node, "right"), head: [] };
  const head = ["initializer", "condition", "increment"].map((name) => childOf(node, name));
  return { ...base, head: head.flatMap((child) => (child?.named ? converter.body(child) : [])) };
};

/** Converts an `import`, with the names that it brings. */
export const toImport: Convert = (converter, node) => {
  const source = childOf(node, "source");
  const names: { imported: string; local: string }[] = [];
  const visit = (child: SyntaxNode): void => {
    if (child.type === "import_specifier") {
      const name = childOf(child, "name");
      const alias = childOf(child, "alias") ?? name;
      if (name !== undefined && alias !== undefined)
        names.push({ imported: converter.textOf(name), local: converter.textOf(alias) });
    } else if (child.type === "identifier") names.push({ imported: "default", local: converter.textOf(child) });
    else for (const inside of child.children) visit(inside);
  };
  for (const child of operandsOf(node)) if (child.type === "import_clause") visit(child);
  return { kind: "import", start: node.start, module: source ? converter.string(source) : "", names };
};

/** Makes the converter of `return`, `throw`, `break` or `continue`. */
export const leave =
  (how: "return" | "throw" | "break" | "continue"): Convert =>
  (converter, node) => {
    const [operand] = operandsOf(node);
    const isValue = operand !== undefined && operand.type !== "statement_identifier";
    return { kind: "leave", how, start: node.start, ...(isValue && { value: converter.one(operand) }) };
  };
