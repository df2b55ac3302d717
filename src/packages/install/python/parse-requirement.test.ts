import { expect, test } from "vitest";

import { isKitbagError } from "../../../core/errors.ts";
import { parseRequirement, parseRequirementList, renderRequirement } from "./parse-requirement.ts";

const hash = `sha256:${"a".repeat(64)}`;

test.for([
  ["requests", "requests"],
  ["  Foo_Bar.baz  ", "foo-bar-baz"],
  ["a>=2,<3", "a<3,>=2"],
  ["a (>= 2, < 3)", "a<3,>=2"],
  ["a ~= 1.4.2", "a~=1.4.2"],
  ["a==1!2.0+local.1", "a==1!2.0+local.1"],
  ["a[Socks, async_x]>=1", "a[async-x,socks]>=1"],
  [
    "a; python_version < \"3.12\" and sys_platform == 'linux'",
    "a ; python_version < \"3.12\" and sys_platform == 'linux'",
  ],
  ['a>=1;(extra == "x") or os_name in "posix nt"', 'a>=1 ; (extra == "x") or os_name in "posix nt"'],
])("parseRequirement() reads %s", ([text = "", rendered]) => {
  const parsed = parseRequirement(text);

  expect(parsed.ok ? renderRequirement(parsed.requirement) : parsed.reason).toBe(rendered);
});

test("parseRequirement() keeps hashes, sorted", () => {
  const other = `sha512:${"b".repeat(128)}`;

  const parsed = parseRequirement("a==1", [other, hash]);

  expect(parsed.ok && renderRequirement(parsed.requirement)).toBe(`a==1 --hash=${hash} --hash=${other}`);
});

test.for([
  ["", "does not begin with the name"],
  ["-e .", "does not begin with the name"],
  ["./local", "does not begin with the name"],
  ["${SECRET}", "does not begin with the name"],
  ["a @ https://evil.example/a.whl", "an address or a path"],
  ["a@git+ssh://evil.example/a", "an address or a path"],
  ["git+https://evil.example/a.git", "an address or a path"],
  ["https://evil.example/a.whl", "an address or a path"],
  ["a/../../b", "an address or a path"],
  ["a --index-url=https://evil.example", "is not a version"],
  ["a >= 1 --extra-index-url x", "is not a version"],
  ["a>=1\n--index-url x", "more than one line"],
  ["a; import os", "not a condition"],
  ['a; python_version < "3" --hash=x', "not a condition"],
  ["a[b; c]", "not the name of an extra"],
  ["a==", "is not a version"],
  [`a==${"1".repeat(3000)}`, "longer than 2000"],
])("parseRequirement() refuses %j", ([text = "", reason]) => {
  const parsed = parseRequirement(text);

  expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining(reason ?? "") as string });
});

test("parseRequirement() refuses hashes that prove nothing", () => {
  expect(parseRequirement("a==1", [`md5:${"a".repeat(32)}`]).ok).toBe(false);
  expect(parseRequirement("a==1", ["sha256:short"]).ok).toBe(false);
});

test("parseRequirementList() names what is wrong and the file it is in", () => {
  const attempt = (): unknown => parseRequirementList(["fine", { a: 1 }], "kitbag.toml");

  expect(attempt).toThrow('Cannot use "an object" of kitbag.toml: it is not a text');
  expect(() => parseRequirementList(["a @ x"], "f")).toThrow(
    expect.toSatisfy((cause) => isKitbagError(cause, "dependency-refused")),
  );
});
