import fc from "fast-check";
import { expect, test } from "vitest";

import { lookAlikes } from "../../../test/support/redaction-look-alikes.ts";
import { positives } from "../../../test/support/redaction-positives.ts";
import { isSecretField } from "./match-secrets.ts";
import { patternRedactor } from "./pattern-redactor.ts";
import { redactText, redactValue } from "./redact.ts";

// The numbers in docs/guide/audit.md: change both.
test("R19: redactText() finds 197 of 210 secrets and personal data of 63 kinds", () => {
  const missed = positives.filter(({ text, secret }) => redactText(text).includes(secret));

  expect(positives.length).toBe(210);
  expect(new Set(positives.map(({ kind }) => kind)).size).toBe(63);
  // What a person sees and a pattern cannot: see `hard` beside the list.
  expect(missed.map(({ secret }) => secret)).toEqual(positives.slice(-13).map(({ secret }) => secret));
});

test("redactText() takes 2 of 211 look-alikes for something to hide", () => {
  const wrong = lookAlikes.filter((text) => redactText(text) !== text);

  expect(lookAlikes.length).toBe(211);
  expect(wrong).toEqual(["diff +123456 -98765", "decorator@app.route"]);
});

test("a name that comes again and again is shown like any other text", () => {
  const { name, text } = patternRedactor(["credentials", "personal"]);

  for (const { text: given } of positives) expect([name(given), name(given)]).toEqual([text(given), text(given)]);
});

test("redactText() says what it has found, and leaves the rest as it was", () => {
  for (const { kind, text, secret } of positives.slice(0, -13)) {
    const shown = redactText(text);

    expect(shown).toContain(`[${kind}]`);
    expect(shown.split(`[${kind}]`).every((part) => text.includes(part))).toBe(true);
    expect(shown).not.toContain(secret);
  }
});

test("redactText() looks only for the kinds that it is asked for", () => {
  const text = `ada@example.com has ${token}`;

  expect(redactText(text, { kinds: ["personal"] })).toBe(`[email] has ${token}`);
  expect(redactText(text, { kinds: ["credentials"] })).toBe("ada@example.com has [github-token]");
  expect(redactText(text, { kinds: [] })).toBe(text);
});

test.for([
  ["behind an escape", "x=%3D"],
  ["behind a line end in JSON", "a\\n"],
  ["behind an underscore", "my_"],
] as const)("redactText() sees that a word begins %s", ([, before]) => {
  expect(redactText(`${before}${token}`)).toContain("[github-token]");
});

test.for([
  ["a key that is longer than any", `ghp_${"a1".repeat(3000)}`],
  ["a token whose parts are longer than any", `eyJhbGciOiJIUzI1NiJ9.${"a".repeat(20_000)}.b`],
  ["a bearer that is longer than any", `Bearer ${"a1".repeat(3000)}`],
  ["a value that is longer than any", `password=${"a1".repeat(3000)}`],
  ["a value far behind its name", "password=      hunter2hunter2"],
  ["a name that is longer than any", `${"x".repeat(100)}password=hunter2hunter2`.slice(0, 64)],
  ["a host that is longer than any", `ada@${"a".repeat(300)}.com`],
  ["a part before the @ that is longer than any", `${"a".repeat(65)}@example.com`],
  ["a telegram token that is too long", `12345678:AA${"a1".repeat(20)}`],
  ["a telegram token with another beginning", `12345678:BB${"a1".repeat(16)}c`],
  ["a number with a colon", "12345678901:1234"],
  ["a discord token with a long second part", `M${"a1".repeat(12)}.${"a".repeat(9)}.${"b".repeat(30)}`],
  ["a discord token with a short second part", `M${"a1".repeat(12)}.${"a".repeat(3)}.${"b".repeat(30)}`],
  ["a discord token with a long third part", `M${"a1".repeat(12)}.${"a".repeat(6)}.${"b".repeat(90)}`],
  ["a discord token with a short third part", `M${"a1".repeat(12)}.${"a".repeat(6)}.b`],
  ["two parts of which one is no JSON", "eyJhbGciOiJIUzI1NiJ9.abcdefgh"],
  ["a token with a short header", "eyJhbG.eyJzdWIiOjF9.abc"],
  ["a token with a short payload", "eyJhbGciOiJIUzI1NiJ9.e.abc"],
  ["a number in a number", "a+14155550132"],
  ["a number with letters behind it", "+14155550132x"],
  ["a path on a host", "ada@example.com:x"],
  ["a host without a name before the @", "@example.com"],
  ["an address with an empty label", "ada@example..com"],
  ["an account that ends too soon", "DE89 3704 0044"],
  ["an account that goes on", "DE89370400440532013000A"],
  ["a kind of key that is longer than any", `-----BEGIN ${"A".repeat(60)}-----`],
  ["a first line without an end", "-----BEGIN RSA"],
] as const)("redactText() leaves %s alone", ([, text]) => {
  expect(redactText(text)).toBe(text);
});

test("redactText() takes a colon behind an address for the end of it, if nothing follows", () => {
  expect(redactText("ada@example.com:")).toBe("[email]:");
  expect(redactText("ada@example.com: hi")).toBe("[email]: hi");
});

test("redactText() finds a token whose end was left out", () => {
  expect(redactText("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0N…")).toBe("[jwt]…");
});

test("redactText() finds each of several private keys, also one that is cut among them", () => {
  const [begin, end] = ["-----BEGIN PRIVATE KEY-----\nMIIE\n", "-----END PRIVATE KEY-----"];

  expect(redactText(`${begin}${end} ${begin}${end}; ${begin}; ${begin}`)).toBe(
    "[private-key] [private-key]; [private-key]; [private-key]",
  );
});

test("redactText() ends a private key without a last line where it stops to look like one", () => {
  const begin = "-----BEGIN PRIVATE KEY-----";

  expect(redactText(`${begin}\nMIIE\nabcd\n"; and so on`)).toBe('[private-key]"; and so on');
  expect(redactText(`"${begin}\\nMIIE\\r\\nabcd…"`)).toBe('"[private-key]…"');
  expect(redactText(`${begin}\\`)).toBe("[private-key]\\");
  expect(redactText(`${begin}\nMIIE\n-----END nothing`)).toBe("[private-key]-----END nothing");
  expect(redactText(`${begin}${"a".repeat(40_000)}-----END PRIVATE KEY-----`)).toMatch(
    /^\[private-key\]a{7000,}-----END/u,
  );
});

const hostile: readonly (readonly [name: string, part: string])[] = [
  ["addresses", "a@"],
  ["prefixes", "sk-"],
  ["tokens", "eyJa-"],
  ["keys", "-----BEGIN RSA PRIVATE KEY-----"],
  ["names", "password="],
  ["groups of digits", "4111 "],
  ["digits", "4"],
  ["authorities", "a://b:"],
  ["schemes", "Bearer "],
  ["pluses", "+1"],
  ["accounts", "DE89 "],
  ["dots", "a."],
  ["escapes", "\\n"],
  ["halves of characters", "\ud800@"],
];

test.for(hostile)("R11: redactText() takes time in proportion to a text of many %s", ([, part]) => {
  const text = part.repeat(200_000 / part.length);

  expect(redactText(text).length).toBeGreaterThan(0);
});

test("redactValue() finds it in texts, lists, keys and numbers, and by the name of a key", () => {
  const value = {
    text: `key ${token}`,
    list: ["ada@example.com", 1, null, true],
    "ada@example.com": { "bob@example.com": 4_111_111_111_111_111 },
    apiKey: "x",
    password: "",
    client_secret: 5,
    time: 1_715_000_000_000,
  };

  expect(redactValue(value)).toEqual({
    text: "key [github-token]",
    list: ["[email]", 1, null, true],
    "[email]": { "[email]": "[card]" },
    apiKey: "[secret]",
    password: "",
    client_secret: 5,
    time: 1_715_000_000_000,
  });
  expect(redactValue({ password: "x", to: "ada@example.com" }, { kinds: ["personal"] })).toEqual({
    password: "x",
    to: "[email]",
  });
});

test("redactValue() finds it in any number of keys, and in long ones", () => {
  const keys = Array.from({ length: 1500 }, (_, index) => `user${index}@example.com`);
  const value = Object.fromEntries([...keys, `${"long ".repeat(20)}${token}`].map((key) => [key, 1]));

  expect(JSON.stringify(redactValue(value))).not.toMatch(/example|a1B2/u);
});

test("redactValue() is the value itself if there is nothing to hide", () => {
  const value = { a: [{ b: "c" }], d: 1 };

  expect(redactValue(value)).toBe(value);
});

test("stream() finds what is cut at any place", () => {
  for (const { text } of positives.filter(({ text: { length } }) => length < 120)) {
    const whole = redactText(text);
    for (let cut = 0; cut <= text.length; cut++) {
      const stream = patternRedactor(["personal", "credentials"]).stream();

      expect(stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.flush()).toBe(whole);
    }
  }
});

test("R19: stream() shows, in all, what redactText() shows of the whole, however the text is cut", () => {
  const texts = [...positives.map(({ text }) => text), ...positives.map(({ secret }) => secret), ...lookAlikes];
  const part = fc.oneof(
    fc
      .constantFrom(...texts)
      .chain((text) =>
        fc
          .tuple(fc.nat(text.length), fc.nat(text.length))
          .map(([from, to]) => text.slice(Math.min(from, to), Math.max(from, to))),
      ),
    fc.constantFrom(...texts),
    fc.constantFrom(
      " ",
      "\n",
      "@",
      ".",
      "-",
      "=",
      ":",
      "//",
      "+",
      "1",
      "a",
      "eyJ",
      "%3D",
      "\\n",
      '"',
      "-----",
      "a".repeat(70),
    ),
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 8 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      (parts, lengths) => {
        const text = parts.join("");
        const stream = patternRedactor(["personal", "credentials"]).stream();
        let shown = "";

        for (let start = 0; start < text.length;) {
          const piece = text.slice(start, start + Number(lengths.next().value));
          shown += stream.push(piece);
          start += piece.length;
        }
        shown += stream.flush();

        expect(shown).toBe(redactText(text));
      },
    ),
    { numRuns: 1000 },
  );
});

test("stream() shows at once what cannot be a part of anything, and begins anew after flush()", () => {
  const stream = patternRedactor(["personal", "credentials"]).stream();

  expect(stream.push("Hello, how are you? ")).toBe("Hello, how are you? ");
  expect(stream.push("gh")).toBe("");
  expect(stream.push("ost ")).toBe("ghost ");
  expect(stream.push("ada@exam")).toBe("");
  expect(stream.push("ple.com, ")).toBe("[email], ");
  expect(stream.push("ada")).toBe("");
  expect(stream.flush()).toBe("ada");
  expect(stream.push("@example.com ") + stream.flush()).toBe("@example.com ");
});

test("stream() holds back no more than the longest private key, also of an endless one", () => {
  const stream = patternRedactor(["credentials"]).stream();
  let shown = stream.push("-----BEGIN PRIVATE KEY-----");

  for (let count = 0; count < 100; count++) shown += stream.push("a".repeat(1000));

  expect(shown).toMatch(/^\[private-key\]a+$/u);
});

const token = `ghp_${"a1B2".repeat(9)}`;

test.for([
  ["password", {}, true],
  ["access_token", {}, true],
  ["credentials", undefined, true],
  ["pin", { writeOnly: true }, true],
  ["answer", { format: "password" }, true],
  ["answer", { format: "email" }, false],
  ["city", null, false],
] as const)("isSecretField(%j, %j) is %j", ([name, schema, expected]) => {
  expect(isSecretField(name, schema)).toBe(expected);
});
