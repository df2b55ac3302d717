/** The words of a command line as it stands in a text. */
export interface CommandWords {
  readonly words: readonly string[];
  /** Something in it is to be filled in, or stands for more than itself: `<file>`, `$FILE`, `*.pdf`. */
  readonly hasPlaceholders: boolean;
}

/** A quote that is left is one that nothing closes. */
const placeholder = /<[^>]*>|^["']|\$|\{[^}]*\}|\.\.\.|…|^\[|\]$|YOUR[_-]|path\/to|[*?]/iu;

const longestLine = 2000;
const piece =
  /(?<space>\s+)|(?<angle><[\w .|/-]{1,60}>)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>[^']*)'|\\(?<escaped>.)|(?<plain>[\w./:=,@%+-]+|[^])/gsu;

/** Cuts a command line into words, as a shell would, up to a pipe, a redirection, the next command or a comment. */
export function splitCommandLine(line: string): CommandWords {
  const words: string[] = [];
  let current: string | undefined;
  const end = (): void => {
    if (current !== undefined) words.push(current);
    current = undefined;
  };
  for (const match of line.slice(0, longestLine).matchAll(piece)) {
    const { space, angle, double, single, escaped, plain } = match.groups ?? {};
    if (plain !== undefined && endsCommand(line, match.index, current === undefined)) break;
    if (space === undefined)
      current =
        (current ?? "") + (double?.replaceAll(/\\(["\\$`])/gu, "$1") ?? single ?? angle ?? escaped ?? plain ?? "");
    else end();
  }
  end();
  return { words, hasPlaceholders: words.some((word) => placeholder.test(word)) };
}

function endsCommand(line: string, index: number, atStart: boolean): boolean {
  const character = line.charAt(index);
  if (character === "|" || character === ";" || character === "`" || character === "&") return true;
  if (character === "#") return atStart;
  if (character === ">") return true;
  // `<file>` is a placeholder and was read as a whole; `< file` is a redirection.
  return character === "<";
}
