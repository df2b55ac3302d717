/** A bracket or quote that is open while a word is read. */
interface Open {
  readonly closer: string;
  /** It stands in double quotes, where an apostrophe is only an apostrophe. */
  readonly quoted: boolean;
}

const top: Open = { closer: "", quoted: false };

/**
 * The end of the shell word that starts at `from`. What stands in quotes or in `$(…)`, `${…}` belongs to it, however deep;
 * `closed` is false if one of those was still open at the end of the text.
 */
export function scanWord(source: string, from: number): { end: number; closed: boolean } {
  const stack: Open[] = [];
  let index = from;
  for (; index < source.length; index++) {
    const character = source.charAt(index);
    const inside = stack.at(-1) ?? top;
    if (character === "\\" && inside.closer !== "'") {
      index += 1;
    } else if (character === inside.closer) {
      stack.pop();
    } else if (inside.closer !== "'") {
      if (inside === top && /[\s;&|<>()]/u.test(character)) break;
      const opened = open(character, source.charAt(index + 1), inside);
      if (opened !== undefined) stack.push(opened);
      if (opened !== undefined && character === "$") index += 1;
    }
  }
  return { end: Math.min(index, source.length), closed: stack.length === 0 };
}

function open(character: string, next: string, inside: Open): Open | undefined {
  switch (character) {
    case "$":
      if (next === "(") return { closer: ")", quoted: false };
      return next === "{" ? { closer: "}", quoted: inside.quoted } : undefined;
    case '"':
      return { closer: '"', quoted: true };
    case "`":
      return { closer: "`", quoted: false };
    case "'":
      return inside.quoted ? undefined : { closer: "'", quoted: false };
    case "(":
      return inside.closer === ")" ? { closer: ")", quoted: false } : undefined;
    default:
      return undefined;
  }
}
