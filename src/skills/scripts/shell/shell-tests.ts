import type { ShellNode } from "./parse-shell.ts";
import { assignmentsOf } from "./shell-words.ts";

const endings =
  /^(?:exit|die|fail|abort|return|usage|show_?usage|print_?usage|show_?help|print_?help|help|err(?:or)?)$/iu;

/** The least number of arguments with which a test on `$#` does not stop the script. */
export function leastCount(text: string): number | undefined {
  const [, operator = "", digits = ""] = /\$(?:#|\{#\})"?\s*(-lt|-le|-ne|-eq|<=?|!=|==?)\s*"?(\d+)/u.exec(text) ?? [];
  const count = Number(digits);
  if (digits === "") return undefined;
  if (operator === "-le" || operator === "<=") return count + 1;
  if (operator === "-eq" || operator === "=" || operator === "==") return count === 0 ? 1 : undefined;
  return count;
}

/** Whether the commands after a test give up; an assignment among them is a default instead. */
export function endsSoon(nodes: readonly ShellNode[]): boolean {
  for (const node of nodes) {
    if (node.kind !== "command") return false;
    const [first = ""] = node.words;
    if (endings.test(first) || /usage$/iu.test(first)) return first !== "return" || node.words[1] !== "0";
    if (assignmentsOf(node.words).length > 0 || first === "[" || first === "[[") return false;
  }
  return false;
}
