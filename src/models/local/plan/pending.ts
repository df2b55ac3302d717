import type { ModelTool } from "../../model.ts";
import type { Exchange } from "../conversation/read-conversation.ts";

/** A question that this model asked, as it can be read from what it said. */
export interface Question {
  readonly type: "ask" | "offer";
  /** The tool it was about. */
  readonly tool: ModelTool;
  /** Names of what was missing. */
  readonly missing: readonly string[];
}

const askPattern = /To use `([\w-]{1,64})` I need/u;
const offerPattern = /(?:The nearest is|did you mean) `([\w-]{1,64})`/iu;

/** Reads the question at the end of an exchange; none if it did not end with one, or its tool is gone. */
export function readQuestion({ answer }: Exchange, tools: readonly ModelTool[]): Question | undefined {
  const text = answer.slice(-6000);
  const type = askPattern.test(text) ? "ask" : "offer";
  const [, name] = (type === "ask" ? askPattern : offerPattern).exec(text) ?? [];
  const tool = tools.find((tool) => tool.name === name);
  if (tool === undefined) return undefined;
  const lines = text.slice(text.search(type === "ask" ? askPattern : offerPattern)).split("\n");
  const missing = lines.flatMap((line) => /^- `([^`]{1,200})`/u.exec(line)?.[1] ?? []);
  return { type, tool, missing };
}

/** Tells whether a text says yes. */
export function saysYes(text: string): boolean {
  return /^\s*(?:yes|yep|yeah|sure|ok|okay|please do|do it|go ahead|correct|right|y)\b[\s,.!]*(?:please|do|go ahead|it|that)?[\s.!]*$/iu.test(
    text.slice(0, 60),
  );
}

/** Tells whether a text takes back what was asked for. */
export function saysNo(text: string): boolean {
  return /^\s*(?:no|nope|cancel|never ?mind|stop|forget it|forget that|nothing|abort|skip it)\b[\s,.!]*(?:thanks|thank you|that|it)?[\s.!]*$/iu.test(
    text.slice(0, 60),
  );
}
