import type { Code } from "../code/code.ts";
import { bodyOf, type Functions } from "../code/functions.ts";
import { readLiteral, toJson } from "../code/literals.ts";
import { findClosing, isAnyToken, isToken, splitArguments, type Token } from "../code/token.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { FlagFact } from "./argv-facts.ts";
import { asNumber, numberMade } from "./code-positions.ts";

/** Flags that stand together in the code: two spellings of one. */
interface FlagGroup {
  readonly flags: string[];
  /** Of the first and the last of its tokens. */
  readonly first: number;
  last: number;
  readonly how: FlagContext;
}

/** How the code asks for a flag. */
type FlagContext =
  | { readonly kind: "compare" }
  | { readonly kind: "search" }
  | { readonly kind: "include" }
  | { readonly kind: "prefix" }
  | { readonly kind: "helper"; readonly name: string; readonly open: number };

const flagText = /^--?[A-Za-z][\w.-]*$/u;
const comparers = new Set(["===", "==", "eq", "!==", "!=", "="]);
const cases = new Set(["case", "when"]);
const searchers = new Set(["indexOf", "index", "findIndex", "lastIndexOf"]);
const includers = new Set(["includes", "include?", "has", "in_array", "some", "contains", "member?"]);
const prefixers = new Set(["startsWith", "startswith", "start_with?", "str_starts_with"]);
const helperName =
  /^(?:get|has|read|take|parse|find|is)?_?(?:cli_?)?(?:arg|args|argv|opt|opts|option|flag|param|value|string|number|bool)(?:_?(?:value|or|flag|arg|opt|option|val))*$/iu;

/** Finds the flags that code compares its arguments with. */
export function findFlags(code: Code): readonly FlagFact[] {
  const groups: FlagGroup[] = [];
  for (const [index, token] of code.tokens.entries()) {
    if (token.kind !== "string" || token.text.length > 60) continue;
    const how = contextAt(code, index);
    if (how === undefined) continue;
    const flag = toFlagName(token.text, how, code);
    if (flag === undefined) continue;
    addToGroup(groups, code.tokens, { flag, index, how });
  }
  return joinSpellings(groups.map((group, at) => toFact(code, group, groups[at + 1]?.first)));
}

function toFlagName(text: string, how: FlagContext, code: Code): string | undefined {
  if (how.kind === "prefix") return /^--?[A-Za-z][\w.-]*=$/u.test(text) ? text.slice(0, -1) : undefined;
  if (flagText.test(text)) return text;
  // `getArg("out")`, where the helper puts the dashes before the name.
  if (how.kind !== "helper" || !/^[a-z][\w-]*$/u.test(text)) return undefined;
  return addsDashes(code, how.name) ? `--${text}` : undefined;
}

function addsDashes({ tokens, functions }: Code, name: string): boolean {
  const body = bodyOf(tokens, functions, name);
  if (body === undefined) return false;
  return tokens.slice(...body).some((token) => token.kind === "string" && /^--(?:$|\$\{|\{|#\{)/u.test(token.text));
}

function contextAt({ tokens, functions }: Code, index: number): FlagContext | undefined {
  const before = tokens[index - 1];
  if (isAnyToken(before, comparers) || isAnyToken(before, cases)) {
    return isToken(before, "=") ? undefined : { kind: "compare" };
  }
  if (isAnyToken(tokens[index + 1], comparers))
    return isToken(tokens[index + 1], "=") ? undefined : { kind: "compare" };
  if (isToken(tokens[index + 1], "in")) return { kind: "include" };
  if (isToken(before, "(")) return contextOfCall(tokens, functions, index - 1);
  return contextOfList(tokens, index);
}

function contextOfCall(tokens: readonly Token[], functions: Functions, open: number): FlagContext | undefined {
  const called = tokens[open - 1];
  if (isAnyToken(called, searchers)) return { kind: "search" };
  if (isAnyToken(called, includers)) return { kind: "include" };
  if (isAnyToken(called, prefixers)) return { kind: "prefix" };
  if (called?.kind !== "word") return isToken(tokens[open - 1], "in") ? { kind: "compare" } : undefined;
  if (isToken(called, "in")) return { kind: "compare" };
  const isMethod = isToken(tokens[open - 2], ".");
  if ((functions.has(called.text) && !isMethod) || helperName.test(called.text))
    return { kind: "helper", name: called.text, open };
  return undefined;
}

/** `["-o", "--out"].includes(arg)`, `arg in ("-o", "--out")`, and a `case` with several. */
function contextOfList(tokens: readonly Token[], index: number): FlagContext | undefined {
  for (let at = index - 1; at > index - 12 && at > 0; at--) {
    const token = tokens[at];
    if (isAnyToken(token, cases)) return { kind: "compare" };
    if (token?.kind === "string" || isToken(token, ",")) continue;
    if (!isToken(token, "[") && !isToken(token, "(")) return undefined;
    if (isToken(tokens[at - 1], "in")) return { kind: "compare" };
    const close = findClosing(tokens, at);
    return isToken(tokens[close + 1], ".") && isAnyToken(tokens[close + 2], includers)
      ? { kind: "compare" }
      : undefined;
  }
  return undefined;
}

const alternatives = new Set(["||", "or", ",", "case", "when", "|"]);

/** Puts a flag to the one before if both are asked for in one condition. */
function addToGroup(
  groups: FlagGroup[],
  tokens: readonly Token[],
  { flag, index, how }: { flag: string; index: number; how: FlagContext },
): void {
  const last = groups.at(-1);
  const isNear = last !== undefined && index - last.last <= 8 && last.how.kind === how.kind && how.kind !== "helper";
  const between = isNear ? tokens.slice(last.last + 1, index) : [];
  const isJoined =
    between.some((token) => isAnyToken(token, alternatives)) && !between.some((token) => isToken(token, "{"));
  if (last !== undefined && isNear && isJoined && !between.some((token) => isToken(token, ";"))) {
    last.flags.push(flag);
    last.last = index;
    return;
  }
  groups.push({ flags: [flag], first: index, last: index, how });
}

/** How far after a flag the code looks for its value. */
const windowLength = 60;

function toFact(code: Code, group: FlagGroup, next: number | undefined): FlagFact {
  const { tokens } = code;
  const to = Math.min(next ?? tokens.length, group.last + windowLength, tokens.length);
  const type = numberMade(tokens, group.last, to) ?? numberMade(tokens, group.first - 6, group.first);
  const flags = group.flags.toSorted((left, right) => Number(right.startsWith("--")) - Number(left.startsWith("--")));
  if (group.how.kind === "prefix")
    return withoutUndefined<FlagFact>({ flags, takesValue: true, joined: "always", type });
  if (group.how.kind === "helper") return fromHelper(code, flags, group.how);
  // `args[args.indexOf("--out") + 1]`
  const isNext =
    group.how.kind === "search" && isToken(tokens[group.last + 1], ")") && isToken(tokens[group.last + 2], "+");
  const takesValue = isNext || (group.how.kind !== "include" && readsValue(tokens, group.last + 1, to));
  const many = takesValue && pushes(tokens, group.last + 1, to) ? true : undefined;
  const unsure = group.how.kind === "search" && !takesValue ? true : undefined;
  return withoutUndefined<FlagFact>({ flags, takesValue, unsure, type: takesValue ? type : undefined, many });
}

const takers =
  /^(?:next|shift|pop|consume|take|need|require|expect|read|get)(?:_?(?:value|arg|argument|next|val|string|param|option))*$/iu;
/** Where the code for one flag ends and that for another begins. */
const branchEnds = new Set(["break", "continue", "else", "elif", "elsif", "case", "when", "default"]);
const steps = new Set(["++", "+=", "+"]);

/** Whether the tokens take a further argument: `args[++i]`, `argv[i + 1]`, `next()`, `i += 1`. */
function readsValue(tokens: readonly Token[], from: number, to: number): boolean {
  for (let index = from; index < to; index++) {
    const token = tokens[index];
    if (isAnyToken(token, branchEnds)) return false;
    if (token?.kind === "word" && isToken(tokens[index + 1], "(") && takers.test(token.text)) return true;
    if (isToken(token, "[") && hasStep(tokens, index + 1)) return true;
    if (isAnyToken(token, steps) && !isToken(token, "+") && isReadAfter(tokens, index, to)) return true;
  }
  return false;
}

/** `i += 1; out = args[i]`: a step alone may only go on to the next argument. */
function isReadAfter(tokens: readonly Token[], step: number, to: number): boolean {
  const counter = tokens[step - 1];
  if (counter?.kind !== "word") return false;
  for (let index = step + 1; index < to && !isAnyToken(tokens[index], branchEnds); index++) {
    const isRead = isToken(tokens[index], "[") && isToken(tokens[index + 2], "]");
    if (isRead && isToken(tokens[index + 1], counter.text)) return true;
  }
  return false;
}

function hasStep(tokens: readonly Token[], from: number): boolean {
  for (let index = from; index < from + 4; index++) {
    if (isToken(tokens[index], "]")) return false;
    if (isAnyToken(tokens[index], steps)) return true;
  }
  return false;
}

function pushes(tokens: readonly Token[], from: number, to: number): boolean {
  return tokens
    .slice(from, Math.min(to, from + 20))
    .some((token) => isToken(token, "push") || isToken(token, "append"));
}

/** `getArg("--out", "out.json")`: the helper's code, or else its name, tells whether there is a value. */
function fromHelper(
  { tokens, functions }: Code,
  flags: readonly string[],
  how: { name: string; open: number },
): FlagFact {
  const body = bodyOf(tokens, functions, how.name);
  const takesValue = body === undefined ? !/has|flag|bool|^is/iu.test(how.name) : readsValueAnywhere(tokens, body);
  const ranges = splitArguments(tokens, how.open, findClosing(tokens, how.open));
  const others = ranges.slice(1).map((range) => readLiteral(tokens, range));
  const spellings = others.map(toJson).filter((value) => typeof value === "string" && flagText.test(value));
  const second = toJson(others[0]);
  const type = numberMade(tokens, how.open - 4, how.open);
  const isDefault = takesValue && second !== undefined && second !== null && !spellings.includes(second);
  return withoutUndefined<FlagFact>({
    flags: [...flags, ...(spellings as string[])],
    takesValue,
    type: takesValue ? type : undefined,
    default: isDefault ? asNumber(second, type) : undefined,
    joined: body !== undefined && asksForJoined(tokens, body) ? "always" : undefined,
  });
}

/** The helper looks for `--name=`. */
function asksForJoined(tokens: readonly Token[], body: readonly [number, number]): boolean {
  return tokens.slice(...body).some((token) => token.kind === "string" && /^--.*=$/u.test(token.text));
}

function readsValueAnywhere(tokens: readonly Token[], [from, to]: readonly [number, number]): boolean {
  for (let index = from; index < to; index++) {
    if (isToken(tokens[index], "[") && hasStep(tokens, index + 1)) return true;
    if (isToken(tokens[index], "+") && tokens[index + 1]?.text === "1") return true;
    if (isToken(tokens[index], "split") || isToken(tokens[index], "slice")) return true;
  }
  return false;
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
  // `--out` is searched for by a check too; the place that takes a value is the one that tells.
  const isBoth = left.joined === "always" && right.joined === "always";
  return withoutUndefined<FlagFact>({
    ...right,
    ...left,
    flags: [...new Set([...left.flags, ...right.flags])],
    takesValue: left.takesValue || right.takesValue,
    type: left.type ?? right.type,
    default: left.default ?? right.default,
    joined: isEither ? "either" : isBoth ? "always" : (left.joined ?? right.joined),
  });
}
