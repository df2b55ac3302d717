import { readObject, toInput, type CallDraft, type ReadCalls } from "./call-draft.ts";
import { readExpression } from "./read-calls.ts";
import { findToken, isOver, matchAt, skipSpace, type Source } from "./source.ts";
import { singleProperty, type CallableTool, type ToolIndex } from "./tool-index.ts";

const actionLine =
  /[*_#> ]{0,4}Action\s{0,4}(?:\d{1,3})?\s{0,4}[*_]{0,3}:[*_]{0,3}[ \t]{0,8}[`"']?([A-Za-z_][\w./-]{0,120})[`"']?/iuy;
const inputLine = /\s{0,8}[*_#> ]{0,4}Action[ _]?Input\s{0,4}(?:\d{1,3})?\s{0,4}[*_]{0,3}:[*_]{0,3}/iuy;
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
  if (character === "(") {
    const read = readExpression(source, next, tool, name);
    return read && { ...read, drafts: read.drafts.map((draft) => ({ ...draft, style: "react" })) };
  }
  const about = character === "[" ? matchAt(source, next, subject, 504) : null;
  if (about !== null) return { drafts: [draftOf(name, String(about[1]), tool)], end: next + about[0].length };
  return readInput(source, next, tool, name);
}

const opening = /\s{0,8}(`{3})[a-z]{0,8}\s{0,4}|[ \t]{0,8}(`)(?!`)/iuy;

/** Whose input is read, and what it stands in: "", a backtick, or three. */
interface InputPlace {
  readonly tool: CallableTool;
  readonly name: string;
  readonly fence: string;
}

function readInput(source: Source, at: number, tool: CallableTool, name: string): ReadCalls | undefined {
  const line = matchAt(source, at, inputLine, 80);
  if (line === null) return undefined;
  // The code that an input may stand in begins before it.
  const code = at + line[0].length;
  const opened = matchAt(source, code, opening, 32);
  const place: InputPlace = { tool, name, fence: opened?.[1] ?? opened?.[2] ?? "" };
  const start = skipSpace(source, code + (opened?.[0].length ?? 0));
  const draft = { name, input: {}, style: "react", repairs: [], isCut: true } as const;
  if (isOver(source, start)) return { drafts: [draft], end: start };
  const read =
    source.text.charAt(start) === "{" ? readObject(source, start, { name, style: "react", tool }) : undefined;
  if (read === undefined)
    return place.fence === "" ? readFreeText(source, start, place) : readFenced(source, start, place);
  // The block around an input may end behind it.
  const fence = matchAt(source, read.end, /\s{0,8}`{1,3}/uy, 12);
  return fence === null ? read : { ...read, end: read.end + fence[0].length };
}

/** Text in code ends with the code. */
function readFenced(source: Source, start: number, { tool, name, fence }: InputPlace): ReadCalls {
  const end = findToken(source, start, fence);
  const draft = draftOf(name, source.text.slice(start, end).trim(), tool);
  const isCut = isOver(source, end);
  return { drafts: [{ ...draft, isCut }], end: isCut ? end : end + fence.length };
}

/** What may come behind an input, at the beginning of a line. */
const nextStep =
  /\n[ \t*_#>]{0,8}(?:Observation|Thought|Final[ _]Answer|Action(?:[ _]Input)?)[ \t]?\d{0,3}[*_]{0,3}:/giu;
const quoted = /^(["'])(.*)\1$/u;

/**
 * Plain text ends with its line if it is quoted, otherwise where the next step begins, or with the answer. If it continues after an
 * empty line, it is unclear whether the rest belongs to the input: half a program must not be run.
 */
function readFreeText(source: Source, start: number, { tool, name }: InputPlace): ReadCalls {
  const line = source.text.slice(start, findToken(source, start, "\n"));
  if (quoted.test(line.trim())) return { drafts: [draftOf(name, line.trim(), tool)], end: start + line.length };
  nextStep.lastIndex = start;
  const next = nextStep.exec(source.text)?.index;
  const end = next ?? source.text.length;
  const isLast = next === undefined && isOver(source, end);
  source.steps += end - start;
  const text = source.text.slice(start, end).trim();
  if (isLast && /\n[ \t]*\n/u.test(text)) return { drafts: [], end, unreadable: { name } };
  // If the answer ends there, that may have been in the middle.
  return { drafts: [{ ...draftOf(name, text, tool), isCut: isLast && source.isCut }], end };
}

function draftOf(name: string, text: string, tool: CallableTool): CallDraft {
  const isEmpty = text === "" || /^(?:none|null|n\/a)$/iu.test(text);
  const repairs: string[] = [];
  const plain = quoted.exec(text)?.[2] ?? text;
  const isWhole = singleProperty(tool) !== undefined || /^[[{]/u.test(plain);
  const input = isEmpty ? {} : isWhole ? toInput(plain, tool, repairs) : plain;
  return { name, input, style: "react", repairs, isCut: false };
}
