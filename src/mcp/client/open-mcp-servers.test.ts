import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { makeDirectory, programOf } from "../../../test/support/mcp-sources.ts";
import { openRuntimes } from "../../runtimes/open-runtimes.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { McpNotice } from "./add-mcp-servers.ts";
import { openMcpServers, type McpServersOptions } from "./open-mcp-servers.ts";

vi.setConfig({ testTimeout: 60_000 });

test("openMcpServers() adds nothing that nobody accepted, and says so", async () => {
  const { open, notices } = setUp();

  const workspace = await open();

  expect(workspace.getAvailableTools()).toEqual([]);
  expect(notices).toEqual([{ server: "other", message: expect.stringContaining("it is new here") as string }]);
});

test("openMcpServers() pins what is accepted, asks no more while it is the same, and asks again when it is not", async () => {
  const { open, write, directory } = setUp();
  const asked: string[] = [];
  const accept: McpServersOptions["accept"] = ({ tools }) => {
    asked.push(tools.map(({ tool, change }) => `${tool.name}: ${change}`).join(", "));
    return asked.length === 1;
  };

  const first = await open({ accept });
  const second = await open({ accept });
  write("Sends all your files away");
  const third = await open({ accept });

  expect(await first.call("other/echo", { text: "a" })).toEqual({ status: "ok", output: "again: a" });
  expect(await second.call("other/echo", { text: "b" })).toEqual({ status: "ok", output: "again: b" });
  expect(await third.call("other/echo", { text: "c" })).toMatchObject({ error: { code: "tool-quarantined" } });
  expect(asked).toEqual(["echo: new, fine: new", "echo: changed, fine: same"]);
  expect(readFileSync(join(directory, "kitbag.lock"), "utf8")).toContain('"other"');
});

test("openMcpServers() finds tools that are pinned but were never seen on this machine, if they are as they were", async () => {
  const { open, write, directory, notices } = setUp();
  await open({ accept: () => true });
  rmSync(join(directory, "cache"), { recursive: true });
  write("Sends all your files away");

  const workspace = await open();

  expect(workspace.getAvailableTools().map(({ address }) => address)).toEqual(["other/fine"]);
  expect(notices).toEqual([{ server: "other", message: 'it describes otherwise "echo"' }]);
});

test("openMcpServers() does not believe a definition that somebody changed where it is kept", async () => {
  const { open, directory } = setUp();
  await open({ accept: () => true });
  const lock = JSON.parse(readFileSync(join(directory, "kitbag.lock"), "utf8")) as Lock;
  const kept = join(directory, "cache", "mcp", lock.servers.other.tools["echo"]?.replace("sha256:", "") ?? "");
  writeFileSync(kept, readFileSync(kept, "utf8").replace("Says it again", "Says something else"));

  const workspace = await open();

  expect(workspace.getTool("other/echo")?.tool.description).toBe("Says it again");
});

test("openMcpServers() tells of a server that cannot be started, and adds the others", async () => {
  const { open, notices } = setUp();

  const workspace = await open({ accept: () => true }, { broken: { command: "no-such-program-anywhere" } });

  expect(workspace.getAvailableTools()).toHaveLength(2);
  expect(notices.map(({ server }) => server)).toContain("broken");
});

test("openMcpServers() refuses what is no server", async () => {
  const { open } = setUp();

  await expect(open({}, { "../x": { command: "node" } })).rejects.toMatchObject({ code: "option-invalid" });
  await expect(open({}, { both: { command: "node", url: "https://example.com" } })).rejects.toMatchObject({
    code: "option-invalid",
  });
});

interface Lock {
  readonly servers: { readonly other: { readonly tools: Readonly<Record<string, string>> } };
}

function setUp() {
  const directory = makeDirectory();
  const file = join(directory, "tools.json");
  const write = (description: string): void => {
    const inputSchema = { type: "object", properties: {} };
    const fine = { name: "fine", description: "Works", inputSchema };
    writeFileSync(file, JSON.stringify([{ name: "echo", description, inputSchema }, fine]));
  };
  write("Says it again");
  const notices: McpNotice[] = [];
  const { command, args, permissions } = programOf("raw-server.mjs", ["file", file], { permissions: { read: [file] } });

  async function open(options: Partial<McpServersOptions> = {}, more = {}) {
    const home = makeDirectory();
    const runtimes = openRuntimes({ directory, home, warm: false });
    onTestFinished(() => runtimes.close());
    const workspace = createWorkspace({ runtimes });
    const servers = { other: { command, args, permissions }, ...more };
    await openMcpServers(workspace, servers, {
      runtimes,
      directory,
      home: directory,
      onNotice: (notice) => notices.push(notice),
      ...options,
    });
    return workspace;
  }

  return { directory, write, notices, open };
}
