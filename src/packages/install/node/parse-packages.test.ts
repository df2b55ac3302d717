import { expect, test } from "vitest";

import { parsePackageJson, parsePackageList } from "./parse-packages.ts";

test("parsePackageJson() takes what a program needs to run, sorted", () => {
  const text = JSON.stringify({
    dependencies: { b: "^1.0.0 || ~2", "@s/a": "npm:other@>=1 <2" },
    optionalDependencies: { c: "latest" },
    devDependencies: { typescript: "*" },
    scripts: { postinstall: "rm -rf /" },
  });

  expect(Object.entries(parsePackageJson(text, "package.json"))).toEqual([
    ["@s/a", "npm:other@>=1 <2"],
    ["b", "^1.0.0 || ~2"],
    ["c", "latest"],
  ]);
  expect(parsePackageJson("{}", "package.json")).toEqual({});
});

test("parsePackageList() reads names with and without versions", () => {
  expect(parsePackageList(["lodash@^4", "@s/a", "@s/b@1.x"], "kitbag.toml")).toEqual({
    lodash: "^4",
    "@s/a": "*",
    "@s/b": "1.x",
  });
});

test.for([
  "https://evil.example/a.tgz",
  "git+ssh://git@evil.example/a.git",
  "github:evil/a",
  "evil/a",
  "file:../secret",
  "link:../secret",
  "workspace:*",
  "npm:a@https://evil.example",
  "1.0.0\n",
])("parsePackageJson() refuses the version %j", (range) => {
  const attempt = (): unknown => parsePackageJson(JSON.stringify({ dependencies: { a: range } }), "package.json");

  expect(attempt).toThrow("no addresses and no paths");
});

test.for(["../up", "a/b/c", "", "@s", "a b", "--registry", "__proto__"])(
  "parsePackageJson() refuses the name %j",
  (name) => {
    const text = `{"dependencies":{${JSON.stringify(name)}:"*"}}`;

    expect(() => parsePackageJson(text, "package.json")).toThrow("not the name of a package");
  },
);

test.for(["", "[]", "null", '{"dependencies":[]}', '{"dependencies":{"a":1}}', '{"dependencies":"a"}'])(
  "parsePackageJson() refuses the file %j",
  (text) => {
    expect(() => parsePackageJson(text, "package.json")).toThrow("of package.json");
  },
);

test("parsePackageJson() refuses more packages than anybody needs", () => {
  const dependencies = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`a${index}`, "*"]));

  expect(() => parsePackageJson(JSON.stringify({ dependencies }), "package.json")).toThrow("more than 500");
});
