import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";

import { checkPattern, simplifyPattern } from "./check-pattern.ts";
import { parsePattern, type PatternNode } from "./pattern-tree.ts";

const slow = "a pattern that can be read in one way only";

/** Each of these was matched against 50,000 characters that nearly match, in less than 50 ms. */
const harmless: readonly (readonly [what: string, pattern: string])[] = [
  ["nothing", ""],
  ["an empty text", "^$"],
  ["any text", "^.*$"],
  ["any text, not anchored", ".*"],
  ["a text of some length", "^.{1,20}$"],
  ["no spaces", "^\\S+$"],
  ["a digit somewhere", "\\d"],
  ["digits somewhere", "\\d+"],
  ["a beginning", "^x-"],
  ["an end", "\\.(jpe?g|png|gif)$"],
  ["an end, as schema libraries write it", ".*\\.json$"],
  ["a choice of words", "^(red|green|blue)$"],
  ["a slug", "^[a-z0-9]+(?:-[a-z0-9]+)*$"],
  ["words", "^[a-z]+(-[a-z]+)*$"],
  ["words beyond ASCII", "^\\p{L}+(?:[ '-]\\p{L}+)*$"],
  ["letters of one alphabet", "^[一-龥]+(?:·[一-龥]+)*$"],
  ["words with spaces", "^\\s*\\S[\\s\\S]*$"],
  ["an identifier", "^[a-zA-Z_$][\\w$]*(\\.[a-zA-Z_$][\\w$]*)*$"],
  ["a date", "^\\d{4}-\\d{2}-\\d{2}$"],
  ["a time", "^(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d)?$"],
  ["a number", "^-?\\d+(\\.\\d+)?$"],
  ["an amount", "^\\$?\\d{1,3}(,\\d{3})*(\\.\\d{2})?$"],
  ["a version", "^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?$"],
  [
    "a version, to the letter",
    "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$",
  ],
  ["a mail address", "^[^@\\s]+@[^@\\s]+\\.[^@\\s.]+$"],
  ["another mail address", "^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$"],
  ["a third mail address", "^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$"],
  ["a URL", "^https?://[^\\s/$.?#].[^\\s]*$"],
  ["a URL with a port", "^https?:\\/\\/[\\w.-]+(?::\\d+)?(?:\\/\\S*)?$"],
  ["a telephone number", "^\\+?[1-9]\\d{1,14}$"],
  ["a colour", "^#(?:[0-9a-fA-F]{3}){1,2}$"],
  ["a UUID", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"],
  ["an IPv4 address", "^(?:\\d{1,3}\\.){3}\\d{1,3}$"],
  ["base64", "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"],
  ["an issue", "^[A-Z][A-Z0-9]+-\\d+$"],
  ["a repository", "^[\\w-]+/[\\w.-]+$"],
  ["a password", "^(?=.*[A-Z])(?=.*\\d)(?=.*[^\\w]).{8,}$"],
  ["a label of a domain", "^(?!-)[a-z0-9-]{1,63}(?<!-)$"],
  ["pairs", "^[a-z]+:[a-z]+(,[a-z]+:[a-z]+)*$"],
  ["many copies", "^[a-z]{1,256}$"],
  ["more copies than are looked at", "^[a-z]{2,5000}$"],
  ["none of something", "^a{0}b{2,}$"],
  ["lazy repeats", "^a+?b*?c??$"],
  ["named groups", "^(?<year>\\d{4})$"],
  ["escapes", "^[\\]\\\\]+\\x41*\\u0042+\\u{1F600}*\\ud83d\\ude01?\\cA$"],
  ["boundaries", "^\\bfoo\\B$"],
  ["a long list of words", `^(?:${Array.from({ length: 180 }, (_, index) => `w${index}`).join("|")})$`],
];

const harmful: readonly (readonly [what: string, pattern: string])[] = [
  ["a repeat of a repeat", "^(a+)+$"],
  ["a choice between the same", "^(a|a)*$"],
  ["a choice that begins alike", "^(a|aa)+$"],
  ["two repeats that overlap, repeated", "(\\w*\\d*)*"],
  ["a repeat that may be empty", "^(a*b?)*$"],
  ["words with a separator that may be missing", "^([a-z]+-?)*$"],
  ["words with a space that may be missing", "^(\\w+\\s?)*$"],
  ["anything, repeated", "^(.*)*$"],
  ["two repeats in a row, repeated", "(x+x+)+y"],
  [
    "a mail address of the kind that hangs",
    "^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}[a-z]{2,3}$",
  ],
  ["a URL of the kind that hangs", "^(https?:\\/\\/)?([\\da-z.-]+)\\.([a-z.]{2,6})([/\\w .-]*)*\\/?$"],
  ["two repeats of the same", "^\\d+\\d+$"],
  ["a repeat around what it matches", "^.+@.+$"],
  ["a repeat around what it matches, twice", "^.+@.+\\..+$"],
  ["the usual sloppy mail address", "^\\S+@\\S+$"],
  ["a repeat that is tried at each place", "a+b"],
  ["spaces at the end", "\\s+$"],
  ["spaces at both ends", "^\\s*(.*?)\\s*$"],
  ["something between brackets", "<.*>"],
  ["something after something", "foo.*bar"],
  ["a look-ahead that is tried at each place", "^(?:(?=.*x).)*$"],
  ["a repeat inside a look-ahead", "^(?=(a+)+b)"],
  ["thirty choices between the same", `^${"(a|a)".repeat(30)}$`],
  ["seventy choices that begin alike", `^-(?:${Array(70).fill("ab").join("|")})$`],
  ["thirty that may be missing", `^${"a?".repeat(30)}${"a".repeat(30)}$`],
  ["copies that may be missing", "^(?:a?){30}a{30}$"],
  ["copies of copies of copies", "^((a{0,50}){0,50}){0,50}$"],
  ["forty empty choices", `^${"(|)".repeat(40)}$`],
  ["forty empty choices after a character", `^a${"(|)".repeat(40)}$`],
  ["forty empty choices before a character", `^a${"(|)".repeat(40)}b$`],
  ["forty empty choices in a repeat", `^(?:${"(|)".repeat(40)})*b$`],
  ["forty empty choices in a look-ahead", `^(?=a${"(|)".repeat(40)}$)`],
  ["very many empty choices", `^${"(||||||||)".repeat(90)}a$`],
  ["too many characters to look at", "^(?:[a-z]{500}){500}$"],
  ["too many ways to look at", `^(?:${"a?".repeat(490)})*$`],
  ["too many states to look at", "^.*a.{20}$"],
];

test.for(harmless)("checkPattern() takes %s: %.80s", ([, pattern]) => {
  expect(checkPattern(pattern)).toBeUndefined();
});

test.for(harmful)("R11: checkPattern() refuses %s: %.80s", ([, pattern]) => {
  expect(checkPattern(pattern)).toContain(slow);
});

test.for([
  ["email", z.email()],
  ["html5Email", z.email({ pattern: z.regexes.html5Email })],
  ["unicodeEmail", z.email({ pattern: z.regexes.unicodeEmail })],
  ["uuid", z.uuid()],
  ["nanoid", z.nanoid()],
  ["ulid", z.ulid()],
  ["emoji", z.emoji()],
  ["ipv4", z.ipv4()],
  ["ipv6", z.ipv6()],
  ["cidrv6", z.cidrv6()],
  ["base64", z.base64()],
  ["base64url", z.base64url()],
  ["e164", z.e164()],
  ["iso.date", z.iso.date()],
  ["iso.time", z.iso.time()],
  ["iso.datetime", z.iso.datetime({ offset: true, local: true })],
  ["iso.duration", z.iso.duration()],
  ["hostname", z.hostname()],
  ["startsWith", z.string().startsWith("a.b")],
  ["endsWith", z.string().endsWith("xyz")],
  ["includes", z.string().includes("mid")],
  ["lowercase", z.string().lowercase()],
  ["templateLiteral", z.templateLiteral(["a", z.number(), "px"])],
] as const)("checkPattern() takes what zod writes for %s", ([, schema]) => {
  const { pattern } = z.toJSONSchema(schema);

  expect(checkPattern(String(pattern))).toBeUndefined();
});

test.for([
  [
    "no regular expression",
    "(",
    'a regular expression for the flag "u" (Invalid regular expression: /(/u: Unterminated group)',
  ],
  [
    "one without the flag u only",
    "^[\\w-.]+$",
    'a regular expression for the flag "u" (Invalid regular expression: /^[\\w-.]+$/u: Invalid character class)',
  ],
  ["one that is too long", "a".repeat(1001), "at most 1000 characters"],
  ["a reference back", "^(a)\\1$", "a pattern without references back to a group"],
  ["a reference back by name", "^(?<x>a)\\k<x>$", "a pattern without references back to a group"],
  ["flags inside", "^(?i:a)$", "a pattern without flags inside"],
  ["a look-behind with a repeat", "(?<=a+)b", "a look-behind of single characters only"],
  ["a look-behind with a choice", "(?<!a|b)c", "a look-behind of single characters only"],
  ["a look-behind with a group", "(?<!(?:a))c", "a look-behind of single characters only"],
] as const)("checkPattern() says what to write instead of %s", ([, pattern, expected]) => {
  expect(checkPattern(pattern)).toBe(expected);
});

test("checkPattern() says how to write a pattern that takes no longer than it must", () => {
  expect(checkPattern("^.+@.+$")).toMatchInlineSnapshot(
    `"a pattern that can be read in one way only (start it with "^", and let no repeat take what follows it: "[^@]+@", not ".+@")"`,
  );
});

test("R11: checkPattern() takes no pattern that takes much more than twice as long for a text of twice the length", () => {
  let taken = 0;
  fc.assert(
    fc.property(anyPattern(), anyTexts(), (pattern, texts) => {
      if (checkPattern(pattern) !== undefined) return;
      taken += 1;

      expect(texts.filter((write) => isSlow(pattern, write))).toEqual([]);
    }),
    { numRuns: 1000 },
  );

  expect(taken).toBeGreaterThan(100);
});

test.for(["a+b", "^a*a*$", "^(a|a)*$", "^(?:(?=.*b)a)*$"])(
  "R11: the test above would see that %s is slow",
  (pattern) => {
    expect(isSlow(pattern, (length) => `${"a".repeat(length)}!`)).toBe(true);
  },
);

test.for([
  [".*xyz$", "xyz$"],
  [".*?a", "a"],
  [".*a|b", "a|b"],
  [".**", ".**"],
  ["^.*a", "^.*a"],
  [".+a", ".+a"],
  ["a.*b", "a.*b"],
] as const)("simplifyPattern(%j) is %j", ([pattern, simple]) => {
  expect(simplifyPattern(pattern)).toBe(simple);
});

test("simplifyPattern() keeps what matches", () => {
  const pattern = fc.stringMatching(/^\.\*\??[ab](?:[*+?]|\|[ab])?\$?$/u);
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom("a", "b", "c", "\n") }), (source, text) => {
      const simple = new RegExp(simplifyPattern(source), "u");

      expect(simple.test(text)).toBe(new RegExp(source, "u").test(text));
    }),
    { numRuns: 1000 },
  );
});

/** Patterns of a few characters, with everything that makes matchers go back. */
function anyPattern(): fc.Arbitrary<string> {
  const { node } = fc.letrec<{ node: string; atom: string }>((tie) => ({
    atom: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("a", "b", "c", "[ab]", "[^a]", ".") },
      { weight: 1, arbitrary: tie("node").map((inner) => `(?:${inner})`) },
      { weight: 1, arbitrary: tie("node").map((inner) => `(?=${inner})`) },
    ),
    node: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      tie("atom"),
      fc
        .tuple(
          tie("atom").filter((atom) => !atom.startsWith("(?=")),
          quantifier(),
        )
        .map((parts) => parts.join("")),
      fc.array(tie("node"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
      fc.array(tie("node"), { minLength: 2, maxLength: 3 }).map((parts) => `(?:${parts.join("|")})`),
    ),
  }));
  return fc.tuple(fc.constantFrom("^", "^", ""), node, fc.constantFrom("$", "")).map((parts) => parts.join(""));
}

function quantifier(): fc.Arbitrary<string> {
  return fc.constantFrom("*", "+", "?", "*?", "{2}", "{1,3}", "{0,2}", "{2,}");
}

/** Ways to write texts of any length in which one piece comes again and again. */
function anyTexts(): fc.Arbitrary<((length: number) => string)[]> {
  const piece = (minLength: number): fc.Arbitrary<string> =>
    fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength, maxLength: 3 });
  const text = fc.tuple(piece(0), piece(1), fc.constantFrom("", "!", "a", "b!"));
  return fc.array(
    text.map(
      ([before, again, after]) =>
        (length: number) =>
          before + again.repeat(length / again.length) + after,
    ),
    { minLength: 4, maxLength: 4 },
  );
}

function isSlow(pattern: string, write: (length: number) => string): boolean {
  const parsed = parsePattern(simplifyPattern(pattern));
  if (!parsed.ok) throw new Error("The pattern cannot be read");
  const steps = countSteps(parsed.tree, write(80));
  return steps > 100_000 || countSteps(parsed.tree, write(160)) > steps * 2.2 + 3000;
}

type Continue = (index: number) => boolean;

/** Counts what a matcher that goes back does: one step for each character it looks at, at most 200,000. */
function countSteps(tree: PatternNode, text: string): number {
  let steps = 0;

  function match(node: PatternNode, index: number, next: Continue): boolean {
    if (steps > 200_000) return true;
    switch (node.kind) {
      case "character":
        steps += 1;
        return index < text.length && takes(node.source, text[index] ?? "") && next(index + 1);
      case "pass":
        return index === text.length && next(index);
      case "start":
        return index === 0 && next(index);
      case "sequence":
        return node.parts.reduceRight<Continue>((after, part) => (at) => match(part, at, after), next)(index);
      case "choice":
        return node.parts.some((part) => match(part, index, next));
      case "look-ahead":
        match(node.part, index, () => true);
        return next(index);
      case "repeat":
        return repeat(node, index, 0, next);
    }
  }

  function repeat(node: PatternNode & { kind: "repeat" }, index: number, count: number, next: Continue): boolean {
    steps += 1;
    const isMore = count < node.max;
    const again = (at: number): boolean => (at > index || count < node.min) && repeat(node, at, count + 1, next);
    return (isMore && match(node.part, index, again)) || (count >= node.min && next(index));
  }

  for (let start = 0; start <= text.length; start++) if (match(tree, start, () => true)) break;
  return steps;
}

function takes(source: string, character: string): boolean {
  return new RegExp(`^${source}$`, "u").test(character);
}
