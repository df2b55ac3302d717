import type { ModelPrompt } from "../model.ts";
import type { ImagePart } from "./to-image-part.ts";

/** Counts the pictures of a prompt, in messages of the user and in results of tools. */
export function countImages(prompt: ModelPrompt): number {
  let count = 0;
  for (const { role, content } of prompt) {
    if (role === "user") count += content.filter(isImage).length;
    if (role !== "tool") continue;
    for (const part of content) {
      if (part.type === "tool-result" && part.output.type === "content") {
        count += part.output.value.filter(isImage).length;
      }
    }
  }
  return count;
}

/** Tells whether a part is a picture; `image` alone means one of any type. */
export function isImage(part: { readonly type: string; readonly mediaType?: string }): part is ImagePart {
  return part.type === "file" && /^image(?:\/|$)/u.test(part.mediaType ?? "");
}
