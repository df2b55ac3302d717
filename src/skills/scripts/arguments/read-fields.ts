import { around, type Code } from "../code/code.ts";
import { calledName, dispatch, plainValue, textOf, walk, type CodeNode } from "../code/node.ts";
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
  const fields = dispatch<readonly Field[]>(node, {
    index: ({ object, index }) => {
      const name = isParsed(object) ? textOf(index) : undefined;
      return name === undefined ? [] : [{ name, required: !isOptional(code, node) }];
    },
    call: ({ callee, args: [key, fallback] }) => {
      const isGet = callee.kind === "member" && callee.property === "get" && isParsed(callee.object);
      const name = isGet ? textOf(key) : undefined;
      if (name === undefined) return [];
      return [withoutUndefined<Field>({ name, required: false, default: plainValue(fallback) })];
    },
    member: ({ object, property }) => {
      const outer = code.parentOf(node);
      const isMethod = outer?.kind === "call" && outer.callee === node;
      return isParsed(object) && !isMethod ? [{ name: property, required: false }] : [];
    },
    assign: ({ target, value }) =>
      target.kind === "object" && isParsed(value) ? target.entries.flatMap(patternField) : [],
  });
  return fields ?? [];
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
