import fc from "fast-check";
import { expect, test } from "vitest";

import { parseCommand } from "./parse-command.ts";
import { splitArguments } from "./split-arguments.ts";
import { createSubstitution } from "./substitution.ts";

test.for([
  ["git status", ["git", "status"]],
  ["  git\t status  ", ["git", "status"]],
  [`a 'b  c' "d 'e'" f\\ g`, ["a", "b  c", "d 'e'", "f g"]],
  [`a '' "" b`, ["a", "", "", "b"]],
  [`a"b"'c'd`, ["abcd"]],
  [String.raw`a "\"\\\$\`\n" '\'`, ["a", '"\\$`\\n', "\\"]],
  [String.raw`a \| \; \$HOME \* \'`, ["a", "|", ";", "$HOME", "*", "'"]],
  [`a '|;&<>()*?[]{}$HOME~#\`' "|;&<>()*?[]{}~#"`, ["a", "|;&<>()*?[]{}$HOME~#`", "|;&<>()*?[]{}~#"]],
  ["git log --format=%h -n5 a~1 b#c x=y @{u", undefined],
  ["git log --format=%h -n5 a~1 b#c x=y", ["git", "log", "--format=%h", "-n5", "a~1", "b#c", "x=y"]],
  ["écho ünï\u00A0x", ["écho", "ünï\u00A0x"]],
] as const)("parseCommand() reads %j", ([text, words]) => {
  const parsed = parse(text);

  expect(parsed.ok ? parsed.words : undefined).toEqual(words);
});

test.for([
  ["", "names no program"],
  ["  \t", "names no program"],
  ["''", "names no program"],
  ["a 'b", "a quote in it never closes"],
  ['a "b', "a quote in it never closes"],
  ["a \\", "a backslash ends it"],
  ["a\nb", "more than one line"],
  ["a\rb", "more than one line"],
  ["a 'x\ny'", "more than one line"],
  ['a "x\ny"', "more than one line"],
  ["a \\\nb", "more than one line"],
  ["a | b", '"|"'],
  ["a && b", '"&"'],
  ["a & b", '"&"'],
  ["a; b", '";"'],
  ["a > b", '">"'],
  ["a < b", '"<"'],
  ["(a)", '"("'],
  ["a *.ts", '"*"'],
  ["a b?", '"?"'],
  ["a [ab]", '"["'],
  ["a {b,c}", '"{"'],
  ["a `b`", '"`"'],
  ['a "`b`"', '"`"'],
  ["a ~/b", '"~"'],
  ["a # b", '"#"'],
  ["a $(b)", '"$(b)" is for a shell to fill in'],
  ['a "$(b)"', '"$(b)" is for a shell to fill in'],
  ["a $HOME/b", '"$HOME" is for a shell to fill in'],
  ['a "${HOME}"', '"${HOME}" is for a shell to fill in'],
  ["a $", '"$" is for a shell to fill in'],
  ["a $'b'", '"$" is for a shell to fill in'],
  ["A=b c", '"A=b" sets a variable'],
  ["PATH+=x c", "sets a variable"],
  ["a \0", '"\\u0000"'],
  ["a 'x\0y'", "NUL"],
  ["$1", "$1 was not given"],
  ["$0", "its program must be written out"],
  ["x$0", "its program must be written out"],
  [`"$ARGUMENTS"`, "its program must be written out"],
] as const)("parseCommand() refuses %j", ([text, reason]) => {
  expect(parse(text, "typed")).toEqual({ ok: false, reason: expect.stringContaining(reason) });
});

test.for([
  ["a $0 $1", "b 'c d'", ["a", "b", "c d"]],
  ["a $ARGUMENTS", "b 'c d'", ["a", "b 'c d'"]],
  ["a $ARGUMENTS[1] $file", "b c", ["a", "c", "b"]],
  [`a "<$0>" x$0.md '$0' \\$0`, "b", ["a", "<b>", "xb.md", "$0", "$0"]],
  ["a $ARGUMENTS b", "", ["a", "b"]],
  ['a "$ARGUMENTS" b', "", ["a", "", "b"]],
  ["{baseDir}/x ${CLAUDE_SKILL_DIR}/y", "", ["/skill/x", "/skill/y"]],
  ["a -- $0", "-x", ["a", "--", "-x"]],
  ["a --b=$0 -c$0", "-x", ["a", "--b=-x", "-c-x"]],
] as const)("parseCommand() fills in %j with %j", ([text, typed, words]) => {
  expect(parse(text, typed)).toEqual({ ok: true, words });
});

test.for(["a $0", 'a "$0"', "a ''$0", "a $ARGUMENTS"])(
  "parseCommand() makes no option of an argument in %j",
  (text) => {
    expect(parse(text, "--output=x")).toEqual({
      ok: false,
      reason: 'the argument "--output=x" would be an option of the program; write -- before the place of the argument',
    });
  },
);

test("parseCommand() makes one word of one value, whatever is in it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (typed) => {
      fc.pre(typed !== "" && !typed.includes("\0"));

      expect(parse('a -- $ARGUMENTS "$ARGUMENTS" b', typed)).toEqual({
        ok: true,
        words: ["a", "--", typed, typed, "b"],
      });
    }),
  );
});

test("parseCommand() gives back every word that was put in single quotes", () => {
  const word = fc.string({ unit: "binary" }).map((text) => text.replaceAll(/[\n\r\0]/gu, ""));
  fc.assert(
    fc.property(fc.array(word), (words) => {
      const text = ["a", ...words.map((one) => `'${one.replaceAll("'", String.raw`'\''`)}'`)].join(" ");

      expect(parse(text)).toEqual({ ok: true, words: ["a", ...words] });
    }),
  );
});

test("parseCommand() never throws, and reads no special character as an ordinary one", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from("ab |;&$`'\"\\{}()*<>~#\n=")) }), (text) => {
      const parsed = parse(text);

      const plain = text.replaceAll(/\\.|'[^']*'/gsu, "");
      if (parsed.ok && !plain.includes('"')) expect(plain).not.toMatch(/[|;&$`(){}*<>\n]/u);
    }),
  );
});

test("parseCommand() does not grow without measure", () => {
  const started = performance.now();

  expect(parse(`a ${"$ARGUMENTS ".repeat(50_000)}`, "x".repeat(100_000))).toEqual({
    ok: false,
    reason: "it is longer than 131072 characters",
  });
  expect(performance.now() - started).toBeLessThan(30_000);
});

function parse(text: string, typed = "") {
  const words = splitArguments(typed);
  const variables = { CLAUDE_SKILL_DIR: "/skill", baseDir: "/skill" };
  return parseCommand(text, createSubstitution({ typed, words, names: ["file"], variables }));
}
