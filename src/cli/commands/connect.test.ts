import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test, vi } from "vitest";

import { createProject, type Project, runKitbag } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { connectStdio } from "../../../test/support/serve-kitbag.ts";
import { clientNames, findClient } from "../connect/clients.ts";
import { readServers } from "../connect/edit-servers.ts";

vi.setConfig({ testTimeout: 60_000 });

test.for(clientNames)(
  "kitbag connect %s writes a file whose command answers from any folder under any Node",
  async (client) => {
    const project = createProject();
    const variables = { HOME: join(project.folder, "..", "user") };

    const connected = await runKitbag(["connect", client, "--yes", "--json"], { project, env: variables });

    const { status, file } = JSON.parse(connected.stdout) as { status: string; file: string };
    expect(status).toBe("connected");
    const row = findClient(client);
    const {
      command,
      args = [],
      env,
      environment,
    } = readServers(readFileSync(file, "utf8"), row)["kitbag"] as unknown as Written;
    const [program = "", ...words] = [command, args].flat();
    // Another folder, and the Node of the system first in PATH, if there is one.
    const transport = new StdioClientTransport({
      command: program,
      args: words,
      cwd: tmpdir(),
      env: { PATH: "/usr/bin:/bin", HOME: variables.HOME, ...env, ...environment },
      stderr: "ignore",
    });
    const session = new Client({ name: "test", version: "1" });
    onTestFinished(() => session.close());
    await session.connect(transport);
    const { tools } = await session.listTools();
    expect(tools.map(({ name }) => name)).toContain("call_tool");
  },
);

interface Written {
  readonly command: string | readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

test("kitbag connect keeps the rest of a file, its permissions and its link, and takes Kitbag out again", async () => {
  const text =
    '{\n  // mine\n  "servers": {\n    "other": { "command": "x", "env": { "KEY": "very-secret" } } // last\n  }\n}\n';
  const project = createProject({ "dotfiles/mcp.json": text });
  const real = join(project.folder, "dotfiles/mcp.json");
  chmodSync(real, 0o640);
  mkdirSync(join(project.folder, ".vscode"));
  symlinkSync("../dotfiles/mcp.json", join(project.folder, ".vscode/mcp.json"));

  const connected = await runKitbag(["connect", "vscode", "--yes"], { project });
  const added = readFileSync(real, "utf8");
  const again = await runKitbag(["connect", "vscode", "--yes"], { project });
  const removed = await runKitbag(["connect", "vscode", "--remove", "--yes"], { project });

  expect(connected).toMatchObject({ code: 0 });
  expect(again.stdout).toContain("starts Kitbag already");
  expect(connected.stdout + connected.stderr + removed.stdout + removed.stderr).not.toContain("very-secret");
  expect(added).toContain("// mine");
  expect(added).toContain("// last");
  expect(added).toContain('"--project"');
  expect(lstatSync(join(project.folder, ".vscode/mcp.json")).isSymbolicLink()).toBe(true);
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(readServers(readFileSync(real, "utf8"), findClient("vscode"))).toEqual({
    other: { command: "x", env: { KEY: "very-secret" } },
  });
  const backups = join(project.home, "connect");
  expect(readdirSync(backups).map((name) => readFileSync(join(backups, name), "utf8"))).toContain(text);
  expect(readdirSync(backups).map((name) => statSync(join(backups, name)).mode & 0o077)).toEqual([0, 0]);
});

test.for([
  ["not JSON", "{ // no\n}"],
  ["half of it", '{"mcpServers":{'],
  ["bytes", "\u0000\u0001"],
] as const)("kitbag connect leaves a file that is %s as it is, and says so", async ([, text]) => {
  const project = createProject({ ".cursor/mcp.json": text });

  const { code, stderr } = await runKitbag(["connect", "cursor", "--yes"], { project });

  expect(code).toBe(1);
  expect(stderr).toContain("it was left as it is");
  expect(stderr).toContain("kitbag connect cursor --print");
  expect(readFileSync(join(project.folder, ".cursor/mcp.json"), "utf8")).toBe(text);
});

test("kitbag connect writes nothing if no person can be asked, through a link out of the project, or to a folder", async () => {
  const project = createProject({ "opencode.json/x": "" });
  const outside = join(dirname(project.folder), "outside.json");
  writeFileSync(outside, "{}");
  symlinkSync(outside, join(project.folder, ".mcp.json"));

  const asked = await runKitbag(["connect", "cursor"], { project });
  const linked = await runKitbag(["connect", "claude-code", "--yes"], { project });
  const folder = await runKitbag(["connect", "opencode", "--yes"], { project });

  expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining("no person can be asked") as string });
  expect(existsSync(join(project.folder, ".cursor"))).toBe(false);
  expect(linked).toMatchObject({ code: 1, stderr: expect.stringContaining("leads out of the project") as string });
  expect(readFileSync(outside, "utf8")).toBe("{}");
  expect(folder).toMatchObject({ code: 1, stderr: expect.stringContaining("it is not a file") as string });
});

test("kitbag connect shows no secret of an entry that it replaces", async () => {
  const old = {
    command: "x",
    args: ["--api-key", "s3cr3t-one", "TOKEN=s3cr3t-two"],
    env: { A: "s3cr3t-three" },
    url: "https://s3cr3t-four@x/",
  };
  const project = createProject({ ".mcp.json": JSON.stringify({ mcpServers: { kitbag: old } }) });

  const { stdout, stderr } = await runKitbag(["connect", "claude-code", "--yes"], { project });

  expect(stderr).toContain("- args:");
  expect(stdout + stderr).not.toContain("s3cr3t");
});

test("kitbag connect --adopt runs a client's servers in Kitbag's sandbox, and --remove gives them back", async (context) => {
  needProgram(context, "bwrap");
  const server = fileURLToPath(new URL("../../../test/support/mcp-servers/raw-server.mjs", import.meta.url));
  const servers = {
    raw: { command: process.execPath, args: [server], env: { TEST_SECRET: "0p3n-s3same" } },
    off: { command: "x", disabled: true },
  };
  const text = JSON.stringify({ mcpServers: servers }, null, 2);
  const project = createProject({ ".mcp.json": text });

  const adopted = await runKitbag(["connect", "--adopt", ".mcp.json", "--yes"], { project });
  const config = readFileSync(join(project.folder, "kitbag.config.json"), "utf8");
  const { client } = await connectStdio(project, []);
  const echoed = await client.callTool({ name: "call_tool", arguments: { name: "raw/echo", input: { text: "hi" } } });
  const told = await client.callTool({ name: "call_tool", arguments: { name: "raw/secret", input: {} } });
  const kept = readServers(readFileSync(join(project.folder, ".mcp.json"), "utf8"), findClient("claude-code"));
  const removed = await runKitbag(["connect", "claude-code", "--remove", "--yes"], { project });

  expect(adopted, adopted.stderr).toMatchObject({ code: 0 });
  expect(Object.keys(kept)).toEqual(["off", "kitbag"]);
  expect(JSON.stringify([adopted, removed, config, told])).not.toContain("0p3n-s3same");
  expect(JSON.parse(config)).toMatchObject({
    mcp: { raw: { env: ["TEST_SECRET"], permissions: { read: expect.anything() as string[] } } },
  });
  expect(echoed.content).toEqual([{ type: "text", text: "again: hi" }]);
  expect(removed, removed.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(join(project.folder, ".mcp.json"), "utf8"))).toEqual({ mcpServers: servers });
  expect(JSON.parse(readFileSync(join(project.folder, "kitbag.config.json"), "utf8"))).toEqual({ mcp: {} });
  expect(readFileSync(join(project.home, "secrets.env"), "utf8")).not.toContain("0p3n-s3same");
});

test("kitbag connect --adopt changes no configuration that is a program, and says so", async () => {
  const text = '{"mcpServers":{"a":{"command":"x"}}}';
  const project = createProject({ ".mcp.json": text, "kitbag.config.mjs": "export default {};" });

  const { code, stderr } = await runKitbag(["connect", "--adopt", "--yes"], { project });

  expect(code).toBe(1);
  expect(stderr).toContain("it is a program, which kitbag connect --adopt does not change");
  expect(readFileSync(join(project.folder, ".mcp.json"), "utf8")).toBe(text);
});

test("kitbag connect lists the clients, and names the one that was meant", async () => {
  const project: Project = createProject({ ".cursor/mcp.json": '{"mcpServers":{"kitbag":{}}}' });

  const listed = await runKitbag(["connect", "--json"], { project });
  const wrong = await runKitbag(["connect", "cursr"], { project });

  const { clients } = JSON.parse(listed.stdout) as { clients: { client: string; scope: string; connected: boolean }[] };
  expect(clients.filter(({ connected, scope }) => connected && scope === "project")).toMatchObject([
    { client: "cursor" },
  ]);
  expect(new Set(clients.map(({ client }) => client))).toEqual(new Set(clientNames));
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "cursor"') as string });
});
