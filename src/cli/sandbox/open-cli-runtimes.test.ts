import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { Invocation } from "../cli-command.ts";
import { openCliRuntimes } from "./open-cli-runtimes.ts";

test("openCliRuntimes() gives what runs scripts, modules and tools of other MCP servers, and starts nothing", async () => {
  const runtimes = openCliRuntimes(invocationWith({}));

  expect([...runtimes].map(({ kind }) => kind)).toEqual(["script", "wasm", "mcp"]);
  await runtimes.close();
});

test("openCliRuntimes() uses the sandbox that the environment names", async () => {
  const runtimes = openCliRuntimes(invocationWith({ KITBAG_SANDBOX: "off" }));

  const { name } = await runtimes.findSandbox();
  await runtimes.close();

  expect(name).toBe("off");
});

test("openCliRuntimes() refuses a sandbox that is none before anything is opened", () => {
  expect(() => openCliRuntimes(invocationWith({ KITBAG_SANDBOX: "jail" }))).toThrow("Cannot use the sandbox jail");
});

function invocationWith(env: Record<string, string>): Invocation {
  const home = createFolder();
  const terminal = { note: () => {}, showStatus: () => {}, style: (_style: string, text: string) => text };
  const facts = { args: [], options: {}, json: false, cwd: home, env: { KITBAG_HOME: home, ...env } };
  return { ...facts, terminal } as unknown as Invocation;
}
