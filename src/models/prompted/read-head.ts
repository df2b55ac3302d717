import type { ReadCalls } from "./call-draft.ts";
import { passageUntil, thoughtsUntil, type Passage } from "./passages.ts";
import { readBehindName } from "./read-calls.ts";
import { matchAt, skipSpace, type Source } from "./source.ts";
import type { ToolIndex } from "./tool-index.ts";

/** A dialect whose messages begin with a head that names the recipient: a tool, the user, or the model's own thoughts. */
interface HeadDialect {
  /** What a head begins with. */
  readonly beginnings: readonly string[];
  /** The whole head. Its groups: `role` who writes, `to` the recipient, `channel` of Harmony. */
  readonly pattern: RegExp;
  readonly longest: number;
  /** What follows is for a tool, whatever its name: text that only looks like a head is possible in the others. */
  readonly isMarked: boolean;
}

const name = String.raw`[\w.:/-]{1,160}`;

const dialects: readonly HeadDialect[] = [
  {
    // Harmony (gpt-oss): <|channel|>commentary to=functions.x <|constrain|>json<|message|>{…}<|call|>
    beginnings: ["<|start|>", "<|channel|>", "to="],
    pattern: new RegExp(
      String.raw`(?:<\|start\|>(?<role>${name})?\s{0,4})?(?:to=(?<first>${name})\s{0,4})?<\|channel\|>\s{0,4}(?<channel>[a-z]{1,20})\s{0,4}(?:to=(?<second>${name})\s{0,4})?(?:<\|constrain\|>)?\s{0,4}[a-z]{0,16}\s{0,4}<\|message\|>`,
      "uy",
    ),
    longest: 600,
    isMarked: true,
  },
  {
    // Functionary 2: <|from|>assistant\n<|recipient|>x\n<|content|>{…}<|stop|>
    beginnings: ["<|from|>", "<|recipient|>"],
    pattern: new RegExp(
      String.raw`(?:<\|from\|>\s{0,4}(?<role>${name})\s{0,4})?<\|recipient\|>\s{0,4}(?<first>${name})\s{0,4}<\|content\|>`,
      "uy",
    ),
    longest: 400,
    isMarked: true,
  },
  {
    // Functionary 3.2: >>>x\n{…}
    beginnings: [">>>"],
    pattern: new RegExp(String.raw`>>>(?<first>${name})[ \t]{0,4}\r?\n`, "uy"),
    longest: 170,
    isMarked: false,
  },
];

/** What ends a message of Harmony or Functionary. */
const ends = String.raw`<\|(?:end|return|call|stop)\|>`;

/** What a head says about the text behind it. */
export type Head =
  | { readonly kind: "calls"; readonly read: ReadCalls }
  /** For the user: the head is left out. */
  | { readonly kind: "text"; readonly end: number }
  | { readonly kind: "passage"; readonly end: number; readonly passage: Passage; readonly isResult: boolean };

/** Reads the head of a message at `at`, and the call behind it; `undefined` if no head is there. */
export function readHead(source: Source, at: number, index: ToolIndex): Head | undefined {
  for (const { beginnings, pattern, longest, isMarked } of dialects) {
    if (!beginnings.some((beginning) => isBeginning(source, at, beginning))) continue;
    const match = matchAt(source, at, pattern, longest);
    if (match === null) continue;
    const { role = "assistant", channel, first, second = first } = match.groups ?? {};
    const end = at + match[0].length;
    if (role !== "assistant") return { kind: "passage", end, passage: passageUntil(ends), isResult: true };
    if (second === undefined && channel === "analysis") {
      const passage = thoughtsUntil(String.raw`${ends}|(?=<\|start\|>)`);
      return { kind: "passage", end, passage, isResult: false };
    }
    if (second === undefined || second === "all" || second === "user") return { kind: "text", end };
    return readFor(source, end, second.replace(/^functions\./u, ""), { index, isMarked });
  }
  return undefined;
}

function isBeginning({ text, ended }: Source, at: number, beginning: string): boolean {
  return text.startsWith(beginning, at) || (!ended && beginning.startsWith(text.slice(at, at + beginning.length)));
}

/** Reads the input behind the head of a message for a tool. */
function readFor(
  source: Source,
  at: number,
  recipient: string,
  { index, isMarked }: { readonly index: ToolIndex; readonly isMarked: boolean },
): Head | undefined {
  const tool = index.find(recipient);
  if (tool === undefined && !isMarked) return undefined;
  const read = readBehindName(source, skipSpace(source, at), { name: recipient, style: "token", tool });
  if (typeof read !== "string") return { kind: "calls", read };
  return isMarked ? { kind: "calls", read: { drafts: [], end: at, unreadable: { name: recipient } } } : undefined;
}
