import type { ModelPrompt } from "../model.ts";
import type { ImagePart } from "./to-image-part.ts";

/** Counts the pictures of a prompt, in messages of the user and in results of tools. */
export function countImages(prompt: ModelPrompt): number {
  let count = 0;
  // Asked with every question about every message: nothing is made for it, neither lists nor iterators.
  for (let index = 0; index < prompt.length; index++) {
    const message = prompt[index];
    if (message?.role === "user") count += countIn(message.content);
    else if (message?.role === "tool") count += countInResults(message.content);
  }
  return count;
}

interface Part {
  readonly type: string;
  readonly mediaType?: string;
  readonly output?: unknown;
}

function countInResults(parts: readonly Part[]): number {
  let count = 0;
  for (const { output } of parts) {
    const { type, value } = (output ?? {}) as { readonly type?: string; readonly value?: readonly Part[] };
    if (type === "content" && value !== undefined) count += countIn(value);
  }
  return count;
}

function countIn(parts: readonly Part[]): number {
  let count = 0;
  for (const part of parts) if (isImage(part)) count += 1;
  return count;
}

/** Tells whether a part is a picture; `image` alone means one of any type. */
export function isImage(part: { readonly type: string; readonly mediaType?: string }): part is ImagePart {
  return part.type === "file" && /^image(?:\/|$)/u.test(part.mediaType ?? "");
}
