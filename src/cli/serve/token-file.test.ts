import { chmodSync, chownSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { digestToken } from "../../gate/access/token-check.ts";
import { changeTokens, loadTokens, makeToken, parseTokens } from "./token-file.ts";

const token = ["a", "made", "up", "token"].join("-");
const digest = digestToken(token);

test("parseTokens() reads tokens and digests, whose they are, what they are good for and when they were made", () => {
  const lines = parseTokens(
    `# ours\n${token}\r\n\n  ${token}-2 reader tools:pdf,tools:csv,\nsha256:${digest} ann * 2026-01-02T03:04:05Z\n`,
  );

  expect(lines).toEqual([
    { token },
    { token: `${token}-2`, id: "reader", scopes: ["tools:pdf", "tools:csv"] },
    { sha256: digest, id: "ann", created: "2026-01-02T03:04:05Z" },
  ]);
});

test.for([
  ["", "it is empty"],
  [`${token}\n${token}-2 ann tools`, "line 2 does not end with a newline, so it may be half written; end it with one"],
  [`${token} a/b\n`, 'line 1: "a/b" cannot be a name'],
  [`# ours\n${token} oauth:alice\n`, 'line 2: "oauth:alice" cannot be a name'],
  [`${token} al\u0000ice\n`, "cannot be a name"],
  [`${token} \u0430lice\n`, "cannot be a name"],
  [`${token} ${"a".repeat(10_240)}\n`, "cannot be a name"],
  [`sha256:${digest.slice(0, 40)}\n`, 'line 1: "sha256:" is followed by no digest'],
  [`${token} ann * 2026-01-02T03:04:05Z more\n`, "line 1: there are more than"],
])("parseTokens() refuses %j and repeats no token", ([text = "", reason]) => {
  expect(() => parseTokens(text)).toThrow(reason);
  expect(() => parseTokens(text)).not.toThrow(token);
});

test("makeToken() makes random tokens that are kept as digests only", async () => {
  const path = join(createFolder(), "home", "tokens");
  const [one, other] = [makeToken("ann", "all"), makeToken("ann", ["tools:read"])];

  await changeTokens(path, () => [one.line, other.line]);

  expect(one.token).toMatch(/^kitbag_[\w-]{43}$/u);
  expect(one.token).not.toBe(other.token);
  expect(loadTokens(path)).toEqual([one.line, other.line]);
  expect(readFileSync(path, "utf8")).not.toContain(one.token.slice(7, 20));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test("changeTokens() makes digests of tokens that a person wrote, and keeps what several programs add", async () => {
  const path = write(`${token} ann\n`);

  await Promise.all(
    ["bob", "carol", "dave"].map((id) => changeTokens(path, (lines = []) => [...lines, makeToken(id, "all").line])),
  );

  const text = readFileSync(path, "utf8");
  expect(text).toContain(`sha256:${digest} ann *\n`);
  expect(text).not.toContain(token);
  expect(
    loadTokens(path)
      .map(({ id }) => String(id))
      .toSorted(),
  ).toEqual(["ann", "bob", "carol", "dave"]);
});

test("loadTokens() refuses a file that other users can write to, or that another user owns", () => {
  const [shared, foreign] = [write(`${token}\n`), write(`${token}\n`)];
  chmodSync(shared, 0o666);

  expect(() => loadTokens(shared)).toThrow("other users can write to it");
  if (process.getuid?.() === 0) {
    chownSync(foreign, 1234, 1234);
    expect(() => loadTokens(foreign)).toThrow("it belongs to another user");
  }
});

function write(text: string): string {
  const path = join(createFolder(), "tokens");
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
