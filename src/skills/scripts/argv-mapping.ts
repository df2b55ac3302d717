import type { JsonValue } from "../../core/json.ts";

/** A word that always stands at this place: the name of a sub-command. */
export interface WordPart {
  readonly kind: "word";
  readonly word: string;
}

/** A flag with a value: `--out FILE`. */
export interface FlagPart {
  readonly kind: "flag";
  readonly property: string;
  readonly flag: string;
  /** Other spellings that the script takes for it. */
  readonly aliases?: readonly string[];
  /** How a list is written: the flag before each item, the flag once before all, or all as one word with commas. */
  readonly many?: "repeat" | "list" | "comma";
  /** What joins flag and value to one word. Without it they are always two words. */
  readonly joint?: "=" | ":" | "";
  /** When they are joined: always, or only where a value starts with "-" and would be taken for a flag. @default "dash" */
  readonly joined?: "always" | "dash";
  /** The value for which the flag stands alone. */
  readonly alone?: JsonValue;
  /** The words for true and false, where the script wants others than `true` and `false`. */
  readonly booleans?: readonly [forTrue: string, forFalse: string];
  /** The value that the script takes anyway: nothing is written for it. */
  readonly omit?: JsonValue;
}

/** A value that is said by which words are there: `--verbose`, or `--json` against `--csv`. */
export interface ChoicePart {
  readonly kind: "choice";
  readonly property: string;
  /** By the value as text. A value that is not listed needs no words. */
  readonly words: Readonly<Record<string, readonly string[]>>;
  /** Other spellings, each with the value it stands for. */
  readonly aliases?: Readonly<Record<string, string>>;
}

/** A flag that is repeated as often as the number says: `-v -v`. */
export interface CountPart {
  readonly kind: "count";
  readonly property: string;
  readonly flag: string;
  readonly aliases?: readonly string[];
}

/** A value by its place. */
export interface PositionalPart {
  readonly kind: "positional";
  readonly property: string;
  /** A list: all words from here on, or up to the positionals that follow. */
  readonly many?: true;
  /** What is written when a later positional is given and this one is not. @default the empty word */
  readonly fill?: string;
}

/** An environment variable. */
export interface EnvironmentPart {
  readonly kind: "env";
  readonly property: string;
  readonly variable: string;
}

/** All of standard input: the text as it is, or the value as JSON. */
export interface StdinPart {
  readonly kind: "stdin";
  readonly property: string;
  readonly as: "text" | "json";
}

/** One key of the JSON object on standard input. */
export interface FieldPart {
  readonly kind: "field";
  readonly property: string;
}

/** A part of the command line that comes from a property of the input. */
export type PropertyPart = FlagPart | ChoicePart | CountPart | PositionalPart | EnvironmentPart | StdinPart | FieldPart;

/** A part of the command line, in the order in which it is written. */
export type ArgvPart = WordPart | PropertyPart;

/** How an input becomes a command line: data, so that it can be kept, shown and edited. */
export interface ArgvMapping {
  readonly parts: readonly ArgvPart[];
  /**
   * Whether `--` stands before the positionals: always, or only when one of them could be taken for a flag. Not set where the
   * script does not know `--`.
   */
  readonly separator?: "needed" | "always";
  /** Properties without a part of their own become keys of the JSON object on standard input. */
  readonly otherFields?: true;
  /** Properties without a part of their own become flags of their name: `--name value`, or `--name` for true. */
  readonly otherFlags?: true;
}
