import type { ModelPrompt } from "../model.ts";
import type { ImagePart } from "./to-image-part.ts";

/** Counts the pictures of a prompt, in messages of the user and in results of tools. */
export function countImages(prompt: ModelPrompt): number {
  let count = 0;
  for (const { role, content } of prompt) {
    if (role === "user") count += countIn(content);
    if (role !== "tool") continue;
    for (const part of content) {
      if (part.type === "tool-result" && part.output.type === "content") count += countIn(part.output.value);
    }
  }
  return count;
}

/** Asked with every question about every message: no list is made for it. */
function countIn(parts: readonly { readonly type: string; readonly mediaType?: string }[]): number {
  let count = 0;
  for (const part of parts) if (isImage(part)) count += 1;
  return count;
}

/** Tells whether a part is a picture; `image` alone means one of any type. */
export function isImage(part: { readonly type: string; readonly mediaType?: string }): part is ImagePart {
  return part.type === "file" && /^image(?:\/|$)/u.test(part.mediaType ?? "");
}
