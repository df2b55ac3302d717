/** How a language names and cuts the list of arguments. */
export interface Dialect {
  /** The words that are the list itself, and how many of its entries come before the first argument. */
  readonly roots: readonly { readonly tokens: readonly string[]; readonly skip: number }[];
  /** Reading a place that is not there stops the script. */
  readonly strict?: true;
  /** The word of a `for` loop between variable and list. */
  readonly loopWord: "in" | "of" | "each";
  /** Names that a variable with arguments often has, where it comes from a call we cannot follow. */
  readonly usualNames: readonly string[];
}

/** JavaScript and TypeScript, in Node, Bun and Deno. */
export const javascriptDialect: Dialect = {
  roots: [
    { tokens: ["process", ".", "argv"], skip: 2 },
    { tokens: ["Bun", ".", "argv"], skip: 2 },
    { tokens: ["Deno", ".", "args"], skip: 0 },
  ],
  loopWord: "of",
  usualNames: ["argv", "args", "rawArgs", "cliArgs"],
};

/** Python. */
export const pythonDialect: Dialect = {
  roots: [{ tokens: ["sys", ".", "argv"], skip: 1 }],
  strict: true,
  loopWord: "in",
  usualNames: ["argv", "args"],
};

/** Ruby. */
export const rubyDialect: Dialect = { roots: [{ tokens: ["ARGV"], skip: 0 }], loopWord: "each", usualNames: [] };

/** Perl: `@ARGV` and `$ARGV[0]`. */
export const perlDialect: Dialect = {
  roots: [
    { tokens: ["@ARGV"], skip: 0 },
    { tokens: ["$ARGV"], skip: 0 },
  ],
  loopWord: "in",
  usualNames: [],
};

/** PHP. */
export const phpDialect: Dialect = { roots: [{ tokens: ["$argv"], skip: 1 }], loopWord: "in", usualNames: [] };

/** Lua. */
export const luaDialect: Dialect = { roots: [{ tokens: ["arg"], skip: 1 }], loopWord: "in", usualNames: [] };

/** R counts from 1. */
export const rDialect: Dialect = { roots: [{ tokens: ["commandArgs"], skip: 1 }], loopWord: "in", usualNames: [] };

/** PowerShell scripts without a `param` block. */
export const powershellDialect: Dialect = { roots: [{ tokens: ["$args"], skip: 0 }], loopWord: "in", usualNames: [] };
