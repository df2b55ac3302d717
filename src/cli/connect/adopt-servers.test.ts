import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { planAdoption, renderAdoption, type Adoption, type AdoptionPlace } from "./adopt-servers.ts";

test("planAdoption() moves values of variables and headers to the secrets, and names them", () => {
  const { taken, left } = plan({
    github: { command: "npx", args: ["-y", "server-github"], env: { GITHUB_TOKEN: "ghs-1", HOST: "${HOST}" } },
    far: {
      type: "http",
      url: "https://x.example.com/mcp",
      headers: { Authorization: "Bearer b-2", "X-Key": "${env:MY_KEY}" },
    },
    "my server": {
      type: "remote",
      url: "https://y.example.com/mcp",
      headers: { Authorization: "Bearer {env:Y_TOKEN}" },
      enabled: true,
    },
    local: { type: "local", command: ["uvx", "a-server"], environment: { A: 1 } },
    codex: { url: "https://z.example.com/mcp", bearer_token_env_var: "Z" },
    kitbag: { command: "node" },
  });

  expect(left).toEqual([]);
  expect(Object.fromEntries(taken.map(({ key, entry }) => [key, entry]))).toEqual({
    github: { command: "npx", args: ["-y", "server-github"], env: ["GITHUB_TOKEN", "HOST"] },
    far: { url: "https://x.example.com/mcp", token: "FAR_TOKEN", headers: { "X-Key": "MY_KEY" } },
    "my-server": { url: "https://y.example.com/mcp", token: "Y_TOKEN" },
    local: { command: "uvx", args: ["a-server"], env: ["A"] },
    codex: { url: "https://z.example.com/mcp", token: "Z" },
  });
  expect(taken.flatMap(({ secrets }) => [...secrets])).toEqual([
    ["GITHUB_TOKEN", "ghs-1"],
    ["FAR_TOKEN", "b-2"],
    ["A", "1"],
  ]);
});

test("planAdoption() grants reading what is named: folders, and the package of a program", () => {
  const folder = createFolder({});
  mkdirSync(join(folder, "package/dist"), { recursive: true });
  mkdirSync(join(folder, "notes"));
  writeFileSync(join(folder, "package/package.json"), "{}");
  writeFileSync(join(folder, "package/dist/main.js"), "");

  const { taken } = plan(
    {
      a: {
        command: "node",
        args: ["package/dist/main.js", "${workspaceFolder}/package/dist/main.js", "./notes", "/no/such"],
      },
    },
    { project: folder },
  );

  expect(taken[0]?.entry.permissions).toEqual({ read: [join(folder, "package"), join(folder, "notes")] });
});

test.for([
  ["nothing", 1, "it is not an object"],
  ["neither way", {}, "it has neither a command nor a url"],
  ["switched off", { command: "x", disabled: true }, "it is switched off"],
  ["another folder", { command: "x", cwd: "/y" }, "Kitbag has nothing like its cwd"],
  ["old HTTP", { type: "sse", url: "https://x/sse" }, "it speaks the older HTTP with SSE"],
  ["a secret in its words", { command: "x", args: ["--api-key", "abc"] }, "its command holds a secret"],
  ["a secret in its url", { url: "https://x/mcp?api_key=abc" }, "its url holds a secret"],
  ["a variable in its words", { command: "x", args: ["${input:path}"] }, "its command holds a variable"],
  ["another name for a variable", { command: "x", env: { A: "${B}" } }, "its variable A has the value of B"],
  ["a value of several lines", { command: "x", env: { A: "1\n2" } }, "the value of A has several lines"],
  [
    "a value that is another one already",
    { command: "x", env: { KNOWN: "2" } },
    "there is another value for KNOWN already",
  ],
  ["a password in its url", { url: "https://u:p@x/mcp" }, "its url holds a secret"],
  ["a variable that is no name", { command: "x", env: { "a b": "1" } }, "cannot be named"],
] as const)("planAdoption() leaves a server with %s where it is", ([, server, reason]) => {
  const { taken, left } = plan({ it: server });

  expect(taken).toEqual([]);
  expect(left).toMatchObject([{ name: "it", reason: expect.stringContaining(reason) as string }]);
});

test("planAdoption() leaves a server whose name is taken", () => {
  const { taken, left } = plan(
    { "a b": { command: "x" }, "a-b": { command: "y" }, known: { command: "other" } },
    { known: { known: { command: "x" } } },
  );

  expect(taken.map(({ name }) => name)).toEqual(["a b"]);
  expect(left.map(({ reason }) => reason)).toEqual([
    'two servers would be called "a-b"',
    'the configuration has another server "known"',
  ]);
});

test("renderAdoption() shows which variables of this machine a server is sent", () => {
  const headers = { Authorization: "Bearer ${env:GH_TOKEN}", "X-Trace": "${AWS_SECRET_ACCESS_KEY}" };

  const shown = renderAdoption(plan({ a: { type: "http", url: "https://x.example.com/mcp", headers } }));

  expect(shown).toContain("it is reached over HTTP; it is sent GH_TOKEN, AWS_SECRET_ACCESS_KEY");
});

test("renderAdoption() shows no value", () => {
  const shown = renderAdoption(plan({ a: { command: "x", args: ["one"], env: { KEY: "s3cr3t" } }, b: 1 }));

  expect(shown).toMatchInlineSnapshot(`
    "+ a: x one
        in the sandbox: reads nothing of yours; writes nothing; no network; sees KEY
        moved to secrets.env: KEY
      b stays where it is: it is not an object"
  `);
});

function plan(servers: object, place: Partial<AdoptionPlace> = {}): Adoption {
  const findSecret = (name: string): string | undefined => (name === "KNOWN" ? "1" : undefined);
  return planAdoption(JSON.parse(JSON.stringify(servers)) as never, {
    project: "/project",
    home: "/home/ann",
    findSecret,
    known: {},
    ...place,
  });
}
