import { around, type Code, parametersOf } from "../code/code.ts";
import { calledName, dispatch, dottedName, plainValue, textOf, walk, type CodeNode } from "../code/node.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { StdinFact } from "./argv-facts.ts";

type Field = StdinFact["fields"][number];

/** What the code says about the JSON that it reads from standard input: that it is a list, or which keys it has. */
export function readJsonInput(code: Code): StdinFact {
  const inputs = findInputs(code);
  if (isList(code, inputs)) return { as: "json", isList: true, fields: [] };
  return { as: "json", fields: findFields(code, inputs) };
}

/** What holds the JSON that came in. */
interface Inputs {
  /** Variables; `sure` if the code shows that it came from standard input. */
  readonly names: ReadonlyMap<string, "sure" | "likely">;
  /** `JSON.parse(text)`, of standard input. */
  isParsed(node: CodeNode): boolean;
}

const listMethods =
  /^(?:map|filter|forEach|reduce|flatMap|some|every|find|findIndex|slice|sort|toSorted|join|concat|at|push|pop|shift|append|extend|length)$/u;
const objectFunctions = /^(?:keys|values|items|entries|get)$/u;
const listFunctions = /^(?:len|sorted|enumerate|reversed|sum|max|min|list|map|filter)$/u;

/** `rows.map(…)`, `for row in json.load(sys.stdin)`, `sorted(rows)`. */
function isList(code: Code, inputs: Inputs): boolean {
  const isInput = (node: CodeNode | undefined): boolean =>
    node !== undefined && ((node.kind === "name" && inputs.names.get(node.name) === "sure") || inputs.isParsed(node));
  const likeList = (node: CodeNode): boolean =>
    dispatch<boolean>(node, {
      member: ({ object, property }) => isInput(object) && listMethods.test(property),
      loop: ({ over }) => isInput(over),
      call: (call) =>
        listFunctions.test(calledName(call) ?? "") && call.callee.kind === "name" && isInput(call.args[0]),
      spread: ({ operand }) => isInput(operand) && code.parentOf(node)?.kind === "list",
      index: ({ object, index }) => isInput(object) && index.kind === "value" && typeof index.value === "number",
    }) ?? false;
  const likeObject = (node: CodeNode): boolean =>
    dispatch<boolean>(node, {
      member: ({ object, property }) => isInput(object) && !listMethods.test(property),
      index: ({ object, index }) => isInput(object) && (index.kind !== "value" || typeof index.value === "string"),
      call: (call) =>
        (objectFunctions.test(calledName(call) ?? "") || calledName(call) === "isinstance") &&
        [...call.args].some(isInput),
      assign: ({ target, value }) => target.kind === "object" && isInput(value),
      operation: ({ operator, operands }) => /^(?:not )?in$/u.test(operator) && isInput(operands[1]),
    }) ?? false;
  return code.all.some(likeList) && !code.all.some(likeObject);
}

/** The keys that code reads from the JSON object it got: `data["file"]`, `data.get("limit", 10)`, `const { file } = data`. */
function findFields(code: Code, inputs: Inputs): readonly Field[] {
  const fields = new Map<string, Field>();
  const isInput = (node: CodeNode): boolean =>
    (node.kind === "name" && inputs.names.has(node.name)) || inputs.isParsed(node);
  for (const node of code.all) {
    for (const field of fieldsAt(code, node, isInput)) {
      const before = fields.get(field.name);
      const isSure = inputs.names.get(field.owner) === "sure" && !field.isAsked;
      const required = (before?.required ?? true) && field.required && isSure;
      const { name, default: fallback = before?.default } = field;
      fields.set(name, withoutUndefined<Field>({ name, required, default: fallback }));
    }
  }
  return [...fields.values()].filter(({ name }) => /^[A-Za-z][\w-]{0,60}$/u.test(name)).slice(0, 60);
}

const parses = /^(?:loads?|parse|json)$/u;
const standardInput = /^(?:sys\.stdin|process\.stdin|stdin|Deno\.stdin|Bun\.stdin)\b/u;
/** Calls whose answer is not what the caller gave. */
const answers =
  /^(?:fetch\w*|get|post|put|request\w*|urlopen|send|execute|query|check_output|run|exec\w*|spawn\w*|open|readFile(?:Sync)?|read_text|read_bytes|getoutput)$/u;
const answerName = /^(?:res|resp|response|reply|answer|result|output|stdout|cached|manifest|config|settings|meta)$/iu;

function findInputs(code: Code): Inputs {
  const texts = findPieces(code);
  const inputs = new Map<string, "sure" | "likely">();
  const readers = [...code.functions].filter(([, fn]) => [...walk(fn.body)].some(isStandardInput));
  const readerNames = new Set(readers.map(([name]) => name));
  const isFromInput = (node: CodeNode): boolean =>
    isStandardInput(node) ||
    (node.kind === "name" && texts.has(node.name)) ||
    (node.kind === "call" && readerNames.has(calledName(node) ?? ""));
  for (const { target, value } of code.assigns) {
    if (target.kind !== "name" || value.kind === "function") continue;
    const parts = [...walk([value])];
    const isSure = parts.some(isFromInput);
    const isParsed = parts.some((node) => parses.test(calledName(node) ?? ""));
    const isAnswer = parts.some(
      (node) => answers.test(calledName(node) ?? "") || (node.kind === "name" && answerName.test(node.name)),
    );
    if (isSure) texts.add(target.name);
    if (isSure && (isParsed || parts.some((node) => readerNames.has(calledName(node) ?? ""))))
      inputs.set(target.name, "sure");
    else if (isParsed && !isAnswer && !inputs.has(target.name)) inputs.set(target.name, "likely");
  }
  for (const name of passedOn(code, inputs)) inputs.set(name, inputs.get(name) ?? "likely");
  const isParsed = (node: CodeNode): boolean =>
    node.kind === "call" && parses.test(calledName(node) ?? "") && [...walk(node.args)].some(isFromInput);
  return { names: inputs, isParsed };
}

/** The variables that hold pieces of standard input: `for await (const piece of process.stdin)`, `process.stdin.on("data", (piece) => …)`. */
function findPieces(code: Code): Set<string> {
  const texts = new Set<string>();
  const note = (name: string): void => void texts.add(name);
  for (const node of code.all) {
    dispatch<void>(node, {
      loop: ({ variable, over }) => {
        if (variable?.kind === "name" && over !== undefined && isStandardInput(over)) note(variable.name);
      },
      call: ({ callee, args: [first, handler] }) => {
        if (callee.kind !== "member") return;
        const { object, property } = callee;
        const isData = property === "on" && standardInput.test(dottedName(object) ?? "") && textOf(first) === "data";
        if (isData && handler?.kind === "function") for (const { name } of parametersOf(handler)) note(name);
        const isPiece = first?.kind === "name" && texts.has(first.name);
        if (property === "push" && object.kind === "name" && isPiece) note(object.name);
      },
    });
  }
  return texts;
}

function isStandardInput(node: CodeNode): boolean {
  if (node.kind === "call") {
    const [first] = node.args;
    const isRead = /^(?:readFileSync|open)$/u.test(calledName(node) ?? "");
    return isRead && first?.kind === "value" && (first.value === 0 || first.value === "/dev/stdin");
  }
  return node.kind === "member" && standardInput.test(dottedName(node) ?? "");
}

/** The parameters of functions of the script that get an input whole. */
function* passedOn(code: Code, inputs: ReadonlyMap<string, unknown>): Generator<string> {
  for (const { callee, args } of code.calls) {
    const fn = callee.kind === "name" ? code.functions.get(callee.name) : undefined;
    for (const [place, parameter] of fn === undefined ? [] : parametersOf(fn).entries()) {
      const given = args[place];
      if (given?.kind === "name" && inputs.has(given.name) && parameter.name !== "") yield parameter.name;
    }
  }
}

/** A key as it is read at one place. */
interface FieldRead extends Field {
  /** The variable. */
  readonly owner: string;
  /** The code asks first whether the key is there, or sets it itself. */
  readonly isAsked: boolean;
}

function fieldsAt(code: Code, node: CodeNode, isInput: (node: CodeNode) => boolean): readonly FieldRead[] {
  const ownerOf = (object: CodeNode): Pick<FieldRead, "owner" | "isAsked"> => ({
    owner: object.kind === "name" ? object.name : "",
    isAsked: false,
  });
  const fields = dispatch<readonly FieldRead[]>(node, {
    index: ({ object, index }) => {
      const name = isInput(object) ? textOf(index) : undefined;
      if (name === undefined) return [];
      const isAsked = isSet(code, node) || asksFor(code, object, name);
      return [{ ...ownerOf(object), isAsked, name, required: !isOptional(code, node) }];
    },
    call: ({ callee, args: [key, fallback] }) => {
      const owner = callee.kind === "member" && callee.property === "get" ? callee.object : undefined;
      const name = owner !== undefined && isInput(owner) ? textOf(key) : undefined;
      if (name === undefined || owner === undefined) return [];
      return [withoutUndefined<FieldRead>({ ...ownerOf(owner), name, required: false, default: plainValue(fallback) })];
    },
    member: ({ object, property }) => {
      const outer = code.parentOf(node);
      const isMethod = outer?.kind === "call" && outer.callee === node;
      return isInput(object) && !isMethod ? [{ ...ownerOf(object), name: property, required: false }] : [];
    },
    assign: ({ target, value }) =>
      target.kind === "object" && isInput(value)
        ? target.entries.flatMap((entry) => patternField(entry, ownerOf(value)))
        : [],
  });
  return fields ?? [];
}

/** `payload["limit"] = 10` */
function isSet(code: Code, node: CodeNode): boolean {
  const outer = code.parentOf(node);
  return outer?.kind === "assign" && outer.target === node;
}

/** `"limit" in payload`, or another place that sets the key. */
function asksFor(code: Code, object: CodeNode, key: string): boolean {
  const owner = object.kind === "name" ? object.name : "";
  const isSame = (node: CodeNode | undefined): boolean => node?.kind === "name" && node.name === owner;
  return code.all.some((node) => {
    if (node.kind === "operation" && /^(?:not )?in$/u.test(node.operator))
      return textOf(node.operands[0]) === key && isSame(node.operands[1]);
    return node.kind === "index" && isSame(node.object) && textOf(node.index) === key && isSet(code, node);
  });
}

/** `const { file, limit = 10 } = data` */
function patternField(entry: CodeNode, owner: Pick<FieldRead, "owner" | "isAsked">): readonly FieldRead[] {
  if (entry.kind !== "entry" || entry.key === undefined) return [];
  const fallback = entry.value.kind === "assign" ? plainValue(entry.value.value) : undefined;
  return [withoutUndefined<FieldRead>({ ...owner, name: entry.key, required: false, default: fallback })];
}

function isOptional(code: Code, node: CodeNode): boolean {
  const [outer] = around(code, node);
  return outer?.kind === "operation" && /^(?:\|\||\?\?|or|\?:)$/u.test(outer.operator);
}
