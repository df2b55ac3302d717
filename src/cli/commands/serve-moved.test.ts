import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test, vi } from "vitest";

import { createProject, program, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { findFreePort } from "../../../test/support/free-port.ts";
import { connectHttp, connectStdio, toEnvironment } from "../../../test/support/serve-kitbag.ts";

vi.setConfig({ testTimeout: 120_000 });

const token = ["a", "made", "up", "token", "0123456789"].join("-");

test("kitbag serve goes on in a project that was moved, with its state, its trust and its audit", async () => {
  const project = await createUsed();

  const moved = move(project, "moved");
  const { client } = await connectStdio(moved);
  const counted = await client.callTool({ name: "visit", arguments: {} });
  await client.close();
  const verified = await runKitbag(["audit", "verify"], { project: moved });

  expect(counted.content).toEqual([{ type: "text", text: "2" }]);
  expect(verified.stdout).toBe("ok: 4 entries, none changed, removed or reordered\n");
});

test("kitbag list trusts what was trusted before the project was moved, and nothing that was changed since", async () => {
  const moved = move(await createUsed(), "moved");

  const same = await runKitbag(["list"], { project: moved });
  const further = move(moved, "further");
  writeFileSync(join(further.folder, "kitbag.config.mjs"), "export default {};\n");
  const changed = await runKitbag(["list"], { project: further });

  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining("visit") });
  expect(changed.code).toBe(1);
  expect(changed.stderr).toContain("changed");
});

test("kitbag serve tells the client on stdio which command takes a store of another home, and goes on after it", async () => {
  const project = await createUsed();
  const other = { ...project, home: join(dirname(project.folder), "other-home") };
  await runKitbag(["trust", "."], { project: other });

  const refused = await askStdio(other);
  const command = toCommand(refused.answers[0]);
  const accepted = await runKitbag(command.words, { project: other });
  const { client } = await connectStdio(other);
  const counted = await client.callTool({ name: "visit", arguments: {} });

  expect(command.line).toBe(
    `KITBAG_HOME=${other.home} kitbag store accept --new-audit --store sqlite:${project.folder}/.kitbag/kitbag.db`,
  );
  expect(refused.answers).toMatchObject([
    { id: 1, error: { data: { code: "store-unaccepted" } } },
    { id: "two", error: { message: expect.stringContaining("has never used it") } },
    { id: null, error: {} },
    [{ id: 4, error: {} }],
  ]);
  expect([refused.code, refused.stderr.split("\n")[0]]).toEqual([1, expect.stringContaining(command.line)]);
  expect([accepted.code, counted.content]).toEqual([0, [{ type: "text", text: "2" }]]);
});

test("kitbag serve tells the client on stdio of a copy, and of a configuration that is not trusted", async () => {
  const project = await createUsed();
  const copy = at(project, "copy");
  cpSync(project.folder, copy.folder, { recursive: true });

  const untrusted = await askStdio(copy);
  await runKitbag(["trust", "."], { project: copy });
  const refused = await askStdio(copy);

  expect(untrusted.answers[0]).toMatchObject({ error: { data: { code: "config-untrusted" } } });
  expect(refused.answers[0]).toMatchObject({
    error: {
      message: expect.stringContaining(`it is a copy of ${project.folder}/.kitbag/kitbag.db, which is still there`),
      data: { code: "store-unaccepted" },
    },
  });
});

test("kitbag serve tells the client on stdio that HOME is none, and uses no .kitbag of the project in its place", async () => {
  const project = createProject({ ".kitbag/trust.json": '{"version":1,"trusted":[]}' });

  for (const HOME of ["", "."]) {
    const { KITBAG_HOME: _home, ...env } = toEnvironment(project);
    const { answers, code } = await askStdio(project, { ...env, HOME });

    expect(answers[0]).toMatchObject({
      error: { message: `Cannot use "HOME": found "${HOME}", expected the absolute path of a home directory` },
    });
    expect(code).toBe(2);
  }
});

test("kitbag serve --http tells clients which command takes the store, and goes on by itself once that was run", async () => {
  const project = await createUsed();
  const other = { ...project, home: join(dirname(project.folder), "other-home") };
  await runKitbag(["trust", "."], { project: other });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const server = start(other, ["serve", "--http", `127.0.0.1:${port}`, "--token", token]);
  await vi.waitFor(() => expect(server.stderr()).toContain("are told so until it is done"), 60_000);

  const refused = await connectHttp(url, token).catch((cause: unknown) => cause as Error);
  const stranger = await fetch(url, { method: "POST", body: "{}" });
  const [listening, notified] = await Promise.all([send(url, "GET"), send(url, "POST", { method: "notifications/x" })]);
  const command = toCommand({ error: refused });
  await runKitbag(command.words, { project: other });
  await vi.waitFor(() => expect(server.stdout()).toContain(url), 60_000);
  const client = await connectHttp(url, token);
  const counted = await client.callTool({ name: "visit", arguments: {} });

  expect(command.line).toContain("kitbag store accept --new-audit --store sqlite:");
  expect([stranger.status, listening.status, notified.status]).toEqual([401, 503, 202]);
  // A token is a user, with a state of its own.
  expect(counted.content).toEqual([{ type: "text", text: "1" }]);
});

test("kitbag serve --http that waits for a person has a token, follows it, and says at /healthz that it waits", async () => {
  const project = await createUsed();
  const other = { ...project, home: join(dirname(project.folder), "other-home") };
  await runKitbag(["trust", "."], { project: other });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const run = (...words: string[]): ReturnType<typeof runKitbag> => runKitbag(words, { project: other });
  const ask = async (bearer: string): Promise<number> => (await send(url, "GET", undefined, bearer)).status;
  const server = start(other, ["serve", "--http", `127.0.0.1:${port}`]);
  await vi.waitFor(() => expect(server.stderr()).toContain("kitbag_"), 60_000);

  const first = /kitbag_[\w-]{43}/u.exec(server.stderr())?.[0] ?? "";
  const health = await fetch(`http://127.0.0.1:${port}/healthz`);
  const refused = await connectHttp(url, first).catch((cause: unknown) => cause as Error);
  const [ann = ""] = (await run("token", "add", "ann")).stdout.split("\n");
  const added = await ask(ann);
  await run("token", "revoke", "ann");
  await vi.waitFor(async () => expect(await ask(ann)).toBe(401), 1000);
  await run(...toCommand({ error: refused }).words);
  await vi.waitFor(() => expect(server.stdout()).toContain(url), 60_000);
  const client = await connectHttp(url, first);
  const counted = await client.callTool({ name: "visit", arguments: {} });

  expect(server.stdout()).toBe(`${url}\nToken ${first}\n`);
  expect([health.status, await health.json()]).toEqual([
    503,
    { status: "unavailable", reason: expect.stringMatching(/^store-unaccepted: a person must agree first/u) },
  ]);
  expect(refused).toMatchObject({ message: expect.stringContaining("kitbag store accept") });
  expect([added, await ask(ann)]).toEqual([503, 401]);
  // The token of the first start is the local user's, who called it before.
  expect(counted.content).toEqual([{ type: "text", text: "2" }]);
});

test("kitbag serve --http that waits for a person ends when it is asked to", async () => {
  const project = await createUsed();
  const other = { ...project, home: join(dirname(project.folder), "other-home") };
  await runKitbag(["trust", "."], { project: other });
  const server = start(other, ["serve", "--http", "127.0.0.1:0", "--token", token]);
  await vi.waitFor(() => expect(server.stderr()).toContain("are told so until it is done"), 60_000);

  server.child.kill("SIGTERM");
  const [code] = (await once(server.child, "close")) as [number | null];

  expect([code, server.stdout()]).toEqual([1, ""]);
});

/** A tool that counts how often it was called, in a configuration that was trusted and a store that was used. */
async function createUsed(): Promise<Project> {
  const project = createProject({
    ".git/HEAD": "ref: refs/heads/main\n",
    "kitbag.config.mjs": `import { defineTool } from "kitbag";

const run = (_input, { state }) => state.update("n", (n = 0) => n + 1);

export default { tools: [defineTool({ name: "visit", description: "Counts visits", run })] };
`,
  });
  await runKitbag(["trust", "."], { project });
  const first = await runKitbag(["call", "visit"], { project });
  expect(first).toMatchObject({ code: 0, stdout: "1\n" });
  return project;
}

function at(project: Project, name: string): Project {
  const folder = join(dirname(project.folder), name);
  return { ...project, folder };
}

function move(project: Project, name: string): Project {
  const moved = at(project, name);
  renameSync(project.folder, moved.folder);
  return moved;
}

const messages = [
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }),
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
  JSON.stringify({ jsonrpc: "2.0", id: "two", method: "tools/call", params: { name: "visit" } }),
  "no JSON",
  JSON.stringify([
    { jsonrpc: "2.0", id: 4, method: "ping" },
    { jsonrpc: "2.0", method: "notifications/x" },
  ]),
];

interface Asked {
  readonly answers: readonly unknown[];
  readonly code: number | null;
  readonly stderr: string;
}

/** Sends messages to `kitbag serve` on stdio, and goes away. */
async function askStdio(project: Project, env = toEnvironment(project)): Promise<Asked> {
  const [command, ...args] = program;
  const child = spawn(command, [...args, "serve"], { cwd: project.folder, env });
  child.stdin.end(`${messages.join("\n")}\n`);
  const ended = once(child, "close") as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const answers = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
  return { answers, code, stderr };
}

/** The command that an answer names, and its words without `kitbag`. */
function toCommand(answer: unknown): { readonly line: string; readonly words: readonly string[] } {
  const { message } = (answer as { readonly error: Error }).error;
  const line = /(?:take|accept) it as it is: ([^;]*)/u.exec(message)?.[1] ?? message;
  return { line, words: line.split(" ").slice(2) };
}

function start(project: Project, words: readonly string[]) {
  const [command, ...args] = program;
  const child = spawn(command, [...args, ...words], { cwd: project.folder, env: toEnvironment(project) });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return { child, stdout: () => stdout, stderr: () => stderr };
}

async function send(url: string, method: string, message?: object, bearer = token): Promise<Response> {
  const body = message === undefined ? {} : { body: JSON.stringify({ jsonrpc: "2.0", ...message }) };
  return fetch(url, { method, headers: { authorization: `Bearer ${bearer}` }, ...body });
}
