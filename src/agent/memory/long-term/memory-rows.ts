import type { JsonObject } from "../../../core/json.ts";

/**
 * Who said something, in rising order of trust: a tool or a file, a model, the user. What a tool or a model said is never taken for what
 * the user wants.
 */
export type MemoryTrust = "tool" | "model" | "user";

/** Where something that is remembered comes from. */
export interface MemorySource extends JsonObject {
  /** The run in whose log it is. */
  readonly run?: string;
  readonly conversation?: string;
  /** What wrote it: the address of a tool, or `extractor`. */
  readonly by?: string;
}

/** One turn of a conversation, as it is kept. */
export interface TurnRow extends JsonObject {
  /** By this it is found: who said it, and what. */
  readonly text: string;
  readonly said: string;
  /** `user`, `assistant`, or a name. */
  readonly who: string;
  readonly trust: MemoryTrust;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly source: MemorySource;
}

/** One fact, as it is kept. It is never changed, only closed: then `to` says until when it held. */
export interface FactRow extends JsonObject {
  /** By this it is found: subject, key and value. */
  readonly text: string;
  readonly subject: string;
  readonly key: string;
  readonly value: string;
  readonly trust: MemoryTrust;
  readonly source: MemorySource;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to?: number;
  /** The number of the fact of the same subject and key that it closed. */
  readonly before?: number;
}

/** The id of a fact, as people and models see it. */
export function toFactId(number: number): string {
  return `f${number}`;
}

/** The id of a turn. */
export function toTurnId(number: number): string {
  return `t${number}`;
}

/** Reads an id; one that is wrong is of nothing. */
export function parseMemoryId(id: unknown): { readonly kind?: "fact" | "turn"; readonly number: number } {
  const [, kind, number = "0"] = /^([ft])(\d{1,12})$/u.exec(String(id)) ?? [];
  if (kind === undefined) return { number: 0 };
  return { kind: kind === "f" ? "fact" : "turn", number: Number(number) };
}

/** How much one memory holds: that of a user, or of a skill for a user. */
export interface MemoryLimits {
  /** Also those that do not hold any more. @default 10,000 */
  readonly facts: number;
  /** @default 4 MiB */
  readonly factBytes: number;
  /** Facts that the user did not say: they come from a model, or from a tool. @default 2,000 */
  readonly unconfirmedFacts: number;
  /** Characters of one fact. @default 2,000 */
  readonly valueCharacters: number;
  /** Turns of conversations. When there are more, the oldest are deleted. @default 1,000,000 */
  readonly turns: number;
  /** The same, in bytes. @default 1 GiB */
  readonly turnBytes: number;
  /** @default 200 */
  readonly files: number;
  /** Of all files together. @default 4 MiB */
  readonly fileBytes: number;
}

/** What holds unless the program says otherwise. */
export const defaultMemoryLimits: MemoryLimits = {
  facts: 10_000,
  factBytes: 4 * 1024 * 1024,
  unconfirmedFacts: 2000,
  valueCharacters: 2000,
  turns: 1_000_000,
  turnBytes: 1024 * 1024 * 1024,
  files: 200,
  fileBytes: 4 * 1024 * 1024,
};
