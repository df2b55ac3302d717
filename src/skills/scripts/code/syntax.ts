/** One way to write a string. */
export interface StringSyntax {
  readonly open: string;
  readonly close: string;
  /** The character that takes the meaning from the next one. */
  readonly escape?: string;
  /** It may go on over the end of the line. */
  readonly multiline?: true;
  /** What opens an expression inside: `${`, `#{`; an expression with brackets is stepped over as a whole. */
  readonly interpolation?: string;
}

/** How a language is cut into tokens. */
export interface Syntax {
  readonly lineComments: readonly string[];
  readonly blockComments: readonly (readonly [open: string, close: string])[];
  /** Longer openings first. */
  readonly strings: readonly StringSyntax[];
  /** Letters that may stand before an opening quote: `rb"…"`. */
  readonly prefixes?: RegExp;
  /** Characters that a word may start with, and go on with, beside letters and digits; or a sticky pattern for other words. */
  readonly word: { readonly start: string; readonly rest: string } | RegExp;
  /** A slash may open a regular expression. */
  readonly regexes?: true;
  /** What opens a here-document; the group is its end mark. Sticky. */
  readonly heredoc?: RegExp;
}

const single: StringSyntax = { open: "'", close: "'", escape: "\\" };
const double: StringSyntax = { open: '"', close: '"', escape: "\\" };
const plainWord = { start: "_$", rest: "_$" };

/** JavaScript and TypeScript. */
export const javascriptSyntax: Syntax = {
  lineComments: ["//"],
  blockComments: [["/*", "*/"]],
  strings: [single, double, { open: "`", close: "`", escape: "\\", multiline: true, interpolation: "${" }],
  word: { start: "_$#@", rest: "_$" },
  regexes: true,
};

/** Python. */
export const pythonSyntax: Syntax = {
  lineComments: ["#"],
  blockComments: [],
  strings: [
    { open: '"""', close: '"""', escape: "\\", multiline: true },
    { open: "'''", close: "'''", escape: "\\", multiline: true },
    single,
    double,
  ],
  prefixes: /[rRbBfFuUtT]{1,2}(?=["'])/y,
  word: plainWord,
};

/** Ruby. */
export const rubySyntax: Syntax = {
  lineComments: ["#"],
  blockComments: [["\n=begin", "\n=end"]],
  strings: [
    { open: "'", close: "'", escape: "\\", multiline: true },
    { open: '"', close: '"', escape: "\\", multiline: true, interpolation: "#{" },
  ],
  word: /[\p{L}_$@:][\p{L}\p{N}_]*[?!]?/uy,
  regexes: true,
  heredoc: /<<[~-]?["']?([A-Z_][A-Z0-9_]*)["']?/y,
};

/** Perl. */
export const perlSyntax: Syntax = {
  lineComments: ["#"],
  blockComments: [
    ["\n=pod", "\n=cut"],
    ["\n=head1", "\n=cut"],
  ],
  strings: [
    { open: "'", close: "'", escape: "\\", multiline: true },
    { open: '"', close: '"', escape: "\\", multiline: true },
  ],
  word: /[$@%&]?[\p{L}_][\p{L}\p{N}_]*(?:::[\p{L}\p{N}_]+)*|\$\d/uy,
  regexes: true,
  heredoc: /<<~?["']?([A-Z_][A-Z0-9_]*)["']?/y,
};

/** PHP. */
export const phpSyntax: Syntax = {
  lineComments: ["//", "#"],
  blockComments: [["/*", "*/"]],
  strings: [
    { open: "'", close: "'", escape: "\\", multiline: true },
    { open: '"', close: '"', escape: "\\", multiline: true },
  ],
  word: plainWord,
  heredoc: /<<<\s*["']?([A-Za-z_][A-Za-z0-9_]*)["']?/y,
};

/** Lua. */
export const luaSyntax: Syntax = {
  lineComments: ["--"],
  blockComments: [["--[[", "]]"]],
  strings: [{ open: "[[", close: "]]", multiline: true }, single, double],
  word: plainWord,
};

/** R. */
export const rSyntax: Syntax = {
  lineComments: ["#"],
  blockComments: [],
  strings: [
    { open: "'", close: "'", escape: "\\", multiline: true },
    { open: '"', close: '"', escape: "\\", multiline: true },
  ],
  word: { start: "_.", rest: "_." },
};

/** PowerShell. */
export const powershellSyntax: Syntax = {
  lineComments: ["#"],
  blockComments: [["<#", "#>"]],
  strings: [
    { open: '@"', close: '\n"@', multiline: true },
    { open: "@'", close: "\n'@", multiline: true },
    { open: '"', close: '"', escape: "`", multiline: true },
    { open: "'", close: "'", multiline: true },
  ],
  word: { start: "_$", rest: "_:-" },
};
