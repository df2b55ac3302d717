import type { CallProblem, FoundCall } from "./check-call.ts";
import { createScanner, type Piece } from "./scanner.ts";
import { toToolIndex, type CallableTool } from "./tool-index.ts";

/** How {@link parseToolCalls} reads. */
export interface ParseToolCallsOptions {
  /**
   * The text begins inside a think block, whose opening tag was part of the prompt.
   *
   * @default whether a think block is closed that was never opened
   */
  readonly startsThinking?: boolean;
  /** The text ended before the model had said all: its finish reason is `length`, say. @default false */
  readonly isCut?: boolean;
}

/** What {@link parseToolCalls} found. */
export interface ParsedToolCalls {
  readonly calls: readonly FoundCall[];
  /** The prose, without the calls and without think blocks. */
  readonly text: string;
  /** What is in think blocks. */
  readonly reasoning: string;
  /** What was meant as a call and cannot be made. */
  readonly problems: readonly CallProblem[];
}

/** How many problems are told one by one. */
const mostProblems = 50;

/**
 * Finds the calls of `tools` in the answer of a model that has no tools of its own, however it wrote them.
 *
 * Contract: never throws, takes time in proportion to the text, and finds only calls of `tools` whose input fits. What stands in
 * think blocks, quotations, inline code, code in some language, or behind a sentence that announces an example is no call.
 *
 * @example
 * ```ts
 * import { parseToolCalls } from "kitbag/models";
 *
 * const tools = [{ name: "get_weather", inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } }];
 *
 * const { calls, text } = parseToolCalls("Let me see.\n<tool_call>{'name': 'Get-Weather', 'arguments': {'city': 'Paris',}}", tools);
 *
 * console.assert(text === "Let me see." && calls[0]?.name === "get_weather" && calls[0].input["city"] === "Paris");
 * console.assert(calls[0]?.repairs.includes("a comma too many was dropped"));
 * ```
 */
export function parseToolCalls(
  text: string,
  tools: readonly CallableTool[],
  options: ParseToolCallsOptions = {},
): ParsedToolCalls {
  const { isCut = false, startsThinking = endsUnopenedThinking(text) } = options;
  const scanner = createScanner(toToolIndex(tools), { startsThinking });
  const calls: FoundCall[] = [];
  const problems: CallProblem[] = [];
  const texts: Record<"text" | "reasoning", string[]> = { text: [], reasoning: [] };
  let last: Piece["type"] | undefined;
  for (const piece of [...scanner.push(text), ...scanner.end({ isCut })]) {
    if (piece.type === "call") calls.push(piece.call);
    else if (piece.type === "problem") problems.push(piece.problem);
    else {
      const parts = texts[piece.type];
      parts.push(last === piece.type ? `${parts.pop() ?? ""}${piece.text}` : piece.text);
    }
    last = piece.type;
  }
  const prose =
    texts.text.length > 1 ? texts.text.map((part) => part.trim()).filter((part) => part !== "") : texts.text;
  return {
    calls,
    problems: problems.slice(0, mostProblems),
    text: prose.join("\n"),
    reasoning: texts.reasoning.map((part) => part.trim()).join("\n"),
  };
}

/** Tells whether a think block is closed that was never opened: its opening tag was part of the prompt. */
export function endsUnopenedThinking(text: string): boolean {
  const first = /(?<!`)<(\/?)think(?:ing)?>|\[(\/?)THINK\]/iu.exec(text);
  return first?.slice(1).includes("/") === true;
}
