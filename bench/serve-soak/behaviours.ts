/** How the clients of the soak behave, well and badly. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Client } from "@modelcontextprotocol/client";

import { connectClient, type Connection } from "./connect-client.ts";
import { listProcesses } from "./sample.ts";
import type { Service } from "./service.ts";
import type { SoakClient } from "./tally.ts";

/** What a client works with. */
export interface World {
  readonly service: Service;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** One turn of a client: it is called again until the soak is over. */
type Turn = (self: SoakClient, world: World) => Promise<void>;

/** A way to behave, and how many clients do. */
export interface Behaviour {
  readonly name: string;
  readonly count: number;
  readonly pauseMs: number;
  readonly turn: Turn;
}

/** Twenty clients. */
export const behaviours: readonly Behaviour[] = [
  // The one that must be served whatever the others do: no call of it may fail.
  { name: "witness", count: 1, pauseMs: 200, turn: keepSession(callFunctions, "2025") },
  { name: "steady", count: 3, pauseMs: 400, turn: keepSession(callFunctions, "2026") },
  { name: "skills", count: 4, pauseMs: 200, turn: keepSession(callSkills, "2025") },
  { name: "reopening", count: 3, pauseMs: 1000, turn: reopen },
  { name: "abandoning", count: 4, pauseMs: 1000, turn: abandon },
  { name: "cutting", count: 2, pauseMs: 500, turn: cut },
  { name: "killed", count: 2, pauseMs: 3000, turn: beKilled },
  { name: "revoked", count: 1, pauseMs: 3000, turn: beRevoked },
];

/** Lets a client behave until the soak is over. */
export async function behave({ turn, pauseMs }: Behaviour, self: SoakClient, world: World): Promise<void> {
  while (!world.signal.aborted) {
    await turn(self, world).catch((cause: unknown) => {
      if (!world.signal.aborted) self.noteFailure(cause);
    });
    await sleep(pauseMs);
  }
}

type Use = (self: SoakClient, client: Client) => Promise<unknown>;

/** Opens a session once, and uses it turn by turn; another one if the service has forgotten it. */
function keepSession(use: Use, generation: "2025" | "2026"): Turn {
  const kept = new WeakMap<SoakClient, Connection>();
  return async (self, { service, token }) => {
    const connection = kept.get(self) ?? (await connectClient(service.url, token, generation));
    kept.set(self, connection);
    try {
      await use(self, connection.client);
    } catch (cause) {
      if (/session/iu.test(String(cause))) kept.delete(self);
      throw cause;
    }
  };
}

async function callFunctions(self: SoakClient, client: Client): Promise<void> {
  const sum = await self.call(client, "add", { a: self.served, b: 1 });
  if (sum !== String(self.served)) throw new Error(`add answered ${sum}, not ${self.served}`);
  await self.call(client, "count");
  if (self.served % 20 === 0)
    await self.call(client, "execute_code", { code: "return await tools.add({ a: 1, b: 2 })" });
  if (self.served % 30 === 0) await client.listTools();
}

async function callSkills(self: SoakClient, client: Client): Promise<void> {
  for (const name of ["soak", "checksums", "task-list"]) await self.call(client, "activate_skill", { name });
  for (const name of ["hello", "file", "orphan"]) await self.call(client, `soak__${name}`);
  await self.call(client, "checksums__digest", { text: String(self.served) });
  await self.call(client, "task-list__list");
  await readLongOutput(self, client);
  await self.call(client, "deactivate_skill", { name: "soak" });
}

async function readLongOutput(self: SoakClient, client: Client): Promise<void> {
  const text = await self.call(client, "print");
  const handle = /output:sha256:[0-9a-f]{64}/u.exec(text)?.[0];
  if (handle === undefined) throw new Error(`print answered without a handle: ${text.slice(-300)}`);
  await self.call(client, "read_output", { handle, offset: 600_000 });
}

async function reopen(self: SoakClient, { service, token }: World): Promise<void> {
  const { client, end } = await connectClient(service.url, token, "2025");
  try {
    await callSkills(self, client);
  } finally {
    await end();
  }
}

async function abandon(self: SoakClient, { service, token }: World): Promise<void> {
  const { client } = await connectClient(service.url, token, "2025");
  await self.call(client, "activate_skill", { name: "soak" });
  await self.call(client, "soak__hello");
  await client.close();
}

/** Cuts its streams in the middle of calls of a function and of a script. */
async function cut(self: SoakClient, { service, token }: World): Promise<void> {
  const { client } = await connectClient(service.url, token, "2025");
  await self.call(client, "activate_skill", { name: "soak" });
  // They fail, as they must.
  const calls = Promise.allSettled([self.call(client, "soak__nap"), self.call(client, "wait")]);
  await sleep(Math.random() * 1500);
  await client.close();
  await calls;
}

const program = join(import.meta.dirname, "killed-client-program.ts");

/** A process that is killed while it waits for an answer. */
async function beKilled(self: SoakClient, { service, token }: World): Promise<void> {
  const env = { ...process.env, TOKEN: token };
  const child = spawn(process.execPath, [program, service.url], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [said] = (await Promise.race([once(child.stdout, "data"), ended])) as [unknown];
  if (!String(said).startsWith("calling")) throw new Error(`a client ended with ${String(said)}`);
  self.noteServed();
  await sleep(Math.random() * 1000);
  child.kill("SIGKILL");
  await ended;
}

/** On a busy machine; tests have one that is not, and a second. */
const tokenMs = 5000;

/** Gets a token, uses it, loses it, and is refused. */
async function beRevoked(self: SoakClient, { service }: World): Promise<void> {
  const user = `guest-${self.served}`;
  const token = await service.addToken(user);
  const { client } = await until(tokenMs, () => connectClient(service.url, token, "2025"));
  await self.call(client, "add", { a: 1, b: 2 });
  // Each user has a WASM host of their own.
  await self.call(client, "activate_skill", { name: "checksums" });
  await self.call(client, "checksums__digest", { text: user });
  await service.revokeTokens(user);
  await until(tokenMs, () =>
    // The SDK waits on for an answer whose stream was cut.
    client.callTool({ name: "add", arguments: { a: 1, b: 2 } }, { timeout: tokenMs }).then(
      () => Promise.reject(new Error("a revoked token is still good")),
      () => undefined,
    ),
  );
  await client.close();
}

/** Tries until it is done. */
async function until<Result>(patienceMs: number, attempt: () => Promise<Result>): Promise<Result> {
  for (const end = Date.now() + patienceMs; ;) {
    try {
      return await attempt();
    } catch (cause) {
      if (Date.now() > end) throw cause;
    }
    await sleep(100);
  }
}

/** Opens idle sessions and leaves them. Answers with how many were opened. */
export async function flood({ service, token, signal }: World, count: number): Promise<number> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "flood", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  let opened = 0;
  for (let begun = 0; begun < count && !signal.aborted; begun += 20) {
    const answers = Array.from({ length: 20 }, async () => {
      const answer = await fetch(service.url, { method: "POST", headers, body }).catch(() => undefined);
      await answer?.text();
      if (answer?.ok === true) opened += 1;
    });
    await Promise.all(answers);
  }
  return opened;
}

/** Kills processes of the service: a script that naps, and now and then any sandbox or what runs in it. Answers with how many. */
export async function killProcesses({ service, signal }: Omit<World, "token">): Promise<number> {
  let killed = 0;
  for (let round = 0; !signal.aborted; round += 1) {
    await sleep(3000);
    const [server, ...others] = listProcesses(service);
    // In the order of the tree: parents before their children.
    const below = new Set([server?.pid]);
    for (const { pid, parent } of others) if (below.has(parent)) below.add(pid);
    const victims = others.filter(
      ({ pid, command }) => below.has(pid) && (round % 5 === 0 || command.includes("nap.sh")),
    );
    const victim = victims[Math.floor(Math.random() * victims.length)];
    if (victim === undefined) continue;
    try {
      process.kill(victim.pid, "SIGKILL");
      killed += 1;
    } catch {
      // It has ended by itself.
    }
  }
  return killed;
}
