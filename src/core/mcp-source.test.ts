import { expect, test } from "vitest";

import {
  isMcpProgram,
  needsLogin,
  toContentOutput,
  toSourceKey,
  configMcpSchema,
  skillMcpSchema,
  toMcpSource,
  type McpServerEntry,
} from "./mcp-source.ts";
import { checkStrictly } from "./schema/validator.ts";

const folder = { directory: "/skill", files: [], digest: "sha256:0" };

test("toMcpSource() makes a program, with all that was said about it", () => {
  const source = toMcpSource("db", {
    command: "node",
    args: ["server.mjs"],
    env: ["DB_URL"],
    permissions: { read: ["./data"], env: ["HOME_CITY"] },
    sandbox: "off",
    tools: ["query"],
    limitMs: 500,
    needsApproval: true,
  });

  expect(source).toEqual({
    name: "db",
    command: "node",
    args: ["server.mjs"],
    permissions: { read: ["./data"], env: ["HOME_CITY", "DB_URL"] },
    sandbox: "off",
    tools: ["query"],
    limitMs: 500,
    needsApproval: true,
  });
  expect(typeof source !== "string" && [isMcpProgram(source), toSourceKey(source)]).toEqual([true, "db"]);
});

test("toMcpSource() gives a skill's server what the skill may, and of its variables those that are named", () => {
  const permissions = { read: ["./data"], env: ["A", "B"] };

  const source = toMcpSource("db", { command: "node", env: ["A", "C"] }, { skill: "notes", permissions, folder });
  const bare = toMcpSource("db", { command: "node" }, { permissions: {} });

  expect(source).toEqual({
    name: "db",
    skill: "notes",
    command: "node",
    args: [],
    permissions: { read: ["./data"], env: ["A"] },
    folder,
  });
  expect(bare).toMatchObject({ permissions: {} });
  expect(typeof source !== "string" && toSourceKey(source)).toBe("notes/db");
});

test("toMcpSource() makes an address", () => {
  const source = toMcpSource("far", {
    url: "https://Example.com/mcp",
    token: "FAR_TOKEN",
    headers: { "x-team": "TEAM" },
    oauth: true,
  });
  const machine = { clientId: "a", clientSecret: "B", issuer: "https://login.example.com" };

  expect(source).toEqual({
    name: "far",
    url: "https://example.com/mcp",
    token: "FAR_TOKEN",
    headers: { "x-team": "TEAM" },
    oauth: {},
  });
  expect(typeof source !== "string" && isMcpProgram(source)).toBe(false);
  expect(toMcpSource("far", { url: "https://example.com/mcp", oauth: machine })).toMatchObject({ oauth: machine });
});

test.for<[listed: McpServerEntry, reason: string]>([
  [{}, 'either "command" or "url"'],
  [{ command: "a", url: "https://example.com" }, 'either "command" or "url"'],
  [{ command: "a", token: "T" }, 'only a server with "url" has "token"'],
  [{ url: "https://example.com", args: [] }, 'only a server with "command" has "args"'],
  [{ url: "https://" }, "its url cannot be read"],
  [{ url: "https://a:b@example.com" }, "its url has a password"],
  [{ url: "https://a@example.com" }, "its url has a password"],
  [{ url: "https://example.com", oauth: { clientSecret: "S" } }, '"clientSecret" needs "clientId"'],
  [{ url: "https://example.com", oauth: { clientSecret: "S", clientId: "a" } }, '"clientSecret" needs "clientId"'],
])("toMcpSource() refuses %j", ([listed, reason]) => {
  expect(toMcpSource("a", listed)).toContain(reason);
});

test("toMcpSource() takes a rule without a port for 80 and 443", () => {
  const permissions = { network: ["api.example.com"] };

  for (const url of ["https://api.example.com/mcp", "http://api.example.com/mcp"]) {
    expect(toMcpSource("a", { url }, { permissions })).toMatchObject({ url });
  }
});

test.for<[network: readonly string[] | undefined, isGranted: boolean]>([
  [undefined, false],
  [["example.org"], false],
  [["example.com"], false],
  [["api.example.com"], false],
  [["api.example.com:443"], false],
  [["*.example.com"], false],
  [["api.example.com:8443"], true],
  [["*.example.com:8443"], true],
])("toMcpSource() lets a skill with the network %j reach its server: %s", ([network, isGranted]) => {
  const permissions = network === undefined ? {} : { network };

  const source = toMcpSource("a", { url: "https://api.example.com:8443/mcp" }, { permissions });

  expect(typeof source !== "string").toBe(isGranted);
});

test.for([[["api.example.com"]], [["api.example.com:443"]], [["*.example.com"]]])(
  "toMcpSource() takes the network %j for the usual port",
  ([network = []]) => {
    const source = toMcpSource("a", { url: "https://api.example.com/mcp" }, { permissions: { network } });

    expect(source).toMatchObject({ url: "https://api.example.com/mcp", allowHosts: network });
  },
);

test.for<[McpServerEntry]>([
  [{ token: "SECRET" }],
  [{ headers: { "x-key": "SECRET" } }],
  [{ oauth: { clientId: "a", clientSecret: "SECRET", issuer: "https://login.example.com" } }],
])("toMcpSource() sends no secret that the skill may not see: %j", ([listed]) => {
  const network = ["example.com"];
  const make = (env?: readonly string[]) =>
    toMcpSource("a", { url: "https://example.com", ...listed }, { permissions: { network, ...(env && { env }) } });

  expect([make(), make(["OTHER"])]).toEqual([
    expect.stringContaining("the secret SECRET is not granted"),
    expect.stringContaining("the secret SECRET is not granted"),
  ]);
  expect(make(["SECRET"])).toMatchObject({ name: "a" });
});

test("toMcpSource() takes a log-in of a skill that has no secret", () => {
  const permissions = { network: ["example.com"] };

  const sources = [true as const, { clientId: "a" }].map((oauth) =>
    toMcpSource("a", { url: "https://example.com", oauth }, { permissions }),
  );

  expect(sources).toMatchObject([{ oauth: {} }, { oauth: { clientId: "a" } }]);
});

test("only a configuration, not a skill, may turn the sandbox off or say what a server may touch", () => {
  for (const part of [{ sandbox: "off" }, { permissions: { read: ["/etc"] } }]) {
    expect(checkStrictly(configMcpSchema, { command: "a", ...part })).toEqual([]);
    expect(checkStrictly(skillMcpSchema, { command: "a", ...part })).toHaveLength(1);
  }
});

test("toContentOutput() keeps content blocks under the one key", () => {
  expect(toContentOutput([{ type: "text", text: "a" }])).toEqual({ $content: [{ type: "text", text: "a" }] });
});

test("a person logs in to a server unless the client has a secret, or the author says otherwise", () => {
  expect([
    needsLogin({}),
    needsLogin({ clientSecret: "KEY" }),
    needsLogin({ clientSecret: "KEY", login: true }),
    needsLogin({ login: false }),
  ]).toEqual([true, false, true, false]);
});
