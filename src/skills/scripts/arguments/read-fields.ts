import { around, type Code } from "../code/code.ts";
import { calledName, plainValue, textOf, walk, type CodeNode } from "../code/node.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { StdinFact } from "./argv-facts.ts";

type Field = StdinFact["fields"][number];

/** The keys that code reads from the JSON object it got: `data["file"]`, `data.get("limit", 10)`, `const { file } = data`. */
export function findFields(code: Code): readonly Field[] {
  const names = new Set(parsedNames(code));
  const fields = new Map<string, Field>();
  const isParsed = (node: CodeNode): boolean => node.kind === "name" && names.has(node.name);
  for (const node of code.all) {
    for (const field of fieldsAt(code, node, isParsed)) {
      const before = fields.get(field.name);
      const required = (before?.required ?? true) && field.required;
      fields.set(field.name, withoutUndefined<Field>({ ...before, ...field, required }));
    }
  }
  return [...fields.values()].filter(({ name }) => /^[A-Za-z][\w-]{0,60}$/u.test(name)).slice(0, 60);
}

/** The variables that hold parsed JSON. */
function parsedNames(code: Code): readonly string[] {
  return code.assigns.flatMap(({ target, value }) => {
    const isParsed = [...walk([value])].some((node) => /^(?:loads?|parse|json)$/u.test(calledName(node) ?? ""));
    return isParsed && target.kind === "name" && value.kind !== "function" ? [target.name] : [];
  });
}

function fieldsAt(code: Code, node: CodeNode, isParsed: (node: CodeNode) => boolean): readonly Field[] {
  switch (node.kind) {
    case "index": {
      const name = isParsed(node.object) ? textOf(node.index) : undefined;
      return name === undefined ? [] : [{ name, required: !isOptional(code, node) }];
    }
    case "call": {
      const isGet = node.callee.kind === "member" && node.callee.property === "get" && isParsed(node.callee.object);
      const name = isGet ? textOf(node.args[0]) : undefined;
      if (name === undefined) return [];
      return [withoutUndefined<Field>({ name, required: false, default: plainValue(node.args[1]) })];
    }
    case "member": {
      const outer = code.parentOf(node);
      const isMethod = outer?.kind === "call" && outer.callee === node;
      return isParsed(node.object) && !isMethod ? [{ name: node.property, required: false }] : [];
    }
    case "assign":
      return node.target.kind === "object" && isParsed(node.value) ? node.target.entries.flatMap(patternField) : [];
    default:
      return [];
  }
}

/** `const { file, limit = 10 } = data` */
function patternField(entry: CodeNode): readonly Field[] {
  if (entry.kind !== "entry" || entry.key === undefined) return [];
  const fallback = entry.value.kind === "assign" ? plainValue(entry.value.value) : undefined;
  return [withoutUndefined<Field>({ name: entry.key, required: false, default: fallback })];
}

function isOptional(code: Code, node: CodeNode): boolean {
  const [outer] = around(code, node);
  return outer?.kind === "operation" && /^(?:\|\||\?\?|or|\?:)$/u.test(outer.operator);
}
