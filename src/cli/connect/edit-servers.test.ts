import { expect, test } from "vitest";

import { editServers, readServers } from "./edit-servers.ts";

const json = { format: "json", key: "mcpServers" } as const;
const jsonc = { format: "jsonc", key: "servers" } as const;
const toml = { format: "toml", key: "mcp_servers" } as const;
const entry = { command: "node", args: ["main.js", "serve"] };
const add = { servers: new Map([["kitbag", entry]]) };
const remove = { servers: new Map([["kitbag", undefined]]) };

test("editServers() keeps comments, order, indentation and line ends of JSON", () => {
  const text = `// mine\r\n{\r\n\t"a": 1, // one\r\n\t"servers": {\r\n\t\t/* first */ "x": { "url": "u" }, // the x\r\n\t},\r\n\t"z": [1,\t2],\r\n}\r\n`;

  const added = editServers(text, jsonc, add);
  const removed = editServers(added, jsonc, remove);

  expect(added).toBe(
    text.replace(
      "// the x\r\n\t}",
      `// the x\r\n\t\t"kitbag": {\r\n\t\t\t"command": "node",\r\n\t\t\t"args": [\r\n\t\t\t\t"main.js",\r\n\t\t\t\t"serve"\r\n\t\t\t]\r\n\t\t}\r\n\t}`,
    ),
  );
  expect(readServers(removed, jsonc)).toEqual({ x: { url: "u" } });
  expect(removed).toContain("/* first */");
  expect(removed).toContain("// the x");
});

test.for([
  "",
  "\uFEFF",
  "{}",
  "{ }\n",
  '{"mcpServers":{}}',
  '{"a":{"b":[1,{"c":null}]},"mcpServers":{"x":{"command":"y"}}}',
])("editServers() adds a server to %j, changes nothing the second time, and takes it out again", (text) => {
  const added = editServers(text, json, add);
  const again = editServers(added, json, add);
  const removed = editServers(added, json, remove);

  expect(readServers(added, json)).toEqual({ ...readServers(text, json), kitbag: entry });
  expect(again).toBe(added);
  expect(readServers(removed, json)).toEqual(readServers(text, json));
});

test("editServers() replaces how a server is reached, and keeps what else is said about it", () => {
  const old = { type: "http", url: "u", headers: { A: "b" }, disabled: true, autoApprove: ["x"], env: { MINE: "1" } };
  const text = JSON.stringify({ mcpServers: { kitbag: old } }, null, 4);

  const edited = editServers(text, json, add);

  expect(readServers(edited, json)["kitbag"]).toEqual({
    disabled: true,
    autoApprove: ["x"],
    env: { MINE: "1" },
    ...entry,
  });
});

test("editServers() keeps the token that the user put in the place of the placeholder", () => {
  const wanted = { url: "u", headers: { Authorization: "Bearer <token>" } };
  const text = JSON.stringify({ mcpServers: { kitbag: { url: "v", headers: { Authorization: "Bearer mine" } } } });

  const edited = editServers(text, json, { servers: new Map([["kitbag", wanted]]) });

  expect(readServers(edited, json)["kitbag"]).toEqual({ url: "u", headers: { Authorization: "Bearer mine" } });
});

test("editServers() asks for the token once", () => {
  const edits = { ...add, inputs: [{ id: "kitbag-token", type: "promptString" }] };

  const once = editServers('{ "inputs": [ { "id": "other" } ], }', jsonc, edits);
  const twice = editServers(once, jsonc, edits);

  expect(JSON.parse(once.replace(/,(\s*\})/gu, "$1"))).toMatchObject({
    inputs: [{ id: "other" }, { id: "kitbag-token" }],
  });
  expect(twice).toBe(once);
});

test.for([
  ["", {}],
  [
    'model = "o5" # best\n\n[mcp_servers.other]\ncommand = "x"\n\n# about the rest\n[rest]\na = 1\n',
    { other: { command: "x" } },
  ],
  [
    '[mcp_servers."kitbag"]\ncommand = "old"\n[mcp_servers.kitbag.env]\nA = "1"\n# of tail\n[tail]\nb = """\n[not]\n"""\n',
    { kitbag: { command: "old", env: { A: "1" } } },
  ],
] as const)("editServers() changes one table of TOML and keeps the rest: %j", ([text, before]) => {
  const added = editServers(text, toml, add);
  const removed = editServers(added, toml, remove);

  expect(readServers(added, toml)).toMatchObject({ ...before, kitbag: entry });
  expect(editServers(added, toml, add)).toBe(added);
  expect(readServers(removed, toml)).not.toHaveProperty("kitbag");
  for (const comment of text.match(/#.*/gu) ?? []) expect(removed).toContain(comment);
});

test.for([
  ["a comment in JSON", '{ // no\n "mcpServers": {} }', json, 'in line 1: expected a key in double quotes, found "/"'],
  ["a key twice", '{"mcpServers":{},"mcpServers":{}}', json, "expected each key once"],
  ["a list of servers", '{"mcpServers":[]}', json, "mcpServers is not an object"],
  ["a list", "[]", json, "it does not hold an object"],
  ["half of a file", '{"mcpServers":{"a":', json, "expected a value, found the end of the file"],
  ["single quotes", "{'a':1}", jsonc, "expected a key in double quotes"],
  ["too many levels", "[".repeat(5000), jsonc, "expected at most 200 levels"],
  ["servers in one line of TOML", 'mcp_servers = { kitbag = { command = "x" } }', toml, "without touching the rest"],
  ["broken TOML", "a = = 1", toml, ""],
] as const)("editServers() refuses %s", ([, text, format, reason]) => {
  expect(() => editServers(text, format, add)).toThrow(reason);
});
