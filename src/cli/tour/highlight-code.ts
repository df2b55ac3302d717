import type { Style, Terminal } from "../terminal.ts";

/** What a piece of code is, by its first character or by being a keyword; the first that fits wins. */
const kinds: readonly (readonly [name: string, pattern: string, style: Style])[] = [
  ["comment", "//[^\\n]*", "gray"],
  ["text", '"(?:[^"\\\\\\n]|\\\\.)*"|`(?:[^`\\\\]|\\\\.)*`', "green"],
  ["keyword", "\\b(?:const|return|await|async|new|for|of|if|else|true|false|null)\\b", "magenta"],
  ["number", "\\b\\d[\\d_]*\\b", "yellow"],
  ["call", "\\b\\w+(?=\\()", "cyan"],
];

const pattern = new RegExp(kinds.map(([name, source]) => `(?<${name}>${source})`).join("|"), "gu");

/** Colours TypeScript for a screen. Knows as much of the language as our own examples use. */
export function highlightCode(code: string, terminal: Pick<Terminal, "style">): string {
  return code.replaceAll(pattern, (piece: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const style = kinds.find(([name]) => groups[name] !== undefined)?.[2];
    return style === undefined ? piece : terminal.style(style, piece);
  });
}
