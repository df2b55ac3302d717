import type { ModelMessage, ModelPrompt } from "../model.ts";
import { isImage } from "./count-images.ts";

type Part = { readonly type: string; readonly mediaType?: string; readonly filename?: string; readonly text?: string };

/**
 * Puts "Image 1 (a.png):", "Image 2:" … before the pictures of each message, and of each result of a tool, that has several: models and
 * users can name them by their number or their file. A picture that has such a label already keeps it.
 *
 * The prompt itself if no message has several. The labels of a message do not depend on other messages, so that the beginning of a
 * prompt stays the same while a conversation grows.
 */
export function labelImages(prompt: ModelPrompt): ModelPrompt {
  const labelled = prompt.map(labelMessage);
  return labelled.every((message, index) => message === prompt[index]) ? prompt : labelled;
}

function labelMessage(message: ModelMessage): ModelMessage {
  if (message.role === "user") {
    const content = labelParts(message.content);
    return content === message.content ? message : { ...message, content };
  }
  if (message.role !== "tool") return message;
  const content = message.content.map((part) => {
    if (part.type !== "tool-result" || part.output.type !== "content") return part;
    const value = labelParts(part.output.value);
    return value === part.output.value ? part : { ...part, output: { ...part.output, value } };
  });
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
}

function labelParts<Known extends Part>(parts: Known[]): Known[] {
  if (parts.filter(isImage).length < 2) return parts;
  const labelled: Known[] = [];
  let number = 0;
  for (const part of parts) {
    if (isImage(part)) {
      number += 1;
      // A text is a part of every kind of content.
      if (!isLabel(labelled.at(-1), number))
        labelled.push({ type: "text", text: toImageLabel(number, part) } as Part as Known);
    }
    labelled.push(part);
  }
  return labelled;
}

/** Tells whether a text says which picture comes next, as the labels here do: in a line of its own, or at the end of one. */
function isLabel(part: Part | undefined, number: number): boolean {
  const line = part?.type === "text" ? (part.text ?? "").trimEnd().split("\n").at(-1) : undefined;
  if (line === undefined) return false;
  const isNumbered = new RegExp(`\\bimage\\s{0,4}#?${number}\\b`, "iu").test(line) && /[:)]$/u.test(line);
  return isNumbered || /^image(?: \d+)? from the result of /iu.test(line);
}

const longestName = 100;

/** How a picture is called: its number, and its file if it has a name. */
function toImageLabel(number: number, { filename = "" }: Part): string {
  const name = filename.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  const short = name.length > longestName ? `${name.slice(0, longestName).toWellFormed()}…` : name;
  return short === "" ? `Image ${number}:` : `Image ${number} (${short}):`;
}
