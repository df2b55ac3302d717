import type { ModelMessage, ModelPrompt } from "../model.ts";
import type { Repeat } from "./scanner.ts";

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type Output = Extract<ToolMessage["content"][number], { type: "tool-result" }>["output"];

/** What a model was shown by others: what users said, what tools answered, and each of these texts alone. */
interface ShownText {
  readonly said: string;
  readonly answered: string;
  readonly wholes: ReadonlySet<string>;
}

/**
 * Makes a check whether a text that looks like a call repeats a text of `prompt`, whatever the white space: a model that quotes a
 * file does not mean to call what the file contains. But a call that a user wrote like a function may be meant.
 */
export function createRepeatCheck(prompt: ModelPrompt): (text: string) => Repeat | undefined {
  let shown: ShownText | undefined;
  return (text) => {
    const looked = squeeze(text.replace(fenceStart, "").replace(fenceEnd, ""));
    if (looked === "") return undefined;
    shown ??= gather(prompt);
    if (!shown.answered.includes(looked) && !(/[{<]/u.test(looked) && shown.said.includes(looked))) return undefined;
    return shown.wholes.has(looked) ? "whole" : "part";
  };
}

const fenceStart = /^\s*(?:`{3,}|~{3,})[^\n]*\n/u;
const fenceEnd = /\n\s*(?:`{3,}|~{3,})\s*$/u;

function squeeze(text: string): string {
  return text.replaceAll(/\s+/gu, "");
}

function gather(prompt: ModelPrompt): ShownText {
  const said: string[] = [];
  const answered: string[] = [];
  for (const message of prompt) {
    if (message.role === "user") for (const part of message.content) if (part.type === "text") said.push(part.text);
    if (message.role !== "tool") continue;
    for (const part of message.content) if (part.type === "tool-result") addTexts(part.output, answered);
  }
  const wholes = new Set([...said, ...answered].map(squeeze));
  return { said: squeeze(said.join("\n")), answered: squeeze(answered.join("\n")), wholes };
}

function addTexts(output: Output, texts: string[]): void {
  if (!("value" in output)) return;
  // As a whole, for a call that is data; and each text in it, for one that stands in a text.
  if (typeof output.value !== "string") texts.push(JSON.stringify(output.value));
  addStrings(output.value, texts);
}

function addStrings(value: unknown, texts: string[]): void {
  if (typeof value === "string") texts.push(value);
  else if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) addStrings(item, texts);
}
