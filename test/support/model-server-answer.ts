/** A use of a tool that a scripted model asks for. */
export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What is sent in place of `input`, where the provider sends text: the beginning of an input that was cut. */
  readonly inputText?: string;
}

/** The input of a call as the text that is sent. */
export function toInputText({ input, inputText }: Pick<ScriptedCall, "input" | "inputText">): string {
  return inputText ?? JSON.stringify(input);
}

/** What an answer says that it used, in tokens. `input` counts all of it, whether it came from a cache or not. */
export interface ScriptedUsage {
  readonly input: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output: number;
  readonly reasoning?: number;
}

/** How an answer goes wrong on its way. */
export type ScriptedFault =
  /** The connection ends before the first byte of the answer. */
  | { readonly kind: "refused" }
  /** The connection is destroyed behind this share of the answer's bytes. @default 0.5 */
  | { readonly kind: "cut"; readonly share?: number }
  /** The connection ends properly behind this share of the events of a stream, and the last ones are missing. @default 0.5 */
  | { readonly kind: "ended"; readonly share?: number }
  /** The headers are there, and the first byte of the body comes when `until` is over. */
  | { readonly kind: "slow"; readonly until: Promise<void> }
  /** In the middle of a stream is an event that is not JSON. */
  | { readonly kind: "malformed" }
  /** The provider breaks off in the middle of a stream, in its own words. */
  | { readonly kind: "failed" };

/** What a scripted model answers, in the words of no provider. Parts that are missing are left out. */
export interface ScriptedAnswer {
  /** Thoughts; the signature is what the provider wants to see again, unchanged. */
  readonly reasoning?: { readonly text: string; readonly signature: string };
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** @default 10 tokens in, 5 out */
  readonly usage?: ScriptedUsage;
  /** The answer ended because it grew too long. */
  readonly isCutShort?: boolean;
  /** The model refuses, or the provider filters the answer. */
  readonly isFiltered?: boolean;
  readonly fault?: ScriptedFault;
}

/** A refusal of the provider: a status and an error in its own format. */
export interface ScriptedError {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a scripted model does with one request. */
export type ScriptedReply = ScriptedAnswer | ScriptedError;

/** Tells whether a reply is a refusal. */
export function isScriptedError(reply: ScriptedReply): reply is ScriptedError {
  return "status" in reply;
}

/** What an answer says that it used, unless the script says otherwise. */
export const usualUsage: ScriptedUsage = { input: 10, output: 5 };

/** Cuts a text into the pieces that a stream sends it in: characters stay whole, as they do in JSON. */
export function toPieces(text: string, length = 4): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let index = 0; index < characters.length; index += length) {
    pieces.push(characters.slice(index, index + length).join(""));
  }
  return pieces;
}
