/** A command, and the commands that its output is piped into. */
export interface Pipeline {
  readonly parts: readonly string[];
  /** The offset in the line at which it ends. */
  readonly end: number;
}

/**
 * Reads the pipeline that begins at `start` of a line. The line is shell, or a text with shell in it. Between quotes no sign separates
 * commands or ends the pipeline. A backtick ends it: it closes a code span in Markdown and a substitution in a shell.
 */
export function readPipeline(line: string, start: number): Pipeline {
  const parts: string[] = [];
  // In a row of a Markdown table "|" ends a cell, and "\|" is a pipe.
  const inTable = line.trimStart().startsWith("|");
  let from = start;
  let offset = start;
  for (; offset < line.length; offset++) {
    const character = line[offset] ?? "";
    if (character === '"' || character === "'") {
      const close = line.indexOf(character, offset + 1);
      if (close !== -1) offset = close;
    } else if (character === "|") {
      const isPipe = inTable === (line[offset - 1] === "\\");
      if (!isPipe || line[offset + 1] === "|") break;
      parts.push(line.slice(from, offset));
      from = offset + 1;
    } else if (character === ";" || character === "`" || (character === "&" && line[offset + 1] === "&")) break;
  }
  parts.push(line.slice(from, offset));
  return { parts, end: Math.max(offset, start + 1) };
}

const shell =
  /^(?:sudo\s{1,4}(?:-\S{1,40}\s{1,4}){0,3})?(?:(?:\/usr)?(?:\/local)?\/bin\/)?(?:env\s{1,4}(?:[^\s=]{1,50}=\S{0,100}\s{1,4}){0,4})?(?:ba|z|da|k|fi)?sh(?![\w./=:-])/u;
const interpreter =
  /^(?:sudo\s{1,4})?(?:\/usr\/bin\/)?(?:env\s{1,4})?(?:python[\d.]{0,6}|node|perl|ruby|php|lua|osascript|pwsh|powershell|bun|deno\s{1,4}run)(?:\s{1,4}-)?\s{0,9}(?:$|["'`)\]};&])/u;
const evaluator = /^(?:iex|invoke-expression)\b/iu;

/** Tells whether a command of a pipeline runs its standard input as code: `sh` and `python3 -` do, `python3 -m json.tool` does not. */
export function runsInput(part: string): boolean {
  const text = part.trim().slice(0, 600);
  return shell.test(text) || interpreter.test(text) || evaluator.test(text);
}

const runner =
  /(?:(?<![\w-])(?:(?:ba|z|da|k)?sh|eval|source|iex|python[\d.]{0,6}|perl|ruby|node)|(?:^|[\s;&|("'`])\.)\s{1,4}(?:-\w{1,20}\s{1,4}){0,3}["']?$/iu;

/** Tells whether `offset` is inside `$(…)`, `<(…)` or backticks whose output a shell or an interpreter runs. */
export function isRunSubstitution(line: string, offset: number): boolean {
  const before = line.slice(Math.max(0, offset - 1000), offset);
  const open = Math.max(before.lastIndexOf("$("), before.lastIndexOf("<("), before.lastIndexOf("`"));
  if (open === -1 || before.includes(")", open)) return false;
  return runner.test(before.slice(Math.max(0, open - 80), open));
}
