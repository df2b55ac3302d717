import { commandsOf } from "./shell-flags.ts";
import { unquote, type ShellNode, type ShellScript } from "./parse-shell.ts";

const printers = /^(?:echo|printf|print|die|fail|error|err|warn|log|info|usage|abort|log_\w+|print_\w+)$/u;

/** The texts of a shell script that may say how it is called: comments, here-documents, what it prints, messages of `${1:?…}`. */
export function textsOf({ comments, heredocs, nodes }: ShellScript): readonly string[] {
  const printed: string[] = [];
  const messages: string[] = [];
  for (const words of allCommands(nodes)) {
    if (printers.test(words[0] ?? "")) printed.push(toPrinted(words));
    for (const word of words) {
      const message = /\$\{\w+:?\?((?:[^{}]|\{[^{}]*\})*)\}/u.exec(word)?.[1];
      if (message !== undefined) messages.push(unquote(message));
    }
  }
  return [...comments.map(({ text }) => text), ...heredocs, ...messages, printed.join("\n")];
}

function toPrinted(words: readonly string[]): string {
  const text = words
    .slice(1)
    .filter((word) => !/^(?:-[neE]+|>|>>|>&|&?\d|\/dev\/stderr)$/u.test(word))
    .map((word) => unquoteText(word))
    .join(" ");
  return text.replaceAll(/\\n/gu, "\n").replaceAll(/\\033\[[\d;]*m|\\e\[[\d;]*m/gu, "");
}

/** Takes the outer quotes off and keeps the others: `"Usage: x \"query\""`. */
function unquoteText(word: string): string {
  const [, quote, inner] = /^(["'])(.*)\1$/su.exec(word) ?? [];
  if (quote === undefined || inner === undefined) return unquote(word);
  return inner.replaceAll(/\\(["`$\\])/gu, "$1");
}

/** Every command of a script, with those in functions. */
export function* allCommands(nodes: readonly ShellNode[]): Generator<readonly string[]> {
  for (const node of nodes) {
    if (node.kind === "function") yield* allCommands(node.body);
    else if (node.kind === "case") for (const arm of node.arms) yield* allCommands(arm.body);
    else if (node.kind === "loop") yield* allCommands([...node.head, ...node.body]);
    else yield* commandsOf([node]);
  }
}
