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
    const [first = "", second] = node.words.map((word) => word.text);
    if (endings.test(first) || /usage$/iu.test(first)) return first !== "return" || second !== "0";
    if (assignmentsOf(node.words).length > 0 || first === "[" || first === "[[") return false;
  }
  return false;
}

/** What the commands after a test do with the argument after the one that was tested. */
export interface TestedBranch {
  /** The variable that gets it. */
  readonly variable?: string;
  readonly value: boolean;
  /** How many `shift`s there are. */
  readonly shifts: number;
}

/** A branch that does nothing with it. */
export const noBranch: TestedBranch = { value: false, shifts: 0 };

/** Reads the commands after a test, up to the next one; `place` is that of the argument after the one that was tested. */
export function readBranch(nodes: readonly ShellNode[], place: number): TestedBranch {
  let shifts = 0;
  let variable: string | undefined;
  for (const node of nodes.slice(0, 4)) {
    const first = node.kind === "command" ? (node.words[0]?.text ?? "") : "[";
    if (node.kind !== "command" || /^\[|^test$|^\(\(/u.test(first)) break;
    const assignment = assignmentsOf(node.words).find(({ value }) => value.mentions.some((one) => one.place === place));
    variable ??= assignment?.name;
    if (first === "shift") shifts += 1;
    // What follows a shift that a value was read before is no longer about the flag.
    if (first === "shift" && (variable !== undefined || shifts > 1)) break;
  }
  return { value: variable !== undefined, shifts, ...(variable !== undefined && { variable }) };
}
