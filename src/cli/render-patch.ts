import { toPrintable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

const styles = { "+": "green", "-": "red", "@": "cyan" } as const;

/** Writes a unified diff of somebody else's text: harmless on a terminal, in colours if it has some. */
export function renderPatch(patch: string, terminal: Pick<Terminal, "style">): string {
  return toPrintable(patch).replaceAll(/^([+\-@]).*$/gmu, (line, mark: keyof typeof styles) =>
    terminal.style(/^(?:---|\+\+\+) /u.test(line) ? "bold" : styles[mark], line),
  );
}
