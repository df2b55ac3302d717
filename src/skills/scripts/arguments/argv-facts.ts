import type { JsonValue } from "../../../core/json.ts";

/** What code says about the argument at one place. */
export interface PositionFact {
  readonly name?: string;
  readonly type?: "integer" | "number";
  readonly default?: JsonValue;
  /** Not set when the code does not tell. */
  readonly required?: boolean;
  readonly choices?: readonly string[];
  readonly description?: string;
}

/** What code says about one flag. */
export interface FlagFact {
  /** All spellings; the first is the one that is written. */
  readonly flags: readonly string[];
  /** What the code calls it, for a flag that is only a letter. */
  readonly name?: string;
  readonly takesValue: boolean;
  /** The code only looks for it, and a usage line may know better whether it has a value. */
  readonly unsure?: true;
  readonly type?: "integer" | "number";
  readonly default?: JsonValue;
  readonly required?: true;
  /** It may be given several times. */
  readonly many?: true;
  readonly choices?: readonly string[];
  /** `--flag=value`: the only way, or one of two. */
  readonly joined?: "always" | "either";
  readonly description?: string;
}

/** A sub-command that the code knows. */
export interface CommandFact {
  /** The name, then other names for the same. */
  readonly names: readonly string[];
  /** What it takes after its name. */
  readonly facts: ArgvFacts;
}

/** What code says about standard input. */
export interface StdinFact {
  readonly as: "text" | "json";
  /** The JSON is a list. */
  readonly isList?: true;
  /** The keys that are read from the JSON object. */
  readonly fields: readonly { readonly name: string; readonly required: boolean; readonly default?: JsonValue }[];
}

/** What the code of a script with hand-written argument handling says about its arguments. */
export interface ArgvFacts {
  /** It looks at its arguments at all. */
  readonly readsArgv: boolean;
  /** By place, from 0. */
  readonly positions: ReadonlyMap<number, PositionFact>;
  /** It takes all further arguments, from this place on. */
  readonly rest?: { readonly from: number; readonly name?: string };
  /** It stops when fewer are given. */
  readonly minimum?: number;
  readonly flags: readonly FlagFact[];
  readonly commands: readonly CommandFact[];
  /** The flags must stand after the positionals, because those are read by their place. */
  readonly flagsLast?: true;
  /** It knows `--`. */
  readonly separator?: true;
  readonly stdin?: StdinFact;
}

/** Facts that say nothing. */
export const noFacts: ArgvFacts = { readsArgv: false, positions: new Map(), flags: [], commands: [] };
