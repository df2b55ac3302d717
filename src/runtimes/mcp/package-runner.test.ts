import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { makeNpmPackage } from "../../../test/support/make-packages.ts";
import { openMcp, serverFolder } from "../../../test/support/mcp-sources.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { parseNpx } from "./package-runner.ts";

// npm takes seconds, and longer beside other tests.
vi.setConfig({ testTimeout: 120_000 });

test("a server that is named with npx gets its package through the package cache, and has no network", async () => {
  const code = readFileSync(join(serverFolder, "raw-server.mjs"), "utf8");
  const { file, bytes } = makeNpmPackage({
    ...{ name: "@s/server-raw", version: "1.2.0" },
    ...{ manifest: { type: "module", bin: { "server-raw": "./main.mjs" } }, files: { "main.mjs": code } },
  });
  const { open } = openMcp({ wheelhouse: createFolder({ [file]: bytes }), restarts: { connectMs: 20_000 } });
  const npx = { name: "raw", command: "npx", args: ["-y", "@s/server-raw"], permissions: {} };

  const workspace = await open(npx);

  expect(await workspace.call("raw/echo", { text: "hi" })).toMatchObject({ status: "ok", output: "again: hi" });
});

test("a server that is named with npx says at once that its package cannot be had", async () => {
  const { runtime } = openMcp({ wheelhouse: createFolder({}) });
  const npx = { name: "raw", command: "npx", args: ["-y", "not-there"], permissions: {} };

  await expect(runtime.connect(npx)).rejects.toMatchObject({
    code: "dependency-failed",
    message: expect.stringContaining("not-there") as string,
  });
});

test.for([
  [["-y", "a"], { packages: { a: "latest" }, name: "a", program: undefined, args: [] }],
  [
    ["@s/a@^1.2.0", "--flag", "x"],
    { packages: { "@s/a": "^1.2.0" }, name: "@s/a", program: undefined, args: ["--flag", "x"] },
  ],
  [
    ["--yes", "--package=b@2", "-p", "c", "run", "-y"],
    { packages: { b: "2", c: "latest" }, name: "b", program: "run", args: ["-y"] },
  ],
  [["--", "a"], { packages: { a: "latest" }, name: "a", program: undefined, args: [] }],
] as const)("parseNpx() takes %j apart", ([words, run]) => {
  expect(parseNpx(words)).toEqual(run);
});

test.for([
  [[], "no package is named"],
  [["-c", "ls"], "the option -c is not known"],
  [["--node-options=--require=/x", "a"], "is not known"],
  [["github:a/b"], "is not a package of the index"],
  [["https://x/a.tgz"], "is not a package of the index"],
  [["../a"], "is not a package of the index"],
  [["a@file:../b"], "is not a package of the index"],
] as const)("parseNpx() refuses %j", ([words, reason]) => {
  expect(parseNpx(words)).toContain(reason);
});
