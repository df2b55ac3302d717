import { around, type Code } from "../code/code.ts";
import {
  calledName,
  dispatch,
  lastName,
  numberOf,
  plainValue,
  textOf,
  walk,
  type Call,
  type CodeNode,
  type FunctionNode,
} from "../code/node.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { FlagFact } from "./argv-facts.ts";
import { asNumber, branchOf, numberMade } from "./read-positions.ts";

/** A place where code asks for a flag. */
interface FlagUse {
  readonly node: CodeNode;
  readonly flag: string;
  readonly how: "compare" | "search" | "include" | "prefix" | "helper";
  /** What asks: the comparison, the case, the call. */
  readonly asks: CodeNode;
}

const flagText = /^--?[A-Za-z][\w.-]*$/u;
const comparers = /^[!=]==?$/u;
const searchers = new Set(["indexOf", "index", "findIndex", "lastIndexOf"]);
const includers = new Set(["includes", "has", "some", "contains"]);
const prefixers = new Set(["startsWith", "startswith"]);
const helperName =
  /^(?:get|has|read|take|parse|find|is)?_?(?:cli_?)?(?:arg|args|argv|opt|opts|option|flag|param|value|string|number|bool)(?:_?(?:value|or|flag|arg|opt|option|val))*$/iu;

/** Finds the flags that code compares its arguments with. */
export function findFlags(code: Code): readonly FlagFact[] {
  const uses = code.all.map((node) => toFlagUse(code, node)).filter((use) => use !== undefined);
  // Two spellings in one condition are one flag.
  const groups = new Map<CodeNode, FlagUse[]>();
  for (const use of uses) {
    const condition = use.how === "helper" ? use.asks : conditionOf(code, use.asks);
    const group = groups.get(condition);
    if (group !== undefined && group[0]?.how === use.how) group.push(use);
    else groups.set(group === undefined ? condition : use.asks, [use]);
  }
  const next = nextNames(code);
  return joinSpellings([...groups.values()].map((group) => toFact(code, group, next)));
}

function toFlagUse(code: Code, node: CodeNode): FlagUse | undefined {
  const text = textOf(node) ?? "";
  if (text === "" || text.length > 60) return undefined;
  const asked = contextOf(code, node);
  if (asked === undefined) return undefined;
  if (asked.how === "prefix")
    return /^--?[A-Za-z][\w.-]*=$/u.test(text) ? { ...asked, node, flag: text.slice(0, -1) } : undefined;
  if (flagText.test(text)) return { ...asked, node, flag: text };
  // `getArg("out")`, where the helper puts the dashes before the name.
  const isNamed = asked.how === "helper" && /^[a-z][\w-]*$/u.test(text) && addsDashes(helperOf(code, asked.asks));
  return isNamed ? { ...asked, node, flag: `--${text}` } : undefined;
}

type Asked = Pick<FlagUse, "how" | "asks">;

function contextOf(code: Code, node: CodeNode): Asked | undefined {
  const outer = code.parentOf(node);
  if (outer === undefined) return undefined;
  return dispatch<Asked | undefined>(outer, {
    case: () => ({ how: "compare", asks: outer }),
    list: () => contextOfList(code, outer),
    call: (call) => (call.args[0] === node ? contextOfCall(code, call) : undefined),
    operation: ({ operator, operands }) => {
      if (comparers.test(operator)) return { how: "compare", asks: outer };
      return /^(?:not )?in$/u.test(operator) && operands[0] === node ? { how: "include", asks: outer } : undefined;
    },
  });
}

/** `["-o", "--out"].includes(arg)`, `arg in ("-o", "--out")` */
function contextOfList(code: Code, list: CodeNode): Asked | undefined {
  const outer = code.parentOf(list);
  if (outer?.kind === "case") return { how: "compare", asks: outer };
  if (outer?.kind === "operation")
    return outer.operator === "in" && outer.operands[1] === list ? { how: "compare", asks: outer } : undefined;
  const call = outer?.kind === "member" && includers.has(outer.property) ? code.parentOf(outer) : undefined;
  return call?.kind === "call" ? { how: "compare", asks: call } : undefined;
}

function contextOfCall(code: Code, call: Call): Asked | undefined {
  const name = calledName(call) ?? "";
  if (searchers.has(name)) return { how: "search", asks: call };
  if (includers.has(name)) return { how: "include", asks: call };
  if (prefixers.has(name)) return { how: "prefix", asks: call };
  const isOwn = call.callee.kind === "name" && code.functions.has(name);
  return isOwn || helperName.test(name) ? { how: "helper", asks: call } : undefined;
}

/** The whole condition that a question is an alternative of. */
function conditionOf(code: Code, asks: CodeNode): CodeNode {
  let whole = asks;
  for (const outer of around(code, asks)) {
    if (outer.kind !== "operation" || !/^(?:\|\||or)$/u.test(outer.operator)) break;
    whole = outer;
  }
  return whole;
}

/** The variables that hold the argument after the current one: `const next = args[i + 1]`. */
function nextNames(code: Code): ReadonlySet<string> {
  const kept = code.assigns.filter(({ value }) => value.kind === "index" && isStep(value.index));
  return new Set(kept.flatMap(({ target }) => (target.kind === "name" ? [target.name] : [])));
}

function toFact(code: Code, group: readonly FlagUse[], next: ReadonlySet<string>): FlagFact {
  const [{ how, asks } = { how: "compare", asks: { kind: "hole", start: 0 } } as const] = group;
  const flags = [...new Set(group.map(({ flag }) => flag))].toSorted(
    (left, right) => Number(right.startsWith("--")) - Number(left.startsWith("--")),
  );
  if (how === "helper" && asks.kind === "call") return fromHelper(code, flags, asks);
  if (how === "prefix")
    return withoutUndefined<FlagFact>({ flags, takesValue: true, joined: "always", type: typeAfter(code, asks) });
  if (how === "search") return fromSearch(code, flags, asks);
  const branch = asks.kind === "case" ? asks.body : branchOf(code, asks);
  const isNext = (node: CodeNode): boolean => node.kind === "name" && next.has(node.name);
  const takesValue = how === "compare" && (readsNext(branch) || [...walk(branch)].some(isNext));
  return withoutUndefined<FlagFact>({
    flags,
    takesValue,
    type: takesValue ? typeIn(branch) : undefined,
    many: takesValue && branch.some((node) => adds(node)) ? true : undefined,
  });
}

function typeIn(nodes: readonly CodeNode[]): FlagFact["type"] {
  for (const node of walk(nodes)) if (numberMade(node) !== undefined) return numberMade(node);
  return undefined;
}

/** The number that the code makes of what a question found: in its branch, around it, or of the variable that keeps it. */
function typeAfter(code: Code, asks: CodeNode): FlagFact["type"] {
  const own = typeIn(branchOf(code, asks)) ?? typeAround(code, asks);
  const kept = own === undefined ? keptIn(code, asks) : undefined;
  if (kept === undefined) return own;
  const call = code.calls.find(
    (one) =>
      numberMade(one) !== undefined && [...walk(one.args)].some((node) => node.kind === "name" && node.name === kept),
  );
  return numberMade(call);
}

function typeAround(code: Code, node: CodeNode): FlagFact["type"] {
  for (const outer of around(code, node)) {
    if (numberMade(outer) !== undefined) return numberMade(outer);
    if (!/^(?:call|operation|index|member)$/u.test(outer.kind)) return undefined;
  }
  return undefined;
}

/** The variable that gets what stands around `node`. */
function keptIn(code: Code, node: CodeNode): string | undefined {
  for (const outer of around(code, node)) {
    if (outer.kind === "assign") return outer.target.kind === "name" ? outer.target.name : undefined;
    if (outer.kind === "if" || outer.kind === "loop") return undefined;
  }
  return undefined;
}

/** `args[args.indexOf("--out") + 1]`, `const i = args.indexOf("--out"); … args[i + 1]` */
function fromSearch(code: Code, flags: readonly string[], asks: CodeNode): FlagFact {
  const outer = code.parentOf(asks);
  const kept = keptIn(code, asks);
  const isNext = (node: CodeNode): boolean =>
    node.kind === "operation" && node.operator === "+" && numberOf(node.operands[1]) === 1;
  const read =
    outer !== undefined && isNext(outer)
      ? outer
      : code.all.find(
          (node) =>
            isNext(node) &&
            node.kind === "operation" &&
            node.operands[0]?.kind === "name" &&
            node.operands[0].name === kept,
        );
  // `ARGV.slice!(i, 2)`, `args.splice(i, 2)`
  const type = read === undefined ? undefined : typeAround(code, read);
  const takesValue = read !== undefined;
  return withoutUndefined<FlagFact>({ flags, takesValue, unsure: takesValue ? undefined : true, type });
}

const takers =
  /^(?:next|shift|pop|consume|take|need|require|expect|read|get)(?:_?(?:value|arg|argument|next|val|string|param|option))*$/iu;

/** Whether code takes a further argument: `args[++i]`, `argv[i + 1]`, `next()`, `i += 1; args[i]`. */
function readsNext(nodes: readonly CodeNode[]): boolean {
  const stepped = new Map<string, number>();
  for (const node of walk(nodes)) {
    if (node.kind === "call" && takers.test(calledName(node) ?? "")) return true;
    if (node.kind === "index" && isStep(node.index)) return true;
    const counter = steppedBy(node);
    if (counter !== undefined && !stepped.has(counter)) stepped.set(counter, node.start);
    const isRead = node.kind === "index" && node.index.kind === "name" ? stepped.get(node.index.name) : undefined;
    if (isRead !== undefined && isRead < node.start) return true;
  }
  return false;
}

function isStep(node: CodeNode): boolean {
  return node.kind === "operation" && /^\+\+?$/u.test(node.operator);
}

/** `i += 1`, `i++` */
function steppedBy(node: CodeNode): string | undefined {
  if (node.kind === "assign" && node.operator === "+=") return lastName(node.target);
  return node.kind === "operation" && node.operator === "++" && node.operands[0]
    ? lastName(node.operands[0])
    : undefined;
}

function adds(node: CodeNode): boolean {
  return node.kind === "call" && /^(?:push|append)$/u.test(calledName(node) ?? "");
}

function helperOf(code: Code, call: CodeNode): FunctionNode | undefined {
  return call.kind === "call" && call.callee.kind === "name" ? code.functions.get(call.callee.name) : undefined;
}

function textsIn(fn: FunctionNode): readonly string[] {
  return [...walk(fn.body)].flatMap((node) =>
    node.kind === "template" ? [node.text] : [textOf(node)].filter((text) => text !== undefined),
  );
}

function addsDashes(fn: FunctionNode | undefined): boolean {
  return fn !== undefined && textsIn(fn).some((text) => /^--(?:$|\$\{|\{)/u.test(text));
}

/** `getArg("--out", "out.json")`: the helper's code, or else its name, tells whether there is a value. */
function fromHelper(code: Code, flags: readonly string[], call: Call): FlagFact {
  const fn = helperOf(code, call);
  const takesValue = fn === undefined ? !/has|flag|bool|^is/iu.test(calledName(call) ?? "") : readsValue(fn);
  const [, ...others] = call.args;
  const spellings = others.map(textOf).filter((text) => text !== undefined && flagText.test(text)) as string[];
  const second = plainValue(others[0]);
  const type = typeAround(code, call);
  const isSpelling = typeof second === "string" && spellings.includes(second);
  const isDefault = takesValue && second !== undefined && !isSpelling;
  return withoutUndefined<FlagFact>({
    flags: [...flags, ...spellings],
    takesValue,
    type: takesValue ? type : undefined,
    default: isDefault ? asNumber(second, type) : undefined,
    joined: fn !== undefined && textsIn(fn).some((text) => /^--.*=$/u.test(text)) ? "always" : undefined,
  });
}

function readsValue(fn: FunctionNode): boolean {
  return [...walk(fn.body)].some(
    (node) =>
      (node.kind === "index" && isStep(node.index)) ||
      (node.kind === "operation" && node.operator === "+" && numberOf(node.operands[1]) === 1) ||
      (node.kind === "call" && /^(?:split|slice)$/u.test(calledName(node) ?? "")),
  );
}

/** Joins what was found about one flag at several places. */
function joinSpellings(facts: readonly FlagFact[]): readonly FlagFact[] {
  const joined: FlagFact[] = [];
  const byFlag = new Map<string, number>();
  for (const fact of facts) {
    const at = fact.flags.map((flag) => byFlag.get(flag)).find((found) => found !== undefined) ?? joined.length;
    const before = joined[at];
    joined[at] = before === undefined ? fact : join(before, fact);
    for (const flag of joined[at]?.flags ?? []) byFlag.set(flag, at);
  }
  return joined;
}

function join(left: FlagFact, right: FlagFact): FlagFact {
  const isEither = left.takesValue && right.takesValue && (left.joined === "always") !== (right.joined === "always");
  return withoutUndefined<FlagFact>({
    ...right,
    ...left,
    flags: [...new Set([...left.flags, ...right.flags])],
    takesValue: left.takesValue || right.takesValue,
    unsure: left.unsure && right.unsure ? true : undefined,
    type: left.type ?? right.type,
    default: left.default ?? right.default,
    joined: isEither ? "either" : (left.joined ?? right.joined),
  });
}
