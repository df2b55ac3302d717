/** How a language names and cuts the list of arguments. */
export interface Dialect {
  /** The words that are the list itself, and how many of its entries come before the first argument. */
  readonly roots: readonly { readonly tokens: readonly string[]; readonly skip: number }[];
  /** Reading a place that is not there stops the script. */
  readonly strict?: true;
}

/** JavaScript and TypeScript, in Node, Bun and Deno. */
export const javascriptDialect: Dialect = {
  roots: [
    { tokens: ["process", ".", "argv"], skip: 2 },
    { tokens: ["Bun", ".", "argv"], skip: 2 },
    { tokens: ["Deno", ".", "args"], skip: 0 },
  ],
};

/** Python. */
export const pythonDialect: Dialect = {
  roots: [{ tokens: ["sys", ".", "argv"], skip: 1 }],
  strict: true,
};

/** Ruby. */
export const rubyDialect: Dialect = { roots: [{ tokens: ["ARGV"], skip: 0 }] };

/** Perl: `@ARGV` and `$ARGV[0]`. */
export const perlDialect: Dialect = {
  roots: [
    { tokens: ["@ARGV"], skip: 0 },
    { tokens: ["$ARGV"], skip: 0 },
  ],
};

/** PHP. */
export const phpDialect: Dialect = { roots: [{ tokens: ["$argv"], skip: 1 }] };

/** Lua. */
export const luaDialect: Dialect = { roots: [{ tokens: ["arg"], skip: 1 }] };

/** R counts from 1. */
export const rDialect: Dialect = { roots: [{ tokens: ["commandArgs"], skip: 1 }] };

/** PowerShell scripts without a `param` block. */
export const powershellDialect: Dialect = { roots: [{ tokens: ["$args"], skip: 0 }] };
