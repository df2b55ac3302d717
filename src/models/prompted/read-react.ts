import type { CallDraft, ReadCalls } from "./call-draft.ts";
import { toInput } from "./json-calls.ts";
import { readExpression } from "./read-expression.ts";
import { readJson } from "./read-json.ts";
import { isOver, matchAt, skipSpace, type Source } from "./source.ts";
import { singleProperty, type CallableTool, type ToolIndex } from "./tool-index.ts";

const actionLine =
  /[*_#> ]{0,4}Action\s{0,4}(?:\d{1,3})?\s{0,4}[*_]{0,3}:[*_]{0,3}[ \t]{0,8}[`"']?([A-Za-z_][\w./-]{0,120})[`"']?/iuy;
const inputLine =
  /\s{0,8}[*_#> ]{0,4}Action[ _]?Input\s{0,4}(?:\d{1,3})?\s{0,4}[*_]{0,3}:[*_]{0,3}[ \t]{0,8}(?:```[a-z]{0,8}\s{0,4}|`(?!`))?/iuy;
const subject = /\[([^\]\n]{0,500})\]/uy;

/** Tells whether a line that begins like this may be an `Action:` line. */
export function isActionBeginning(text: string): boolean {
  return "action:".startsWith(
    text
      .toLowerCase()
      .replaceAll(/[*_#>\d\s]/gu, "")
      .slice(0, 7),
  );
}

/** Reads `Action: name` and `Action Input: …` at the start of a line; `undefined` if they are not there. */
export function readReact(source: Source, at: number, index: ToolIndex): ReadCalls | undefined {
  const action = matchAt(source, at, actionLine, 180);
  const tool = action === null ? undefined : index.find(String(action[1]));
  if (action === null || tool === undefined) return undefined;
  const name = String(action[1]);
  const next = at + action[0].length;
  const character = source.text.charAt(next);
  if (character === "(") return readExpressionLine(source, next, tool, name);
  if (character === "[") {
    const match = matchAt(source, next, subject, 504);
    if (match !== null) return { drafts: [draftOf(name, String(match[1]), tool)], end: next + match[0].length };
  }
  const input = matchAt(source, next, inputLine, 80);
  if (input === null) return undefined;
  const isInCode = /[^`]`$/u.test(input[0]);
  return readInput(source, next + input[0].length, { tool, name, isInCode });
}

function readExpressionLine(source: Source, at: number, tool: CallableTool, name: string): ReadCalls | undefined {
  const read = readExpression(source, at, tool, name);
  return read && { ...read, drafts: read.drafts.map((draft) => ({ ...draft, style: "react" as const })) };
}

/** Whose input is read, and whether it stands in inline code. */
interface InputPlace {
  readonly tool: CallableTool;
  readonly name: string;
  readonly isInCode: boolean;
}

function readInput(source: Source, at: number, { tool, name, isInCode }: InputPlace): ReadCalls | undefined {
  const start = skipSpace(source, at);
  if (isOver(source, start))
    return { drafts: [{ name, input: {}, style: "react", repairs: [], isCut: true }], end: start };
  if (source.text.charAt(start) === "{") {
    const read = readJson(source, start);
    if (read.ok && typeof read.value === "object" && read.value !== null) {
      const isCut = read.incomplete.has(read.value);
      const repairs = [...read.repairs];
      const input = toInput(read.value, tool, repairs);
      return { drafts: [{ name, input, style: "react", repairs, isCut }], end: skipFence(source, read.end) };
    }
  }
  let end = start;
  while (!isOver(source, end) && source.text.charAt(end) !== "\n") end += 1;
  source.steps += end - start;
  const line = source.text.slice(start, end).trim();
  const isClosed = isInCode ? line.endsWith("`") : quoted.test(line);
  const draft = draftOf(name, isInCode && isClosed ? line.slice(0, -1).trimEnd() : line, tool);
  // Text without an end of its own ends with its line; if the answer ends there, that may have been in the middle.
  return { drafts: [{ ...draft, isCut: source.isCut && isOver(source, end) && !isClosed }], end };
}

const quoted = /^(["'])(.*)\1$/u;

/** The block around an input may end behind it. */
function skipFence(source: Source, at: number): number {
  const match = matchAt(source, at, /\s{0,8}`{1,3}/uy, 12);
  return match === null ? at : at + match[0].length;
}

function draftOf(name: string, text: string, tool: CallableTool): CallDraft {
  const isEmpty = text === "" || /^(?:none|null|n\/a)$/iu.test(text);
  const repairs: string[] = [];
  const plain = quoted.exec(text)?.[2] ?? text;
  const isWhole = singleProperty(tool) !== undefined || /^[[{]/u.test(plain);
  const input = isEmpty ? {} : isWhole ? toInput(plain, tool, repairs) : plain;
  return { name, input, style: "react", repairs, isCut: false };
}
