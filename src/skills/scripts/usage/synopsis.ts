/** The value of a flag in a usage line. */
export interface UsageValue {
  /** As written: `FILE`, `output-dir`. */
  readonly label: string;
  readonly choices?: readonly string[];
  /** The flag may also stand alone. */
  readonly optional?: true;
}

/** A positional in a usage line. */
export interface UsagePositional {
  readonly kind: "positional";
  readonly label: string;
  readonly required: boolean;
  readonly many: boolean;
  readonly choices?: readonly string[];
  /** A bare word: the name of a sub-command, or a sample value such as `input.pdf`. */
  readonly bare: boolean;
}

/** A flag in a usage line. */
export interface UsageFlag {
  readonly kind: "flag";
  readonly flags: readonly string[];
  readonly value?: UsageValue;
  readonly required: boolean;
  readonly many: boolean;
  /** Written with "=". */
  readonly joined: boolean;
}

/** A piece of a usage line. */
export type UsageItem = UsagePositional | UsageFlag;

/** A usage line, taken apart. */
export interface Synopsis {
  readonly items: readonly UsageItem[];
  /** What the line says about itself after two spaces or a `#`. */
  readonly description?: string;
  /** It has `--` before the positionals. */
  readonly separator: boolean;
}
