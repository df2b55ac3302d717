import type { ScriptedAnswer, ScriptedCall } from "./model-server-answer.ts";

/** An object of the wire, of which nothing is known yet. */
export type Wire = Readonly<Record<string, unknown>>;

/** A picture as it arrived: its bytes, or where it is. */
export type ReceivedImage =
  | { readonly mediaType: string; readonly bytes: Buffer; readonly url?: undefined }
  | { readonly mediaType?: undefined; readonly bytes?: undefined; readonly url: string };

/** A tool as it arrived. */
export interface ReceivedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Wire;
}

/** A result as it arrived; `id` is the name of the tool where the provider knows no ids. */
export interface ReceivedResult {
  readonly id: string;
  readonly text: string;
}

/** What a request says, in the words of no provider. */
export interface RequestContent {
  readonly model: string;
  readonly isStream: boolean;
  /** How many messages there are: a number that grows with each answer, for ids. */
  readonly turn: number;
  readonly system: string;
  /** What the user said, in order. */
  readonly texts: readonly string[];
  /** Pictures of messages and of results, in order. */
  readonly images: readonly ReceivedImage[];
  readonly tools: readonly ReceivedTool[];
  /** What the model had asked for in earlier answers. */
  readonly calls: readonly ScriptedCall[];
  readonly results: readonly ReceivedResult[];
  /** The signatures of thoughts that came back. */
  readonly signatures: readonly string[];
}

/** One event of a stream. */
export interface WireEvent {
  /** The line `event:`, where the provider writes one. */
  readonly name?: string;
  readonly data: string;
}

/** How one provider speaks. */
export interface Dialect {
  /** The path that its package is given as the end of its base URL. */
  readonly base: string;
  /** Its streams are lines of JSON, and not events. */
  readonly isLines?: boolean;
  readonly isPath: (path: string) => boolean;
  readonly getKey: (headers: Readonly<Record<string, string>>) => string | undefined;
  readonly readRequest: (body: Wire, path: string) => RequestContent;
  /** Says what the provider would refuse the request for; `given` is what was sent before and must come back unchanged. */
  readonly findProblem?: (body: Wire, content: RequestContent, given: ReadonlySet<string>) => string | undefined;
  readonly toBody: (answer: ScriptedAnswer, content: RequestContent) => Wire;
  readonly toEvents: (answer: ScriptedAnswer, content: RequestContent) => readonly WireEvent[];
  /** What an answer holds that must come back unchanged, besides the signature of thoughts. */
  readonly toGiven?: (answer: ScriptedAnswer, content: RequestContent) => readonly string[];
  /** The event with which the provider breaks off. */
  readonly toFailure: () => WireEvent;
  readonly toError: (status: number, message: string) => Wire;
}

/** Reads a list of objects; anything else is none. */
export function toList(value: unknown): readonly Wire[] {
  return Array.isArray(value) ? (value as readonly Wire[]) : [];
}

/** Reads a text; anything else is empty. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Reads an object; anything else is empty. */
export function toObject(value: unknown): Wire {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Wire) : {};
}

/** Reads the arguments of a call from their JSON text. */
export function toInput(value: unknown): Wire {
  return toObject(JSON.parse(toText(value)));
}

/** Reads a picture that is written as a URL, with its bytes in it or not. */
export function toImage(url: string): ReceivedImage {
  const [, mediaType = "", data = ""] = /^data:([^;,]*);base64,(.*)$/su.exec(url) ?? [];
  return mediaType === "" ? { url } : { mediaType, bytes: Buffer.from(data, "base64") };
}
