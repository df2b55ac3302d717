import fc from "fast-check";
import { expect, test } from "vitest";

import { findForms } from "./redactor.ts";

test.for<[what: string, write: (secret: string) => string]>([
  ["as it is", (secret) => secret],
  ["in JSON", (secret) => JSON.stringify(secret)],
  ["in JSON of a program that writes only ASCII", (secret) => asciiJson(secret)],
  ["in a URL", (secret) => encodeURIComponent(secret)],
  ["in a form", (secret) => new URLSearchParams({ key: secret }).toString()],
  ["in a URL of a program that escapes everything", (secret) => percentEncode(secret)],
  ["in a URL of a program that writes small letters", (secret) => percentEncode(secret).toLowerCase()],
  ["in base64", (secret) => Buffer.from(secret).toString("base64")],
  ["in base64 for URLs", (secret) => Buffer.from(secret).toString("base64url")],
  ["in base64 behind a user name", (secret) => Buffer.from(`user:${secret}`).toString("base64")],
  ["in base64 in the middle of something", (secret) => Buffer.from(`{"k":"${secret}"}`).toString("base64")],
  ["in base64 for URLs in the middle of something", (secret) => Buffer.from(`?k=${secret}&`).toString("base64url")],
  ["in hexadecimal", (secret) => Buffer.from(secret).toString("hex")],
  ["in capital hexadecimal", (secret) => Buffer.from(secret).toString("hex").toUpperCase()],
])("R19: findForms() finds a secret %s, whatever is around it", ([what, write]) => {
  // Escaped letters are told apart by case, so a secret with letters of both has no form in small ones.
  const unit = what.endsWith("small letters") ? "[a-z0-9 !/?#&=+%:]" : "[A-Za-z0-9 !\"'()*+,./:;<=>?@~_é漢😀&#%\\\\-]";
  fc.assert(
    fc.property(fc.stringMatching(new RegExp(`^${unit}{8,40}$`, "u")), (secret) => {
      const shown = write(secret);

      expect(findForms(secret).some((form) => shown.includes(form))).toBe(true);
    }),
  );
});

test("R19: findForms() finds each line of a key that is shown with other line ends", () => {
  const lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB"];
  const key = ["-----BEGIN PRIVATE KEY-----", ...lines, "AA==", "-----END PRIVATE KEY-----", ""].join("\n");

  const forms = findForms(key);

  expect(forms).toEqual(expect.arrayContaining([key, ...lines]));
  expect(forms).not.toContain("-----BEGIN PRIVATE KEY-----");
  expect(forms).not.toContain("AA==");
});

test("findForms() finds nothing in a secret of fewer than four characters, or none", () => {
  expect(["", "abc", undefined, null, 12_345].map(findForms)).toEqual([[], [], [], [], []]);
});

test("findForms() gives each form once, none shorter than four characters", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4, maxLength: 50, unit: "binary" }), (secret) => {
      const forms = findForms(secret);

      expect(new Set(forms).size).toBe(forms.length);
      expect(forms.filter((form) => form.length < 4)).toEqual([]);
      expect(forms).toContain(secret);
    }),
  );
});

test("findForms() takes a secret that is half a character", () => {
  expect(findForms("abc\ud83d")).toContain("abc\ud83d");
});

function asciiJson(text: string): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replaceAll(/[^ -~]/g, escape);
}

function percentEncode(text: string): string {
  const escape = (byte: string): string => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/[!'()*]/gu, escape);
}
