import type { Readable } from "node:stream";

/** Reads what a program prints until it ends, keeps the beginning and lets the rest go. */
export async function readOutput(stream: Readable, longest: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let isCut = false;
  try {
    for await (const bytes of stream as AsyncIterable<Uint8Array>) {
      // Also what nobody keeps must be read, or the program would wait for ever.
      if (text.length < longest) text += decoder.decode(bytes, { stream: true });
      else isCut = true;
    }
  } catch {
    // A program that is killed closes its streams as it likes; what came until then counts.
  }
  if (isCut || text.length > longest)
    return `${text.slice(0, longest)}… (only the first ${longest} characters are kept)`;
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}
