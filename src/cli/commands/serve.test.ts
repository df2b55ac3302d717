import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Client } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";

import { createProject, program, type Project, runKitbag } from "../../../test/run-kitbag.ts";
import { startKeyServer } from "../../../test/support/key-server.ts";
import { startKitbagTerminal } from "../../../test/support/kitbag-terminal.ts";
import { beginSession } from "../../../test/support/mcp-raw.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { connectHttp, connectStdio, startHttp, startStdio, toEnvironment } from "../../../test/support/serve-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

const token = ["a", "made", "up", "token", "0123456789"].join("-");

test("kitbag serve answers an MCP client on stdio with the tools of the project", async () => {
  const { client } = await connectStdio(createTools(), ["--module", "tools.ts"]);
  const closed = await client.listTools();
  for (const name of ["forge", "code"]) await client.callTool({ name: "activate_skill", arguments: { name } });

  const { tools } = await client.listTools();
  const answer = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "greet",
      "call_tool",
      "read_output",
      "code__execute_code",
      "forge__create_tool",
      "forge__create_from_template",
      "forge__create_skill_step",
    ]),
  );
  expect(closed.tools.map(({ name }) => name).filter((name) => /forge|code/u.test(name))).toEqual([]);
  expect(answer.content).toEqual([{ type: "text", text: "Hello Ada" }]);
});

test("kitbag serve keeps what the tools of a new folder keep in that folder, from the first start on", async () => {
  const project = createProject();
  const code = "cat >/dev/null; echo yes";
  const draft = { name: "keeper", description: "Keeps", language: "bash", code, examples: [{ input: {} }] };
  const state = { tool: "keeper", key: "k" };

  const first = await connectStdio(project, ["--open", "forge"]);
  await first.client.callTool({ name: "create_tool", arguments: draft });
  await first.client.callTool({ name: "tool_state", arguments: { ...state, action: "set", value: 42 } });
  await first.client.close();
  const second = await connectStdio(project, ["--open", "forge"]);
  const kept = await second.client.callTool({ name: "tool_state", arguments: { ...state, action: "get" } });

  expect(kept.structuredContent).toMatchObject({ found: true, value: 42 });
  expect(existsSync(join(project.home, "kitbag.db"))).toBe(false);
});

test("kitbag serve asks the configured model to write tools, and serves without one that cannot be asked", async (context) => {
  needProgram(context, "python3");
  const config = `export default {
  model: {
    specificationVersion: "v4", provider: "test", modelId: "test", supportedUrls: {},
    async doGenerate() {
      const draft = { name: "x", description: "Says yes", language: "bash", code: "cat >/dev/null; echo yes", examples: [{ input: {}, output: "yes" }] };
      return { content: [{ type: "text", text: JSON.stringify(draft) }], finishReason: { unified: "stop", raw: "stop" }, usage: { inputTokens: {}, outputTokens: {} }, warnings: [] };
    },
    doStream() { throw new Error("no"); },
  },
};
`;
  const withModel = await connectStdio(createProject({ "tools.mjs": config }), [
    "--module",
    "tools.mjs",
    "--open",
    "forge",
  ]);
  const unusable = createProject({ "kitbag.config.json": '{"model": "nobody/none"}' });
  await runKitbag(["trust", "."], { project: unusable });
  const without = await connectStdio(unusable, ["--open", "forge"]);
  const call = { name: "generate_tool", arguments: { description: "A CSV report", name: "made" } };

  const written = await withModel.client.callTool(call);
  const filled = await without.client.callTool(call);

  expect(written.structuredContent).toMatchObject({ how: "model", status: "live", name: "made" });
  expect(JSON.stringify(filled.content)).toContain("csv-report");
});

test("kitbag serve writes nothing but messages to standard output, whatever tools print", async () => {
  const project = createTools();
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "chatter", arguments: {} } },
  ];
  const [command, ...args] = program;
  const child = spawn(command, [...args, "serve", "--module", "tools.ts"], {
    cwd: project.folder,
    env: toEnvironment(project),
  });
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    if (stdout.includes('"id":2')) child.stdin.end();
  });

  child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  const code = await ended;

  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc)).toEqual(lines.map(() => "2.0"));
  expect(stderr).toContain("chatter was here");
  expect(code).toBe(0);
});

test("kitbag serve ends when its client is gone, and with it what it had started", async () => {
  const project = createTools();
  const { client } = await connectStdio(project, ["--module", "tools.ts"]);
  const pid = Number(text(await client.callTool({ name: "pid", arguments: {} })));

  await client.close();

  await expect.poll(() => isAlive(pid)).toBe(false);
});

test("kitbag serve goes on when a tool leaves a failure that nobody waits for, and says so", async () => {
  const { client, stderr } = await connectStdio(createTools(), ["--module", "tools.ts"]);

  await client.callTool({ name: "stray", arguments: {} });
  await expect.poll(stderr).toContain("A tool left a failure that is not handled: stray failure");
  const answer = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(text(answer)).toBe("Hello Ada");
});

test("kitbag serve --open opens skills for every client, and does not start without one of them", async (context) => {
  needProgram(context, "python3");
  const { client } = await connectStdio(createSkill(), ["skills", "--open", "counter"]);
  const opened = await client.listTools();
  const { url } = await startHttp(createSkill(), ["skills", "--open", "counter", "--no-token"]);
  const overHttp = await (await connectHttp(url)).listTools();
  const words = ["serve", "skills", "--open", "countre", "--http", "127.0.0.1:0", "--no-token"];
  const refused = await runKitbag(words, { project: createSkill() });

  for (const { tools } of [opened, overHttp]) expect(tools.map(({ name }) => name)).toContain("counter__count");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/countre.*counter/su)]);
});

test("kitbag serve opens a skill for a client, and its tools appear", async (context) => {
  needProgram(context, "python3");
  const { client } = await connectStdio(createSkill(), ["skills"]);
  const before = await client.listTools();

  await client.callTool({ name: "activate_skill", arguments: { name: "counter" } });
  const after = await client.listTools();
  const answer = await client.callTool({ name: "counter__count", arguments: { text: "one two" } });

  expect(before.tools.map(({ name }) => name)).not.toContain("counter__count");
  expect(after.tools.map(({ name }) => name)).toContain("counter__count");
  expect(text(answer).trim()).toBe("2");
});

test("kitbag serve follows the folders of skills", async () => {
  const project = createSkill();
  const { client } = await connectStdio(project, ["skills"]);

  writeSkill(project, "second");

  await expect
    .poll(async () => listSkills(client), { timeout: 20_000 })
    .toEqual(["code", "counter", "forge", "second"]);
});

test("kitbag serve runs a program that calls tools", async () => {
  const { client } = await connectStdio(createTools(), ["--module", "tools.ts", "--open", "code"]);

  const answer = await client.callTool({
    name: "code__execute_code",
    arguments: { code: 'return await Promise.all(["a", "b"].map((name) => tools.greet({ name })))' },
  });

  expect(answer.structuredContent).toMatchObject({ result: ["Hello a", "Hello b"] });
});

test("kitbag serve --no-forge lets nobody make tools, and --exposure dispatch shows only the fixed ones", async () => {
  const words = ["--module", "tools.ts", "--no-forge", "--exposure", "dispatch"];
  const { client } = await connectStdio(createTools(), words);

  const { tools } = await client.listTools();
  const skills = await listSkills(client);
  const made = await client.callTool({ name: "call_tool", arguments: { name: "create_tool", input: {} } });
  const called = await client.callTool({ name: "call_tool", arguments: { name: "greet", input: { name: "Ada" } } });

  expect(tools.map(({ name }) => name)).not.toContain("greet");
  expect(skills).toEqual(["code"]);
  expect(made.isError).toBe(true);
  expect(text(called)).toContain("Hello Ada");
});

test("kitbag serve --http prints where it listens, and answers there", async () => {
  const server = await startHttp(createTools(), ["--module", "tools.ts", "--no-token"]);
  const client = await connectHttp(server.url);

  const answer = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(text(answer)).toBe("Hello Ada");
  expect(server.facts).toMatchObject({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/u), access: [] });
});

test("kitbag serve --http makes a token on its first start, and prints it with its address that once", async () => {
  const project = createProject();
  const start = (): ReturnType<typeof runKitbag> =>
    runKitbag(["serve", "--http", "0"], { project, signal: { name: "SIGINT", after: "/mcp" } });

  const [first, second] = [await start(), await start()];

  expect(first.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp\nToken kitbag_[\w-]{43}\n$/u);
  expect(first.stderr).toContain("The token is not shown again; kitbag token add <name> makes others");
  expect(second.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp\n$/u);
  expect(second.stderr).not.toContain("not shown again");
  expect([first.code, second.code]).toEqual([0, 0]);
  const path = join(project.home, "tokens");
  expect(readFileSync(path, "utf8")).not.toContain(first.stdout.slice(-20, -1));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("kitbag serve --http lets in who has the token of the first start, which is the local user's, and nobody else", async () => {
  const server = await startHttp(createTools(), ["--module", "tools.ts"]);

  const refused = await fetch(server.url, { method: "POST" });
  const client = await connectHttp(server.url, String(server.facts["token"]));
  const answer = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(refused.status).toBe(401);
  expect(text(answer)).toBe("Hello Ada");
  expect(server.facts).toMatchObject({ access: ["token"] });
});

test("kitbag serve --http loses no token to a start that fails", async () => {
  const project = createProject();
  const other = await startHttp(createProject(), ["--no-token"]);

  const run = await runKitbag(["serve", "--http", new URL(other.url).host], { project });

  expect(run.code).toBe(1);
  expect(existsSync(join(project.home, "tokens"))).toBe(false);
});

test("kitbag serve --http refuses a token within a second of its revocation, in sessions and streams too, and takes a new one", async () => {
  const project = createTools();
  const added = await runKitbag(["token", "add", "ann", "--json"], { project });
  await runKitbag(["token", "add", "bob"], { project });
  const { token: made } = JSON.parse(added.stdout) as { readonly token: string };
  const server = await startHttp(project, ["--module", "tools.ts"]);
  const headers = { authorization: `Bearer ${made}` };
  const session = await beginSession(server.url, headers);
  const stream = await fetch(server.url, {
    headers: { ...headers, accept: "text/event-stream", "mcp-session-id": session },
  });

  await runKitbag(["token", "revoke", "ann"], { project });
  const ended = await new Response(stream.body).text().catch(() => "cut");
  const refused = await fetch(server.url, { method: "POST", headers: { ...headers, "mcp-session-id": session } });
  const again = await runKitbag(["token", "add", "ann", "--json"], { project });
  const { token: fresh } = JSON.parse(again.stdout) as { readonly token: string };

  const taken = await fetch(server.url, { method: "POST", headers: { authorization: `Bearer ${fresh}` } });

  expect([stream.status, ended, refused.status]).toEqual([200, "cut", 401]);
  // 415: it was let in, and sent no JSON.
  expect(taken.status).toBe(415);
});

test("kitbag serve --http reads its token file again on SIGHUP, and keeps its tokens when the file is broken", async () => {
  const project = createProject();
  const path = project.write("tokens", `${token} ann\n`);
  const server = await startHttp(project, ["--token", "@tokens"]);
  const ask = async (): Promise<number> =>
    (await fetch(server.url, { method: "POST", headers: { authorization: `Bearer ${token}` } })).status;

  writeFileSync(path, `${token} a/b\n`);
  server.child.kill("SIGHUP");
  await expect.poll(() => server.stderr()).toContain("the tokens of before stay good");
  const whileBroken = await ask();
  writeFileSync(path, `${token}-other ann\n`);
  server.child.kill("SIGHUP");

  // 415: it was let in, and sent no JSON.
  expect(whileBroken).toBe(415);
  await expect.poll(ask).toBe(401);
  expect(server.stderr().trim().split("\n")).toEqual([
    'Cannot read --token @tokens: line 1: "a/b" cannot be a name; take 1 to 64 of the letters a to z, digits and . _ @ + -; the tokens of before stay good',
  ]);
  expect(server.child.exitCode).toBeNull();
});

test("kitbag serve --http shows a person what is served, and what is dangerous in red", async (context) => {
  needProgram(context, "script");
  const terminal = startKitbagTerminal(
    ["serve", "--http", "0", "--no-token", "--sandbox", "off", "--store", "none"],
    createProject(),
  );

  await terminal.waitFor("Ctrl-C stops it");
  terminal.type("\u0003");

  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).toMatch(/URL {6}.*http:\/\/127\.0\.0\.1:\d+\/mcp/u);
  expect(terminal.shown()).toMatch(/Sandbox {2}\u001B\[31moff: what runs can read and change all that you can/u);
  expect(terminal.shown()).toMatch(/Access {3}everybody on this machine; no token/u);
});

test("kitbag serve --http ends when its terminal is closed", async (context) => {
  needProgram(context, "script");
  const terminal = startKitbagTerminal(["serve", "--http", "0", "--no-token", "--store", "none"], createProject());
  await terminal.waitFor("Ctrl-C stops it");
  const url = /http:\/\/127\.0\.0\.1:\d+/u.exec(terminal.shown())?.[0] ?? "";
  const isServed = async (): Promise<boolean> =>
    fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
  const before = await isServed();

  terminal.close();

  expect(before).toBe(true);
  await expect.poll(isServed, { timeout: 20_000 }).toBe(false);
});

test("kitbag serve at a terminal says that a client must start it", async (context) => {
  needProgram(context, "script");
  const terminal = startKitbagTerminal(["serve", "--store", "none"], createProject());

  await terminal.waitFor("clients start this program themselves");
  await terminal.waitFor("Ctrl-C stops it");
  await new Promise((resolve) => setTimeout(resolve, 500));
  terminal.type("\u0003");

  expect(await terminal.ended).toBe(0);
});

test("kitbag serve --token lets in who has it, and shows it to nobody", async () => {
  const project = createTools();
  const server = await startHttp(project, ["--module", "tools.ts", "--token", token, "--log", "debug"]);

  const refused = await fetch(server.url, { method: "POST", headers: { authorization: "Bearer wrong-wrong-wrong" } });
  const client = await connectHttp(server.url, token);
  const answer = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(refused.status).toBe(401);
  expect(text(answer)).toBe("Hello Ada");
  expect(server.stderr()).toContain('"status":401');
  expect(server.stdout() + server.stderr()).not.toContain(token);
});

test("kitbag serve takes the token of KITBAG_TOKEN, and those of a file with their scopes", async () => {
  const project = createTools();
  project.write("tokens", `${token} reader tools:read\n`);
  const [byVariable, byFile] = await Promise.all([
    startHttp(project, ["--module", "tools.ts"], { KITBAG_TOKEN: token }),
    startHttp(project, ["--module", "tools.ts"], { KITBAG_TOKEN: "@tokens" }),
  ]);

  const [all, some] = await Promise.all([connectHttp(byVariable.url, token), connectHttp(byFile.url, token)]);
  const allowed = await all.callTool({ name: "greet", arguments: { name: "Ada" } });
  const denied = some.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(text(allowed)).toBe("Hello Ada");
  await expect(denied).rejects.toThrow();
});

test("kitbag serve --oauth lets in who has a JWT of the issuer, and says where they come from", async () => {
  const issuer = await startKeyServer();
  const server = await startHttp(createTools(), ["--module", "tools.ts", "--oauth", issuer.url]);

  const refused = await fetch(server.url, { method: "POST" });
  const client = await connectHttp(server.url, await issuer.sign({ audience: server.url, scope: "tools" }));
  const answer = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  const origin = new URL(server.url).origin;
  expect(refused.headers.get("www-authenticate")).toBe(
    `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
  );
  expect(text(answer)).toBe("Hello Ada");
});

test("kitbag serve answers to the names and pages that are allowed, and to no others", async () => {
  const words = ["--allow-host", "box", "--public-url", "https://tools.example.com/mcp"];
  const server = await startHttp(createProject(), [
    ...words,
    "--no-token",
    "--allow-origin",
    "https://app.example.com",
  ]);

  const statuses = await Promise.all(
    [
      { host: "box:3210" },
      { host: "tools.example.com" },
      { host: "evil.com" },
      { host: "localhost", origin: "https://app.example.com" },
      { host: "localhost", origin: "https://evil.com" },
    ].map(async (headers) => askWith(server.url, headers)),
  );

  // 400: it was let in, and is no message.
  expect(statuses).toEqual([400, 400, 403, 400, 403]);
});

test("kitbag serve --http speaks the newest generation of the protocol, too", async () => {
  const server = await startHttp(createTools(), ["--module", "tools.ts", "--token", token]);
  const client = await connectHttp(server.url, token, { versionNegotiation: { mode: { pin: "2026-07-28" } } });

  const answer = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(text(answer)).toBe("Hello Ada");
});

test("kitbag serve --http on an address of the network needs a token", async () => {
  const run = await runKitbag(["serve", "--http", "0.0.0.0:0", "--no-token"]);

  expect(run.code).toBe(1);
  expect(run.stderr).toContain(
    'Cannot listen on "0.0.0.0": every program that can reach this address could call the tools',
  );
  expect(run.stderr).toContain("kitbag token add <name>");
});

test.for<[words: string[], env: Record<string, string>, reason: string]>([
  [["--token", token, "--no-token"], {}, "Cannot use --no-token with --token"],
  [["--no-token", "--token", token], {}, "Cannot use --no-token with --token"],
  [["--no-token"], { KITBAG_TOKEN: token }, "Cannot use --no-token with KITBAG_TOKEN"],
  [["--token", "short"], {}, "Cannot use --token: it has 5 characters, expected at least 16"],
  [[], { KITBAG_TOKEN: "short" }, "Cannot use KITBAG_TOKEN: it has 5 characters, expected at least 16"],
])("kitbag serve --http %j with %j is refused", async ([words, env, reason]) => {
  const run = await runKitbag(["serve", "--http", "0", ...words], { env });

  expect([run.code, run.stdout]).toEqual([2, ""]);
  expect(run.stderr).toContain(reason);
  expect(run.stderr).not.toContain(token);
});

test("kitbag serve --http on a port that is taken says so", async () => {
  const server = await startHttp(createProject(), ["--no-token"]);

  const run = await runKitbag(["serve", "--http", new URL(server.url).host]);

  expect(run.code).toBe(1);
  expect(run.stderr).toContain("another program listens there; stop it, or take another port");
});

test("kitbag serve --http lets calls finish when it is stopped", async () => {
  const server = await startHttp(createTools(), ["--module", "tools.ts", "--no-token"]);
  const client = await connectHttp(server.url);
  const running = client.callTool({ name: "slow", arguments: {} });
  await expect.poll(() => server.stderr()).toContain("slow begins");

  server.child.kill("SIGINT");

  expect(text(await running)).toBe("slow is done");
  expect(await server.ended).toBe(0);
});

test.for([
  [["--token", token], "Cannot use --token on stdio: who starts the program is let in; add --http"],
  [["--no-token"], "Cannot use --no-token on stdio: who starts the program is let in; add --http"],
  [["--http", "--token", ""], "Cannot use --token: there is no token in it"],
  [["--allow-origin", "https://a.example"], "Cannot use --allow-origin on stdio"],
  [["--exposure", "all"], 'Cannot use --exposure "all": there are both, dispatch, direct'],
  [["--http", "./skills"], 'Cannot use --http "./skills": expected host:port'],
  [["--http", "--public-url", "tools"], 'Cannot use --public-url "tools"'],
  [["--project", "nowhere"], 'Cannot work in --project "nowhere"'],
  [["--print-config", "emacs"], 'Cannot write a configuration for "emacs"'],
  [["no-such-folder", "--print-config", "codex"], "no-such-folder: there is no such folder"],
  [["nowhere"], "nowhere"],
] as const)("kitbag serve %j is wrong usage", async ([words, message]) => {
  const run = await runKitbag(["serve", ...words]);

  expect(run.code).toBe(2);
  expect(run.stderr).toContain(message);
  expect(run.stderr).not.toContain(token);
  expect(run.stdout).toBe("");
});

test("kitbag serve --print-config prints a line that starts what it would serve, from any folder", async () => {
  const project = createTools();
  const { stdout } = await runKitbag(["serve", "--module", "tools.ts", "--print-config", "claude-desktop"], {
    project,
  });
  const { mcpServers } = JSON.parse(stdout) as { mcpServers: { kitbag: { command: string; args: string[] } } };

  const { client } = await startStdio(project, [mcpServers.kitbag.command, ...mcpServers.kitbag.args], {
    cwd: tmpdir(),
  });
  const answer = await client.callTool({ name: "greet", arguments: { name: "Ada" } });

  expect(text(answer)).toBe("Hello Ada");
});

test("kitbag serve --http --print-config never prints the token", async () => {
  const words = ["serve", "--http", "--token", token, "--print-config"];

  const runs = await Promise.all(
    ["claude-desktop", "claude-code", "cursor", "vscode", "codex"].map(async (name) => runKitbag([...words, name])),
  );

  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
  expect(JSON.stringify(runs)).not.toContain(token);
  expect(runs.every(({ stdout }) => stdout.includes("http://127.0.0.1:3210/mcp"))).toBe(true);
});

test("kitbag serve --http --print-config refuses a token that is too short, as serving it would", async () => {
  const run = await runKitbag(["serve", "--http", "--token", "short", "--print-config", "codex"]);

  expect([run.code, run.stdout]).toEqual([2, ""]);
  expect(run.stderr).toContain("at least 16, so that it cannot be guessed");
});

test("kitbag serve --print-config for an address of the network prints one that can be used here", async () => {
  const run = await runKitbag(["serve", "--http", "0.0.0.0:8080", "--print-config", "codex"]);

  expect(run.stdout).toBe(
    '[mcp_servers.kitbag]\nurl = "http://127.0.0.1:8080/mcp?session=codex"\nbearer_token_env_var = "KITBAG_TOKEN"\n',
  );
  expect(run.stderr).toContain("On other machines, write the address of this one");
});

test("kitbag serve on stdio says on standard error what its configuration lacks, and ends", async () => {
  const project = createProject({ "kitbag.config.ts": "export default {};" });

  const run = await runKitbag(["serve"], { project });

  expect(run.code).toBe(1);
  expect(run.stdout).toBe("");
  expect(run.stderr).toContain("is not trusted; read it, then run: kitbag trust");
});

const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } };

function createTools(): Project {
  return createProject({
    "tools.ts": `
      const tool = (name: string, run: (input: any) => unknown) => ({
        name, description: name, run, input: { type: "object", properties: { name: { type: "string" } } },
      });
      import { defineTool } from ${JSON.stringify(join(import.meta.dirname, "../../index.ts"))};
      export default [
        tool("greet", ({ name }) => "Hello " + name),
        tool("chatter", () => { console.log("chatter was here"); process.stdout.write("{not json\\n"); return "done"; }),
        tool("pid", () => String(process.pid)),
        tool("stray", () => { void Promise.reject(new Error("stray failure")); return "left"; }),
        tool("slow", async () => {
          console.error("slow begins");
          await new Promise((resolve) => setTimeout(resolve, 1500));
          return "slow is done";
        }),
      ].map((definition) => defineTool(definition));
    `,
  });
}

function createSkill(): Project {
  const project = createProject();
  writeSkill(project, "counter");
  return project;
}

/** Moved into its place when it is whole, as an editor or git would do it. */
function writeSkill(project: Project, name: string): void {
  const head = `---\nname: ${name}\ndescription: Counts words. Use it for texts.\n---\n`;
  project.write(`drafts/${name}/SKILL.md`, `${head}\nCount.\n`);
  project.write(`drafts/${name}/scripts/count.py`, countScript);
  mkdirSync(join(project.folder, "skills"), { recursive: true });
  renameSync(join(project.folder, "drafts", name), join(project.folder, "skills", name));
}

const countScript = `import argparse
parser = argparse.ArgumentParser(description="Counts words")
parser.add_argument("--text", required=True)
print(len(parser.parse_args().text.split()))
`;

/** `fetch` sets the Host by itself. */
async function askWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: { "content-type": "application/json", ...headers } });
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end("{}");
  });
}

async function listSkills(client: Client): Promise<string[]> {
  const { skills } = JSON.parse(text(await client.callTool({ name: "list_skills", arguments: {} }))) as Listed;
  return skills.map(({ name }) => name).toSorted();
}

interface Listed {
  readonly skills: readonly { readonly name: string }[];
}

function text(answer: Awaited<ReturnType<Client["callTool"]>>): string {
  const [first] = answer.content as { text: string }[];
  return first?.text ?? "";
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
