import fc from "fast-check";
import { expect, test } from "vitest";

import { findToolReferences, renderToolReferences } from "./tool-references.ts";

test("findToolReferences() finds tools with their places in the file", () => {
  const body =
    "Use plugin:design/layout_compose, then\n`plugin:design/render@1.2.0`.\n\n```\nplugin:react/recommended\n```\n";

  expect(findToolReferences(body, 10)).toEqual([
    {
      raw: "plugin:design/layout_compose",
      address: "design/layout_compose",
      owner: "design",
      tool: "layout_compose",
      line: 10,
      column: 5,
      inCodeBlock: false,
    },
    {
      raw: "plugin:design/render@1.2.0",
      address: "design/render",
      owner: "design",
      tool: "render",
      version: "1.2.0",
      line: 11,
      column: 2,
      inCodeBlock: false,
    },
    {
      raw: "plugin:react/recommended",
      address: "react/recommended",
      owner: "react",
      tool: "recommended",
      line: 14,
      column: 1,
      inCodeBlock: true,
    },
  ]);
});

test.for([
  ["Call plugin:a/b.", "plugin:a/b"],
  ["(plugin:a/b)", "plugin:a/b"],
  ["**plugin:a/b**", "plugin:a/b"],
  ["plugin:a.b/c-d_e...", "plugin:a.b/c-d_e"],
  ["plugin:a/b@2.0.0-beta.1, or", "plugin:a/b@2.0.0-beta.1"],
  ["plugin:a/b@latest", "plugin:a/b"],
  ["plugin:a/b/c", "plugin:a/b"],
] as const)("findToolReferences() in %j finds %j", ([text, raw]) => {
  expect(findToolReferences(text).map((reference) => reference.raw)).toEqual([raw]);
});

test.for([
  "myplugin:a/b",
  "x/plugin:a/b",
  "plugin:a",
  "plugin:/b",
  "plugin:a/",
  "plugin: a/b",
  "plugin:../b",
  `plugin:a/${"b".repeat(65)}`,
])("findToolReferences() finds nothing in %j", (text) => {
  expect(findToolReferences(text)).toEqual([]);
});

test("renderToolReferences() writes the names a model must use, and leaves what it does not know", () => {
  const names = new Map([
    ["design/render", "design__render"],
    ["design/render@1.0.0", "design__render_v1"],
  ]);

  const text = renderToolReferences(
    "`plugin:design/render`, plugin:design/render@1.0.0, plugin:design/render@2.0.0, plugin:x/y.",
    names,
  );

  expect(text).toBe("`design__render`, design__render_v1, design__render, plugin:x/y.");
});

test("renderToolReferences() never takes a name for a pattern", () => {
  expect(renderToolReferences("plugin:a/b", new Map([["a/b", "$& $1 $$"]]))).toBe("$& $1 $$");
});

test("renderToolReferences() replaces exactly what findToolReferences() finds", () => {
  const piece = fc.constantFrom(
    "plugin:",
    "a",
    "b",
    "/",
    ".",
    "-",
    "@",
    "1.0",
    " ",
    "`",
    "\n",
    "plugin:a/b",
    "plugin:c/d@1.0",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = pieces.join("");
      const found = findToolReferences(text);
      const names = new Map(found.map(({ address }) => [address, "X"]));

      const rendered = renderToolReferences(text, names);

      expect(rendered.split("X").length - 1).toBe(found.length);
    }),
  );
});
