import { stripVTControlCharacters } from "node:util";

import { expect, test } from "vitest";

import type { Style } from "../terminal.ts";
import { renderServing, type ServingFacts } from "./serve-http.ts";

const facts: ServingFacts = {
  url: "http://127.0.0.1:3210/mcp",
  api: "http://127.0.0.1:3210/api",
  tools: 21,
  skills: 2,
  skillTools: 5,
  sandbox: "bubblewrap",
  store: ".kitbag/kitbag.db",
  access: [],
};

test("renderServing() says where, what and for whom", () => {
  expect(renderServing(facts, plain)).toMatchInlineSnapshot(`
    "URL      http://127.0.0.1:3210/mcp
    API      http://127.0.0.1:3210/api
    Tools    21
    Skills   2, with 5 tools
    Sandbox  bubblewrap
    Store    .kitbag/kitbag.db
    Access   everybody on this machine; no token

    Ctrl-C stops it; calls may finish."
  `);
});

test("renderServing() says what callers need, and the address behind a proxy", () => {
  const text = renderServing(
    { ...facts, publicUrl: "https://tools.example.com/mcp", access: ["token", "oauth"] },
    plain,
  );

  expect(text).toContain("Public   https://tools.example.com/mcp");
  expect(text).toContain("Access   with a token or a JWT (OAuth)");
});

test.for(["off", "missing"])("renderServing() shows the sandbox %j in red", (sandbox) => {
  const text = renderServing({ ...facts, sandbox }, marked);

  expect(text).toMatch(/Sandbox {2}<red>/u);
});

test("renderServing() makes what is not ours harmless", () => {
  const text = renderServing({ ...facts, store: "a\u001B[31mb\nc" }, plain);

  expect(stripVTControlCharacters(text)).toBe(text);
  expect(text).not.toContain("b\nc");
});

const plain = { style: (_style: Style, text: string): string => text };
const marked = { style: (style: Style, text: string): string => `<${String(style)}>${text}` };
