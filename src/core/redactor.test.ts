import fc from "fast-check";
import { expect, test } from "vitest";

import { createRedactor, type Redactor } from "./redactor.ts";

test("createRedactor() replaces a secret by its name, wherever it stands", () => {
  const redactor = make({ GITHUB_TOKEN: "ghp_0123456789abcdef" });

  expect(redactor.text("a ghp_0123456789abcdef b ghp_0123456789abcdefc")).toBe("a [GITHUB_TOKEN] b [GITHUB_TOKEN]c");
  expect(redactor.text("nothing to hide")).toBe("nothing to hide");
});

test("createRedactor() has nothing to do without a secret of at least four characters", () => {
  expect(createRedactor({})).toBeUndefined();
  expect(createRedactor({ A: "", B: "abc" })).toBeUndefined();
  expect(createRedactor({ A: undefined as unknown as string, B: 12_345 as unknown as string })).toBeUndefined();
  expect(createRedactor({ A: "abcd" })).toBeDefined();
});

test("createRedactor() takes `__proto__` for a name like any other", () => {
  const redactor = make(JSON.parse('{"__proto__":"secret-1"}') as Record<string, string>);

  expect(redactor.text("secret-1")).toBe("[__proto__]");
});

test.for([
  ["a longer one that contains a shorter", { A: "secret", B: "my-secret-key" }, "my-secret-key", "[B]"],
  ["two that begin alike", { A: "abcd", B: "abcdefgh" }, "abcd abcdefgh", "[A] [B]"],
  ["two that overlap", { A: "abcdef", B: "defghi" }, "<abcdefghi>", "<[A]>"],
  ["a chain of three", { A: "abcd", B: "cdef", C: "efgh" }, "abcdefgh", "[A]"],
  ["one in a row with itself", { A: "abab" }, "ababab.", "[A]."],
  ["two next to each other", { A: "abcd", B: "efgh" }, "abcdefgh", "[A][B]"],
  ["the same under two names", { A: "abcd", B: "abcd" }, "abcd", "[A]"],
] as const)("text() leaves nothing of %s", ([, secrets, text, shown]) => {
  expect(make(secrets).text(text)).toBe(shown);
});

test("text() shows stars in place of a name that is a secret itself, or holds one", () => {
  expect(make({ TOKEN: "TOKEN" }).text("my TOKEN")).toBe("my [***]");
  expect(make({ GITHUB_TOKEN: "abcdef", COMPANY: "GITHUB" }).text("abcdef of GITHUB")).toBe("[***] of [COMPANY]");
});

test("text() leaves no secret in any text", () => {
  fc.assert(
    fc.property(secretsAndText(), ({ secrets, text }) => {
      const shown = make(secrets).text(text);

      for (const secret of Object.values(secrets)) expect(shown.replaceAll(/\[\w+\]/gu, "|")).not.toContain(secret);
    }),
  );
});

test("text() takes time in proportion to the text, also where the secret overlaps itself", () => {
  const shown = make({ A: "aaaaaaaa" }).text("a".repeat(1_000_000));

  expect(shown).toBe("[A]");
});

test("R19: text() leaves no canary in a log line, a URL, a header, a dump or a trace", () => {
  const canaries: Record<string, string> = {
    AWS_ACCESS_KEY_ID: `AKIA${"Q7X2".repeat(4)}`,
    AWS_SECRET_ACCESS_KEY: `${"wJalr/K7+MDENG".repeat(2)}bPxR`,
    DATABASE_PASSWORD: 'p@ss:w/ö"rd\\%',
    GITHUB_TOKEN: `ghp_${"0a1B".repeat(9)}`,
    JWT: `eyJ${"hbGciOi".repeat(3)}.eyJ${"zdWIiOi".repeat(3)}.${"c2ln_-".repeat(5)}`,
    PEM: `-----BEGIN KEY-----\n${"MIIE+/Q".repeat(9)}\n${"vQIBAD".repeat(9)}\n-----END KEY-----`,
    PIN: "80341",
    SLACK_TOKEN: `xoxb-${"12345-".repeat(3)}abcDEF`,
  };
  const redactor = make(canaries);
  const sinks: ((secret: string) => string)[] = [
    (secret) => `password=${secret};`,
    (secret) => JSON.stringify({ level: "info", message: `key ${secret}` }),
    (secret) => JSON.stringify({ body: JSON.stringify({ key: encodeURIComponent(secret) }) }),
    (secret) => `https://user:${encodeURIComponent(secret)}@host.test/?key=${encodeURIComponent(secret)}`,
    (secret) => `Authorization: Basic ${Buffer.from(`user:${secret}`).toString("base64")}`,
    (secret) => `data:text/plain;base64,${Buffer.from(secret).toString("base64")}`,
    (secret) => `id_${Buffer.from(`x${secret}y`).toString("base64url")}`,
    (secret) => Buffer.from(secret).toString("hex"),
    (secret) => `Error: bad key "${secret}"\n    at connect (db.ts:1:1)`,
  ];

  for (const [name, secret] of Object.entries(canaries)) {
    for (const write of sinks) expect(redactor.text(write(secret)), `${name}: ${write(secret)}`).toContain(`[${name}]`);
  }
});

test("value() takes secrets out of texts, lists, objects and keys", () => {
  const redactor = make({ KEY: "secret-1" });
  const value = { a: ["x secret-1", 1, null, true], "secret-1": { b: "secret-1" } };

  expect(redactor.value(value)).toEqual({ a: ["x [KEY]", 1, null, true], "[KEY]": { b: "[KEY]" } });
  expect(value.a[0]).toBe("x secret-1");
});

test("value() is the value itself if there is no secret in it", () => {
  const value = { a: [{ b: "c" }], d: 1 };

  expect(make({ KEY: "secret-1" }).value(value)).toBe(value);
});

test("value() keeps both of two keys that become the same", () => {
  const redactor = make({ A: "secret-1", B: "secret-2" });

  expect(redactor.value({ "secret-1": 1, "[A]": 2, "[A] 2": 3, "x secret-2": 4 })).toEqual({
    "[A]": 1,
    "[A] 2": 2,
    "[A] 2 2": 3,
    "x [B]": 4,
  });
});

test("value() finds a secret that was returned as a number", () => {
  const redactor = make({ PIN: "123456" });

  expect(redactor.value({ pin: 123_456, other: 12_345, tenfold: 1_234_560 })).toEqual({
    pin: "[PIN]",
    other: 12_345,
    tenfold: "[PIN]0",
  });
});

test("value() keeps `__proto__` a key and nothing more", () => {
  const value: unknown = JSON.parse('{"__proto__":{"a":"secret-1"}}');

  const shown = make({ KEY: "secret-1" }).value(value) as object;

  expect(JSON.stringify(shown)).toBe('{"__proto__":{"a":"[KEY]"}}');
  expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
});

test("with() knows the new secrets and the old ones, also under the same name", () => {
  const redactor = make({ TOKEN: "old-secret" }).with({ TOKEN: "new-secret", OTHER: "third-secret" });

  expect(redactor.text("old-secret new-secret third-secret")).toBe("[TOKEN] [TOKEN] [OTHER]");
});

test("with() leaves the redactor that it was asked of alone", () => {
  const redactor = make({ A: "secret-1" });

  redactor.with({ B: "secret-2" });

  expect(redactor.text("secret-2")).toBe("secret-2");
});

test("R19: stream() finds a secret that is cut at any place", () => {
  const secret = "ghp_0123456789abcdef";
  const redactor = make({ TOKEN: secret });

  for (let cut = 0; cut <= secret.length; cut++) {
    const stream = redactor.stream();
    const shown = [stream.push(`a ${secret.slice(0, cut)}`), stream.push(`${secret.slice(cut)} b`), stream.flush()];

    expect(shown.join("")).toBe("a [TOKEN] b");
  }
});

test("stream() shows at once what cannot be part of a secret", () => {
  const stream = make({ TOKEN: "ghp_secret" }).stream();

  expect(stream.push("hello ")).toBe("hello ");
  expect(stream.push("gh")).toBe("");
  expect(stream.push("ost")).toBe("ghost");
  expect(stream.push("ghp_secret")).toBe("[TOKEN]");
  expect(stream.push("ghp_")).toBe("");
  expect(stream.flush()).toBe("ghp_");
  expect(stream.flush()).toBe("");
});

test("stream() waits for the longer of two secrets that begin alike", () => {
  const stream = make({ SHORT: "abcd", LONG: "abcdefgh" }).stream();

  expect(stream.push("abcd")).toBe("");
  expect(stream.push("efgh")).toBe("[LONG]");
  expect(stream.push("abcd")).toBe("");
  expect(stream.push("!")).toBe("[SHORT]!");
  expect(stream.push("abcd")).toBe("");
  expect(stream.flush()).toBe("[SHORT]");
});

test("stream() begins anew after flush()", () => {
  const stream = make({ A: "abab" }).stream();
  stream.push("abab");

  expect(stream.flush()).toBe("");
  expect(stream.push("ab") + stream.flush()).toBe("ab");
});

test("R19: stream() shows, in all, what text() shows of the whole, however the text is cut", () => {
  fc.assert(
    fc.property(secretsAndText(), fc.infiniteStream(fc.integer({ min: 1, max: 5 })), ({ secrets, text }, lengths) => {
      const redactor = make(secrets);
      const stream = redactor.stream();
      let shown = "";

      for (let start = 0; start < text.length;) {
        const piece = text.slice(start, start + Number(lengths.next().value));
        shown += stream.push(piece);
        start += piece.length;
      }
      shown += stream.flush();

      expect(shown).toBe(redactor.text(text));
    }),
    { numRuns: 3000 },
  );
});

test("stream() holds back less than the longest form of a secret, also in an endless row of it", () => {
  const stream = make({ A: "aaaaaa" }).stream();
  let shown = "";
  for (let count = 0; count < 1000; count++) shown += stream.push("aaaaaaa");

  expect(shown).toBe("[A]");
  expect(stream.push("b")).toBe("b");
});

/** A few secrets that overlap each other, and a text in which they stand in pieces. */
function secretsAndText(): fc.Arbitrary<{ secrets: Record<string, string>; text: string }> {
  const secret = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 4, maxLength: 8 });
  const secrets = fc.dictionary(fc.constantFrom("A", "B", "C"), secret, { minKeys: 1, noNullPrototype: true });
  return secrets.chain((known) => {
    const pieces = Object.values(known).flatMap((text) => [text, text.slice(0, -1), text.slice(1)]);
    const part = fc.oneof(fc.constantFrom(...pieces), fc.constantFrom("a", "b", "c", "-"));
    return fc.record({
      secrets: fc.constant(known),
      text: fc.array(part, { maxLength: 12 }).map((all) => all.join("")),
    });
  });
}

function make(secrets: Readonly<Record<string, string>>): Redactor {
  const redactor = createRedactor(secrets);
  if (redactor === undefined) throw new Error("There is no secret");
  return redactor;
}

test.for<[message: string, shown: string]>([
  ["it is s3cret-va", "it is [KEY…]"],
  ["cret-value it was", "[KEY…] it was"],
  ["3cret-valu", "[KEY…]"],
  ["s3cret-value and s3cret-v", "[KEY] and [KEY…]"],
  ["lue of cret", "lue of cret"],
  ["s3cr", "s3cr"],
  ["nothing of it", "nothing of it"],
])("R19: message() hides a part of a secret that goes on in another message: %s", ([message, shown]) => {
  expect(createRedactor({ KEY: "s3cret-value" })?.message(message)).toBe(shown);
});
