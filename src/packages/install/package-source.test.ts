import { expect, test } from "vitest";

import { toSource } from "./package-source.ts";

test("toSource() takes the public indexes, with the hosts that they keep their files on", () => {
  expect(toSource("python", {})).toEqual({
    kind: "index",
    url: "https://pypi.org/simple",
    hosts: ["pypi.org:443", "files.pythonhosted.org:443"],
  });
  expect(toSource("node", {})).toEqual({
    kind: "index",
    url: "https://registry.npmjs.org",
    hosts: ["registry.npmjs.org:443"],
  });
});

test("toSource() takes the operator's index and no host of the public one", () => {
  const index = { python: "https://user:secret@index.example:8443/simple", hosts: ["files.example"] };

  expect(toSource("python", { index })).toMatchObject({ hosts: ["index.example:8443", "files.example"] });
});

test("toSource() takes a folder before the index, and nothing where there is no network", () => {
  expect(toSource("python", { wheelhouse: "/wheels", offline: true })).toEqual({ kind: "folder", folder: "/wheels" });
  expect(toSource("node", { offline: true })).toEqual({ kind: "nothing" });
});

test.for(["", "pypi.org", "file:///etc", "ftp://x", "javascript:1"])("toSource() refuses the index %j", (python) => {
  expect(() => toSource("python", { index: { python } })).toThrow("index.python");
});
