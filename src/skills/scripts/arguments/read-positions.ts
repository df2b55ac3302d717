import type { JsonValue } from "../../../core/json.ts";
import { around, parametersOf, type Code } from "../code/code.ts";
import {
  calledName,
  lastName,
  numberOf,
  plainValue,
  textOf,
  walk,
  type CodeNode,
  type Parameter,
} from "../code/node.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ArgumentLists, Dialect, ListUse } from "./argument-lists.ts";
import type { ArgvFacts, PositionFact } from "./argv-facts.ts";

/** A place where the code reads one argument. */
export interface PositionUse {
  readonly node: CodeNode;
  readonly place: number;
  readonly fact: PositionFact;
  /** The flags were taken out before. */
  readonly filtered: boolean;
}

const integerMakers = new Set(["int", "parseInt"]);
const numberMakers = new Set(["Number", "parseFloat", "float"]);

/** The kind of number that a call makes. */
export function numberMade(node: CodeNode | undefined): "integer" | "number" | undefined {
  const name = node === undefined ? "" : (calledName(node) ?? "");
  return integerMakers.has(name) ? "integer" : numberMakers.has(name) ? "number" : undefined;
}

/** The default of a number is often written as text: `parseInt(args[1] || "10")`. */
export function asNumber(value: JsonValue | undefined, type: PositionFact["type"]): JsonValue | undefined {
  const isText = type !== undefined && typeof value === "string" && /^-?\d+(?:\.\d+)?$/u.test(value);
  return isText ? Number(value) : value;
}

/** Finds where code reads single arguments. */
export function findPositions(code: Code, lists: ArgumentLists, dialect: Dialect): readonly PositionUse[] {
  const docs = documentedParameters(code);
  const single = lists.uses.flatMap((use) => {
    const read = indexedAt(code, use);
    if (read !== undefined) return [toUse(code, read.node, { ...use, place: read.number - use.skip, dialect })];
    const first = use.skip === 0 ? firstAt(code, use) : undefined;
    return first === undefined ? [] : [toUse(code, first, { place: 0, dialect, filtered: true })];
  });
  const uses = [
    ...single.filter(({ place }) => place >= 0),
    ...lists.uses.flatMap((use) => [...destructuredAt(code, use).uses, ...spreadAt(code, use)]),
    ...shifted(code, lists),
  ];
  return uses
    .toSorted((left, right) => left.node.start - right.node.start)
    .map((use) => {
      const doc = docs.get(use.fact.name ?? "");
      return doc === undefined ? use : { ...use, fact: { ...doc, ...use.fact } };
    });
}

/** `list[2]`, `list.at(2)` */
function indexedAt(code: Code, { node }: ListUse): { readonly node: CodeNode; readonly number: number } | undefined {
  const outer = code.parentOf(node);
  if (outer?.kind === "index" && outer.object === node) {
    const number = numberOf(outer.index);
    return number === undefined ? undefined : { node: outer, number };
  }
  const call = outer?.kind === "member" && outer.property === "at" ? code.parentOf(outer) : undefined;
  const number = call?.kind === "call" && call.callee === outer ? numberOf(call.args[0]) : undefined;
  return call === undefined || number === undefined ? undefined : { node: call, number };
}

/** `list.find((word) => !word.startsWith("--"))`: the first that is no flag. */
function firstAt(code: Code, { node }: ListUse): CodeNode | undefined {
  const outer = code.parentOf(node);
  const call = outer?.kind === "member" && outer.property === "find" ? code.parentOf(outer) : undefined;
  if (call?.kind !== "call" || call.callee !== outer) return undefined;
  const skipsFlags = [...walk(call.args)].some((part) => /^--?$/u.test(textOf(part) ?? ""));
  return skipsFlags ? call : undefined;
}

const otherwise = /^(?:\|\||\?\?|or)$/u;
const conditional = /^(?:\?:|&&|and|\|\||\?\?|or|===|!==|==|!=|!|not)$/u;

/** What stands around an argument that is read. */
interface Surroundings {
  fallback?: JsonValue | undefined;
  isOptional: boolean;
  type?: "integer" | "number" | undefined;
  name?: string;
  /** The argument is opened at once: the variable is not the argument, but what was made of it. */
  opened?: "file";
  parameter?: Parameter | undefined;
}

/** `PdfReader(sys.argv[1])`, `open(sys.argv[1])`, `readFileSync(process.argv[2])` */
const openers =
  /^(?:open|openSync|readFile(?:Sync)?|createReadStream|read_text|load_workbook|read_csv|read_excel|imread|ZipFile|Document|Presentation|[A-Z]\w*(?:Reader|File|Parser))$/u;

function toUse(
  code: Code,
  node: CodeNode,
  { place, dialect, filtered }: { place: number; dialect: Dialect; filtered: boolean },
): PositionUse {
  const { fallback, isOptional, type, name, parameter } = surroundingsOf(code, node);
  const named = name === undefined && parameter !== undefined ? factOf(parameter) : {};
  const made = type ?? named.type;
  const fact = withoutUndefined<PositionFact>({
    ...named,
    name: name ?? named.name,
    default: asNumber(fallback, made) ?? named.default,
    type: made,
    required: fallback !== undefined || isOptional ? false : dialect.strict ? true : undefined,
  });
  return { node, place, fact, filtered };
}

/** Looks outwards as long as the expression is still about the one argument. */
function surroundingsOf(code: Code, node: CodeNode): Surroundings {
  const found: Surroundings = { isOptional: false };
  let inner = node;
  let isDirect = true;
  for (const outer of around(code, node)) {
    if (outer.kind === "assign") {
      if (outer.value === inner && outer.target.kind === "name") found.name = found.opened ?? outer.target.name;
      return found;
    }
    if (outer.kind === "if" && outer.test === inner && isDirect) found.isOptional = true;
    if (outer.kind === "operation" && isDirect) noteOperation(found, outer, inner);
    else if (outer.kind === "call" && isDirect) {
      isDirect = noteCall(code, found, { call: outer, inner });
    } else if (!expressions.has(outer.kind)) return found;
    inner = outer;
  }
  return found;
}

const expressions = new Set(["operation", "call", "member", "index", "slice", "template", "spread"]);

function noteOperation(
  found: Surroundings,
  { operator, operands }: CodeNode & { kind: "operation" },
  inner: CodeNode,
): void {
  if (conditional.test(operator)) found.isOptional = true;
  const other = otherwise.test(operator) && operands[0] === inner ? operands[1] : undefined;
  const fallback = operator === "?:" && operands[2] !== inner ? operands[2] : other;
  found.fallback ??= plainValue(fallback) ?? plainInNumber(fallback);
}

/** `Number("10")` */
function plainInNumber(node: CodeNode | undefined): JsonValue | undefined {
  return node?.kind === "call" && numberMade(node) !== undefined ? plainValue(node.args[0]) : undefined;
}

/** Says whether the call only converts the argument. */
function noteCall(
  code: Code,
  found: Surroundings,
  { call, inner }: { call: CodeNode & { kind: "call" }; inner: CodeNode },
): boolean {
  const place = call.args.indexOf(inner);
  if (place === -1) return true;
  found.type ??= numberMade(call);
  if (place === 0 && openers.test(calledName(call) ?? "")) found.opened = "file";
  const fn = call.callee.kind === "name" ? code.functions.get(call.callee.name) : undefined;
  if (fn !== undefined) found.parameter ??= parametersOf(fn)[place]?.node;
  return fn === undefined && place === 0 && (call.args.length === 1 || numberMade(call) !== undefined);
}

const integerTypes = new Set(["int"]);
const numberTypes = new Set(["float", "number"]);

function factOf({ target, annotation = "", fallback }: Parameter): PositionFact {
  return withoutUndefined<PositionFact>({
    name: target.kind === "name" ? target.name : undefined,
    type: integerTypes.has(annotation) ? "integer" : numberTypes.has(annotation) ? "number" : undefined,
    default: plainValue(fallback),
  });
}

/** Reads `[a, b = 1, ...rest] = LIST` and `a, b = LIST`. */
export function destructuredAt(
  code: Code,
  { node, skip, filtered }: ListUse,
): { readonly uses: readonly PositionUse[]; readonly rest?: NonNullable<ArgvFacts["rest"]> } {
  const outer = code.parentOf(node);
  const items =
    outer?.kind === "assign" && outer.value === node && outer.target.kind === "list" ? outer.target.items : [];
  const uses: PositionUse[] = [];
  let rest: NonNullable<ArgvFacts["rest"]> | undefined;
  for (const [number, item] of items.entries()) {
    const place = number - skip;
    if (place < 0) continue;
    if (item.kind === "spread" && item.operand.kind === "name") rest = { from: place, name: item.operand.name };
    const target = item.kind === "assign" ? item.target : item;
    if (target.kind !== "name") continue;
    const value = item.kind === "assign" ? plainValue(item.value) : undefined;
    const fact = withoutUndefined<PositionFact>({
      name: target.name,
      default: value,
      required: item.kind === "assign" ? false : undefined,
    });
    uses.push({ node, place, fact, filtered });
  }
  return { uses, ...(rest !== undefined && { rest }) };
}

/** `main(...process.argv.slice(2))`: the parameters of `main` are the arguments. */
function spreadAt(code: Code, { node, skip, filtered }: ListUse): readonly PositionUse[] {
  const fn = spreadFunction(code, node);
  if (fn === undefined) return [];
  return parametersOf(fn).flatMap(({ node: parameter }, number) => {
    const place = number - skip;
    if (place < 0 || parameter.rest) return [];
    const fact = { ...factOf(parameter), required: parameter.fallback === undefined };
    return [{ node, place, fact, filtered }];
  });
}

/** The function of the script whose call gets the list as its arguments. */
export function spreadFunction(code: Code, node: CodeNode): (CodeNode & { kind: "function" }) | undefined {
  const spread = code.parentOf(node);
  const call = spread?.kind === "spread" ? code.parentOf(spread) : undefined;
  return call?.kind === "call" && call.callee.kind === "name" ? code.functions.get(call.callee.name) : undefined;
}

/** `const file = args.shift()`, one after the other; in a loop the same call takes them all. */
function shifted(code: Code, { uses }: ArgumentLists): readonly PositionUse[] {
  return uses
    .flatMap(({ node, filtered }): Omit<PositionUse, "place">[] => {
      const member = code.parentOf(node);
      const call = member?.kind === "member" && member.property === "shift" ? code.parentOf(member) : undefined;
      const assign = call?.kind === "call" ? code.parentOf(call) : undefined;
      if (assign?.kind !== "assign" || assign.target.kind !== "name") return [];
      const isInLoop = [...around(code, node)].some((outer) => outer.kind === "loop");
      return isInLoop ? [] : [{ node, fact: { name: assign.target.name }, filtered }];
    })
    .map((use, place) => ({ ...use, place }));
}

const paramTag = /@param\s+\{([^{}\n]{1,60})\}\s+\[?(\w+)[^\s\]]{0,60}\]?[ \t]*-?[ \t]*([^\n]{0,300})/gu;

/** What JSDoc says about parameters, by their names: `@param {number} count - How often`. */
function documentedParameters({ pieces }: Code): ReadonlyMap<string, PositionFact> {
  const found = new Map<string, PositionFact>();
  for (const { kind, text } of pieces) {
    if (kind !== "comment" || !text.includes("@param")) continue;
    for (const [, type = "", name = "", words = ""] of text.matchAll(paramTag)) {
      const description = words.trim();
      const isNumber = type.trim() === "number";
      if (!found.has(name))
        found.set(name, { ...(isNumber && { type: "number" }), ...(description !== "" && { description }) });
    }
  }
  return found;
}

const endings =
  /^(?:exit|quit|die|abort|stop|usage|help|fail|fatal|(?:show|print|display)_?(?:usage|help)|Error|SystemExit)$/iu;

/** Whether statements end the script; `return` counts only where it is asked for. */
function endsScript(nodes: readonly CodeNode[], withReturn = false): boolean {
  for (const node of walk(nodes)) {
    if (node.kind === "leave" && (node.how === "throw" || (withReturn && node.how === "return"))) return true;
    if (node.kind === "call" && endings.test(calledName(node) ?? "")) return true;
  }
  return false;
}

/** What runs if the condition holds that an expression is a part of. */
export function branchOf(code: Code, node: CodeNode): readonly CodeNode[] {
  let inner = node;
  for (const outer of around(code, node)) {
    if (outer.kind === "if") return outer.test === inner ? outer.then : [];
    if (outer.kind !== "operation") return [];
    const [first, second] = outer.operands;
    if (outer.operator === "?:" && first === inner && second !== undefined) return [second];
    if (/^(?:&&|and)$/u.test(outer.operator) && first === inner && second !== undefined && endsScript([second]))
      return [second];
    inner = outer;
  }
  return [];
}

/** What a comparison of the number of arguments says. */
interface CountFacts {
  /** The script stops when there are fewer. */
  readonly minimum?: number;
  /** The argument at this place, and all after it, need not be given. */
  readonly optionalFrom: number;
}

/** Reads `len(sys.argv) < 3`, `args.length === 0`, `if not args`. */
export function readCounts(code: Code, lists: ArgumentLists): CountFacts {
  const minimums: number[] = [];
  let optionalFrom = Number.POSITIVE_INFINITY;
  for (const node of code.all) {
    if (node.kind !== "operation") continue;
    const [left, right] = node.operands;
    const list = left === undefined ? undefined : lengthOf(left, lists);
    if (list === undefined) continue;
    const { operator } = node;
    const number = numberOf(right);
    const count = (number ?? 0) - list.skip;
    if (number !== undefined && operator.startsWith(">"))
      optionalFrom = Math.min(optionalFrom, operator === ">" ? count : count - 1);
    else if (endsScript(branchOf(code, node), true)) {
      minimums.push(number === undefined ? minimumWithoutNumber(operator) : minimumOf(operator, count));
    }
  }
  const demanded = minimums.filter((minimum) => minimum > 0);
  return { optionalFrom, ...(demanded.length > 0 && { minimum: Math.min(...demanded) }) };
}

/** `if (!args.length)` */
function minimumWithoutNumber(operator: string): number {
  return operator === "!" || operator === "not" ? 1 : 0;
}

function minimumOf(operator: string, count: number): number {
  if (operator === "<=") return count + 1;
  if (operator === "==" || operator === "===") return count === 0 ? 1 : 0;
  return /^(?:<|!==?)$/u.test(operator) ? count : 0;
}

function lengthOf(node: CodeNode, lists: ArgumentLists): { readonly skip: number } | undefined {
  if (node.kind === "member" && /^(?:length|size)$/u.test(node.property)) return lists.of(node.object);
  return node.kind === "call" && calledName(node) === "len" && node.args[0] ? lists.of(node.args[0]) : lists.of(node);
}

/** The names that the code does not go on without: `if (!file) { …; process.exit(1) }` */
export function demandedNames(code: Code): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of code.all) {
    if (node.kind !== "operation" || (node.operator !== "!" && node.operator !== "not")) continue;
    const [operand] = node.operands;
    const isPlain = operand?.kind === "name";
    const name = operand?.kind === "index" ? textOf(operand.index) : operand && lastName(operand);
    // A function that returns early need not be about the arguments.
    if (name !== undefined && endsScript(branchOf(code, node), isPlain && node.operator === "!")) names.add(name);
  }
  return names;
}
