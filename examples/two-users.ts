/**
 * Two people on one `kitbag serve`: each has a token, Ann makes a tool and shares it with Bob, Bob reaches his quota, and Ann's token is
 * revoked while her stream is open. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/two-users.ts
 *
 * The commands are those that an operator types. Needs a sandbox (`kitbag doctor` says which there is).
 */
import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const shout = {
  name: "shout",
  description: "Says a text loudly",
  language: "javascript",
  code: 'let text = ""; for await (const part of process.stdin) text += part; console.log(JSON.parse(text).text.toUpperCase());',
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  examples: [{ input: { text: "hi" }, output: "HI" }],
};

const folder = mkdtempSync(join(tmpdir(), "kitbag-users-"));
const program = ["--conditions=@kitbag/source", fileURLToPath(new URL("../src/cli/main.ts", import.meta.url))];
const environment = {
  cwd: folder,
  env: { PATH: process.env["PATH"], HOME: folder, KITBAG_HOME: join(folder, "home") },
};

const { url, child } = await serve();
try {
  await tellStory();
} finally {
  child.kill("SIGTERM");
  await once(child, "exit");
  rmSync(folder, { recursive: true, force: true });
}

async function tellStory(): Promise<void> {
  const annToken = await addToken("ann");
  const ann = await connect(annToken);
  const bob = await connect(await addToken("bob"));
  console.log("Ann and Bob have a token each and are connected.");

  await call(ann, "create_tool", shout);
  const hidden = await call(bob, "call_tool", { name: "shout", input: { text: "hello" } });
  assert.match(hidden, /Cannot find/u);
  console.log("Ann makes the tool shout. Bob does not see it.");

  const asked = await call(ann, "update_tool", { name: "shout", changes: { shared: true } });
  const { id } = JSON.parse(asked) as { id: string };
  await kitbag("approvals", "approve", id);
  await untilEqual(() => call(bob, "call_tool", { name: "shout", input: { text: "hello" } }), "HELLO");
  console.log("Ann asks to share it, the operator approves, and Bob calls it: HELLO");

  await kitbag("quota", "set", "bob", "--calls", "2");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const answers: string[] = [];
  for (const text of ["one", "two", "three"])
    answers.push(await call(bob, "call_tool", { name: "shout", input: { text } }));
  assert.match(answers.at(-1) ?? "", /has used 2 of 2 calls/u);
  console.log(`Bob's quota is two calls a day, and the third is refused:\n  ${answers.at(-1)}`);
  const { stdout: table } = await run("quota");
  console.log(table.trimEnd());

  await revokeDuringStream(annToken);
  await Promise.allSettled([ann.close(), bob.close()]);
}

/** Opens a stream with the token as a browser would, revokes the token, and waits for the end of the stream. */
async function revokeDuringStream(token: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "text/event-stream, application/json",
  };
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "ann", version: "1.0.0" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello });
  const opened = await fetch(url, { method: "POST", headers, body });
  await opened.text();
  const session = { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const stream = await fetch(url, { headers: session });
  assert.equal(stream.status, 200);

  await kitbag("token", "revoke", "ann");
  const start = performance.now();
  await stream.text().catch(() => "cut");
  const seconds = (performance.now() - start) / 1000;
  const refused = await fetch(url, { method: "POST", headers, body });
  assert.equal(refused.status, 401);
  console.log(
    `Ann's token is revoked: her stream ends ${seconds.toFixed(1)} s later, and she is answered with ${refused.status}.`,
  );
}

/** Starts the real command in a project of its own. */
async function serve(): Promise<{ url: URL; child: ChildProcess }> {
  const started = spawn(process.execPath, [...program, "serve", "--http", "127.0.0.1:0", "--json", "--open", "forge"], {
    ...environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: started.stdout })) {
    const { url: address } = JSON.parse(line) as { url: string };
    return { url: new URL(address), child: started };
  }
  throw new Error("kitbag serve ended before it said where it listens");
}

async function addToken(user: string): Promise<string> {
  const { token } = (await kitbag("token", "add", user)) as { token: string };
  return token;
}

/** Runs a command, and answers with the document that it prints. */
async function kitbag(...words: readonly string[]): Promise<unknown> {
  const { stdout } = await run(...words, "--json");
  return JSON.parse(stdout) as unknown;
}

function run(...words: readonly string[]): Promise<{ stdout: string }> {
  return promisify(execFile)(process.execPath, [...program, ...words], environment);
}

async function connect(token: string): Promise<Client> {
  const client = new Client({ name: "example", version: "1.0.0" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

/** Asks until the answer is the expected one: a service sees what a command did within a second. */
async function untilEqual(ask: () => Promise<string>, expected: string): Promise<void> {
  let answer = await ask();
  for (let tries = 0; tries < 20 && answer !== expected; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer = await ask();
  }
  assert.equal(answer, expected);
}

/** Calls a tool, and answers with the text that the client shows. */
async function call(client: Client, name: string, input: object): Promise<string> {
  const result = await client.callTool({ name, arguments: { ...input } }, { timeout: 60_000 });
  return result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
