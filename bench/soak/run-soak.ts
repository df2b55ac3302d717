import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { connectSoak, type SoakClient } from "./soak-client.ts";
import type { Asked, Told } from "./soak-messages.ts";

/** How long, and with how many. */
export interface SoakOptions {
  readonly clients: number;
  readonly seconds: number;
  /** When memory is first measured: by then everything is compiled, and what is kept for clients that come back is full. */
  readonly settledAfterSeconds: number;
  /** What Node is told before the program: against the sources, or against what was built. */
  readonly nodeArgs?: readonly string[];
}

/** What was seen. */
export interface SoakResult {
  readonly calls: number;
  readonly changes: number;
  readonly forged: number;
  /** What went wrong, in words. */
  readonly errors: readonly string[];
  /** Changes that clients were not told of, of all clients; and clients whose last list is wrong. */
  readonly lost: number;
  readonly heapSettledBytes: number;
  readonly heapEndBytes: number;
  readonly rssSettledBytes: number;
  readonly rssEndBytes: number;
}

const pauseMs = 180;
/** Every so many calls a client lists the tools. */
const listEvery = 10;
const patienceMs = 10_000;

/** Lets many clients work at one server while its tools change. Half of them are of each generation. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { clients: count, seconds, settledAfterSeconds, nodeArgs = [] } = options;
  const program = join(import.meta.dirname, "soak-program.ts");
  const args = ["--expose-gc", "--disable-warning=ExperimentalWarning", ...nodeArgs, program];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  try {
    const { port } = await ask(child, "memory");
    const clients = await connectAll(port, count);
    await ask(child, "begin");
    const stop = new AbortController();
    const errors: string[] = [];
    const working = clients.map((client, index) => work(client, index, { errors, signal: stop.signal }));
    await sleep(settledAfterSeconds * 1000);
    const settled = await ask(child, "memory");
    await sleep((seconds - settledAfterSeconds) * 1000);
    const end = await ask(child, "memory");
    stop.abort();
    const calls = (await Promise.all(working)).reduce((sum, made) => sum + made, 0);
    const { changes, forged } = await ask(child, "stop");
    const lost = await countLost(clients, changes, () => ask(child, "last"));
    for (const client of clients) client.close();
    const memory = { heapSettledBytes: settled.heapBytes, heapEndBytes: end.heapBytes };
    return {
      calls,
      changes,
      forged,
      errors,
      lost,
      ...memory,
      rssSettledBytes: settled.rssBytes,
      rssEndBytes: end.rssBytes,
    };
  } finally {
    child.disconnect();
  }
}

async function ask(child: ChildProcess, asked: Asked): Promise<Told> {
  const told = once(child, "message") as Promise<[Told]>;
  child.send(asked);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`The server of the soak ended with ${String(code)}`);
  });
  return (await Promise.race([told, ended]))[0];
}

/** A few at a time, as they would come. */
async function connectAll(port: number, count: number): Promise<readonly SoakClient[]> {
  const clients: SoakClient[] = [];
  while (clients.length < count) {
    const some = Array.from({ length: Math.min(20, count - clients.length) }, (_, index) =>
      connectSoak(port, index % 2 === 0 ? "2025" : "2026"),
    );
    clients.push(...(await Promise.all(some)));
  }
  return clients;
}

interface Work {
  readonly errors: string[];
  readonly signal: AbortSignal;
}

async function work(client: SoakClient, index: number, { errors, signal }: Work): Promise<number> {
  await sleep((index * pauseMs) / 200);
  for (let made = 0; ; made += 1) {
    if (signal.aborted) return made;
    try {
      await client.call(`${index}/${made}`);
      if (made % listEvery === index % listEvery && !(await client.list()).includes("echo"))
        errors.push("no echo in a list");
    } catch (cause) {
      errors.push(String(cause));
      // A connection that is broken stays so.
      return made;
    }
    await sleep(pauseMs);
  }
}

/** Every client must have heard of every change, must hear of one more, and then see what there is. */
async function countLost(
  clients: readonly SoakClient[],
  changes: number,
  makeLast: () => Promise<Told>,
): Promise<number> {
  await waitUntil(() => clients.every(({ told }) => told >= changes));
  let lost = clients.reduce((sum, { told }) => sum + Math.max(0, changes - told), 0);
  const before = clients.map(({ told }) => told);
  const { names } = await makeLast();
  const untold = (): number => clients.filter(({ told }, index) => told <= (before[index] ?? 0)).length;
  await waitUntil(() => untold() === 0);
  lost += untold();
  for (const client of clients) {
    const listed = new Set(await client.list());
    const own = [...listed].filter((name) => /^(?:tool|forged)-|^last$|^echo$/u.test(name));
    if (own.length !== names.length || !names.every((name) => listed.has(name))) lost += 1;
  }
  return lost;
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + patienceMs; !isSo() && Date.now() < end;) await sleep(20);
}
