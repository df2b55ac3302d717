import { expect, test } from "vitest";

import { cpuMsSince } from "../../../../test/support/cpu-time.ts";
import {
  javascriptSyntax,
  luaSyntax,
  perlSyntax,
  phpSyntax,
  powershellSyntax,
  pythonSyntax,
  rSyntax,
  rubySyntax,
  type Syntax,
} from "./syntax.ts";
import { tokenize } from "./tokenize.ts";

// Written as: strings in quotes, comments left out, everything else as it is.
const table: readonly { name: string; syntax: Syntax; source: string; read: string }[] = [
  {
    name: "JavaScript strings and their escapes",
    syntax: javascriptSyntax,
    source: String.raw`a = 'x\'y' + "\n"`,
    read: `a = "x'y" + "\\n"`,
  },
  {
    name: "regular expressions as one piece",
    syntax: javascriptSyntax,
    source: "x.split(/[/'\"]/g); a / b",
    read: "x . split ( /…/ g ) ; a / b",
  },
  {
    name: "template strings, and the code in them",
    syntax: javascriptSyntax,
    source: "`a ${b.c} d`",
    read: '"a ${b.c} d" ( b . c )',
  },
  {
    name: "template strings in template strings",
    syntax: javascriptSyntax,
    source: "`a ${`b ${c}`}`;d",
    read: '"a ${`b ${c}`}" ( "b ${c}" ( c ) ) ; d',
  },
  { name: "a string that its line cuts off", syntax: javascriptSyntax, source: "'abc\ndef", read: '"abc" def' },
  {
    name: "Python strings with letters before them",
    syntax: pythonSyntax,
    source: `r"\\d" + f"{x}" b'' """a\nb"""`,
    read: `"\\\\d" + "{x}" ( x ) "" "a\\nb"`,
  },
  { name: "doubled braces as braces", syntax: pythonSyntax, source: 'f"{{a}} {b}"', read: '"{{a}} {b}" ( b )' },
  {
    name: "Ruby here-documents, words with marks, code in strings",
    syntax: rubySyntax,
    source: 'x = <<~EOS\n  Usage: a\nEOS\ny.empty? "#{z}"',
    read: 'x = "  Usage: a\\n" y . empty? "#{z}" ( z )',
  },
  { name: "Ruby's block comments", syntax: rubySyntax, source: "a\n=begin\nb\n=end\nc", read: "a c" },
  { name: "Perl's sigils", syntax: perlSyntax, source: "my ($a, @b) = @ARGV; # c", read: "my ( $a , @b ) = @ARGV ;" },
  {
    name: "PHP's here-documents",
    syntax: phpSyntax,
    source: "$x = <<<EOT\nUsage\nEOT;\n$y",
    read: '$x = "Usage\\n" ; $y',
  },
  {
    name: "Lua's long strings and comments",
    syntax: luaSyntax,
    source: "x = [[a\nb]] --[[ c ]] y -- z",
    read: 'x = "a\\nb" y',
  },
  {
    name: "R's names with dots",
    syntax: rSyntax,
    source: "opt.x <- as.integer('1') # c",
    read: 'opt.x <- as.integer ( "1" )',
  },
  {
    name: "PowerShell's here-strings and escapes",
    syntax: powershellSyntax,
    source: '$a = @"\nx "y"\n"@ + "`"z"',
    read: '$a = "\\nx \\"y\\"" + "\\"z"',
  },
  { name: "letters of other alphabets as words", syntax: pythonSyntax, source: "größe = 文件", read: "größe = 文件" },
];

test.for(table)("tokenize() reads $name", ({ syntax, source, read }) => {
  const { tokens } = tokenize(source, syntax);

  expect(tokens.map(({ kind, text }) => (kind === "string" ? JSON.stringify(text) : text)).join(" ")).toBe(read);
});

test("tokenize() counts lines through strings, comments and here-documents", () => {
  const { tokens, comments } = tokenize("a\n/* b\n c */\n`d\n`\ne // f", javascriptSyntax);

  expect(tokens.map(({ text, line }) => [text, line])).toEqual([
    ["a", 1],
    ["d\n", 4],
    ["e", 6],
  ]);
  expect(comments.map(({ text, line }) => [text, line])).toEqual([
    [" b\n c ", 2],
    [" f", 6],
  ]);
});

test("tokenize() takes linear time for hostile text", () => {
  const pieces = [
    "/",
    "[/",
    "`${",
    '"""',
    "<<A\n",
    "\\",
    "'",
    "{",
    "f'{",
    "/*",
    "\n",
    " ",
    "--[[",
    '@"',
    "=begin",
    "0x",
  ];
  const syntaxes = [javascriptSyntax, pythonSyntax, rubySyntax, perlSyntax, phpSyntax, luaSyntax, powershellSyntax];
  const started = process.cpuUsage();

  for (const piece of pieces) {
    for (const syntax of syntaxes) tokenize(piece.repeat(Math.floor(100_000 / piece.length)), syntax);
  }

  expect(cpuMsSince(started)).toBeLessThan(15_000);
});
