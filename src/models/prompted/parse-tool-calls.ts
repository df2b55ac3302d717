import type { CallProblem, FoundCall } from "./check-call.ts";
import { createScanner, type Piece, type ScannerOptions } from "./scanner.ts";
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
  return gather(parsePieces(text, tools, options));
}

/** Takes a whole answer apart. */
export function parsePieces(
  text: string,
  tools: readonly CallableTool[],
  options: ParseToolCallsOptions & Pick<ScannerOptions, "repeats"> = {},
): Piece[] {
  const { isCut = false, ...others } = options;
  const scanner = createScanner(toToolIndex(tools), {
    ...others,
    startsThinking: options.startsThinking ?? endsUnopenedThinking(text),
  });
  return [...scanner.push(text), ...scanner.end({ isCut })];
}

function endsUnopenedThinking(text: string): boolean {
  const first = /(?<!`)<(\/?)think(?:ing)?>|\[(\/?)THINK\]/iu.exec(text);
  return first !== null && (first[1] === "/" || first[2] === "/");
}

function gather(pieces: readonly Piece[]): ParsedToolCalls {
  const calls: FoundCall[] = [];
  const problems: CallProblem[] = [];
  const prose: string[] = [];
  const reasoning: string[] = [];
  let last: Piece["type"] | undefined;
  for (const piece of pieces) {
    if (piece.type === "call") calls.push(piece.call);
    else if (piece.type === "problem") {
      if (problems.length < mostProblems) problems.push(piece.problem);
    } else {
      const parts = piece.type === "text" ? prose : reasoning;
      if (last === piece.type) parts.push(`${parts.pop() ?? ""}${piece.text}`);
      else parts.push(piece.text);
    }
    last = piece.type;
  }
  const whole = prose.length > 1 ? prose.map((part) => part.trim()).filter((part) => part !== "") : prose;
  return { calls, problems, text: whole.join("\n"), reasoning: reasoning.map((part) => part.trim()).join("\n") };
}
