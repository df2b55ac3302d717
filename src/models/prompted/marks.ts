import type { CallStyle } from "./call-draft.ts";
import { isOver, matchAt, matchTag, type Source } from "./source.ts";

/** A tag or token that models put around calls. */
export interface Mark {
  readonly role: "open" | "close" | "separator" | "ending";
  readonly style: CallStyle;
  readonly end: number;
}

const tagNames =
  "(?:[a-z]+:)?(?:tool_calls?|toolcalls?|tool_use|function_calls?|functioncalls?)|tool_code|｜DSML｜(?:function_calls|tool_calls)|start_function_call|end_function_call";
const tag = new RegExp(`<(/?)(${tagNames})\\s{0,8}>`, "iuy");
const token = /<[|｜]([^<>|｜\n]{1,48})[|｜]>|<\/s>|<\|(tool_call)>|<(tool_call)\|>/uy;
const bracket = /\[(\/?)(TOOL_CALLS?|ARGS|CALL_ID)\]/uy;

/** What the tokens of models mean, whichever way their words are joined. */
const tokens: Readonly<Record<string, Mark["role"]>> = {
  python_tag: "open",
  tools_prefix: "open",
  tools_suffix: "close",
  tool_call: "open",
  tool_calls: "open",
  "/tool_call": "close",
  "/tool_calls": "close",
  tool_call_start: "open",
  tool_call_begin: "open",
  tool_calls_begin: "open",
  tool_calls_section_begin: "open",
  tool_call_end: "close",
  tool_calls_end: "close",
  tool_calls_section_end: "close",
  action_start: "open",
  plugin: "open",
  action_end: "close",
  tool_sep: "separator",
  tool_call_argument_begin: "separator",
  eom_id: "ending",
  eot_id: "ending",
  im_end: "ending",
  end: "ending",
  call: "ending",
  return: "ending",
  stop: "ending",
  assistant_end: "ending",
  inner_suffix: "ending",
  end_of_text: "ending",
  endoftext: "ending",
  end_of_sentence: "ending",
};

/** The mark at `at`, if one is there. */
export function readMark(source: Source, at: number): Mark | undefined {
  const character = source.text.charAt(at);
  if (character === "[") return readBracket(source, at);
  if (character !== "<") return undefined;
  const named = matchTag(source, at, tag);
  if (named !== null) {
    const isClosing = named[1] === "/" || named[2] === "end_function_call";
    return { role: isClosing ? "close" : "open", style: "tool-call", end: at + named[0].length };
  }
  const match = matchTag(source, at, token);
  const name = match === null ? "" : toTokenName(match);
  const role = Object.hasOwn(tokens, name) ? tokens[name] : undefined;
  return role && { role, style: "token", end: at + String(match?.[0]).length };
}

/** Gemma 4 writes `<|tool_call>` … `<tool_call|>`. */
function toTokenName([, between, opening, closing]: RegExpExecArray): string {
  if (closing !== undefined) return `/${closing}`;
  return (between ?? opening ?? "end").replaceAll("▁", "_").trim().toLowerCase();
}

function readBracket(source: Source, at: number): Mark | undefined {
  const match = matchAt(source, at, bracket, 16);
  if (match === null) return undefined;
  const opening = match[2]?.startsWith("TOOL") === true ? "open" : "separator";
  return { role: match[1] === "/" ? "close" : opening, style: "token", end: at + match[0].length };
}

const anyMark = new RegExp(
  `</?(?:${tagNames})\\s{0,8}>|<[|｜](?:/?tool|action|eo[mt]_id|im_end|python_tag)[^<>|｜\\n]{0,48}[|｜]>|<\\|tool_call>|<tool_call\\|>|\\[/?TOOL_CALLS?\\]`,
  "giu",
);

/** Finds the next mark after `at`; the end of the text if no mark follows. */
export function findMark(source: Source, at: number): number {
  anyMark.lastIndex = at;
  const found = anyMark.exec(source.text)?.index;
  source.steps += (found ?? source.text.length) - at;
  if (found === undefined) isOver(source, source.text.length);
  return found ?? source.text.length;
}
