import { isAnyToken, isToken, numberOf, type Token } from "../code/token.ts";
import type { ListUse } from "./argument-lists.ts";

/** What a comparison of the number of arguments says. */
export type CountFact =
  | { readonly kind: "minimum"; readonly count: number }
  /** The argument at this place, and all after it, need not be given. */
  | { readonly kind: "optional"; readonly from: number };

const endings =
  /^(?:exit|quit|die|abort|stop|throw|raise|usage|help|fail|(?:show|print|display)_?(?:usage|help)|Error|SystemExit|return)$/iu;

/** Whether the code after `index` gives up soon. */
export function endsSoon(tokens: readonly Token[], index: number, distance = 60): boolean {
  return tokens.slice(index, index + distance).some((token) => token.kind === "word" && endings.test(token.text));
}

const lengths = new Set(["length", "size", "count"]);
const less = new Set(["<", "<=", "!=", "!==", "==", "==="]);

/** Reads `len(sys.argv) < 3`, `args.length === 0`, `ARGV.empty?` at a use of the list. */
export function countAt(tokens: readonly Token[], use: ListUse): CountFact | undefined {
  const end = lengthEnd(tokens, use);
  if (end === undefined) return undefined;
  const operator = tokens[end]?.text ?? "";
  const number = numberOf(tokens[end + 1]);
  if (number === undefined) return countWithoutNumber(tokens, use, end);
  const count = number - use.skip;
  if (operator === ">" || operator === ">=") return { kind: "optional", from: operator === ">" ? count : count - 1 };
  if (!less.has(operator) || !endsSoon(tokens, end)) return undefined;
  if (operator === "<=") return { kind: "minimum", count: count + 1 };
  if (operator === "==" || operator === "===") return count === 0 ? { kind: "minimum", count: 1 } : undefined;
  return { kind: "minimum", count };
}

/** The index after the length of the list; nothing if its length is not asked for. */
function lengthEnd(tokens: readonly Token[], { index, end }: ListUse): number | undefined {
  if (isToken(tokens[end], ".") && isAnyToken(tokens[end + 1], lengths)) return end + 2;
  if (isToken(tokens[end], ".") && isToken(tokens[end + 1], "empty?")) return end + 1;
  const isCall = isToken(tokens[index - 1], "(") && isToken(tokens[end], ")");
  if (isCall && /^(?:len|count|length|scalar|sizeof)$/u.test(tokens[index - 2]?.text ?? "")) return end + 1;
  if (isToken(tokens[index - 1], "#")) return end;
  // In Perl the list itself is its length.
  return tokens[index]?.text === "@ARGV" && isAnyToken(tokens[end], less) ? end : undefined;
}

function countWithoutNumber(tokens: readonly Token[], { index }: ListUse, end: number): CountFact | undefined {
  const isNegated =
    isToken(tokens[index - 1], "!") || isToken(tokens[end], "empty?") || isToken(tokens[index - 1], "not");
  return isNegated && endsSoon(tokens, end) ? { kind: "minimum", count: 1 } : undefined;
}
