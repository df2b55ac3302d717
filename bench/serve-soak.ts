/**
 * Does a service stay well for a long time? `npm run soak`, or `npm run soak -- --minutes 3` to try it: 20 clients of the official SDK, well and
 * badly behaved, at the built `kitbag serve --http` on loopback. Ends with 1 if something grows or a client is locked out.
 */
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import type { Client } from "@modelcontextprotocol/client";

import { behave, behaviours, flood, killProcesses } from "./serve-soak/behaviours.ts";
import { connectClient } from "./serve-soak/connect-client.ts";
import { estimateGrowth, median } from "./serve-soak/growth.ts";
import { takeSample, type Sample } from "./serve-soak/sample.ts";
import { canBeFirst, startService, type Service } from "./serve-soak/service.ts";
import { createTally, type Counts, type SoakClient, type Tally } from "./serve-soak/tally.ts";

const { values: options } = parseArgs({
  options: { minutes: { type: "string", default: "15" }, plain: { type: "boolean", default: false } },
});
const seconds = Math.round(Number(options.minutes) * 60);
if (!(seconds > 0 && seconds <= 7200)) throw new Error("--minutes must be a number above 0, at most 120");

/** By then everything is compiled, and there are as many sessions as there may be. */
const warmUpSeconds = seconds / 5;
const sampleSeconds = Math.min(30, seconds / 20);
const floodSeconds = seconds / 6;
const floodSessions = 1000;
const lockedOutMs = 60_000;

type Row = Sample & Counts & Memory & Readonly<Record<"seconds" | "refused", number>>;

/** What the server says of its memory after a collection. V8 keeps the space of a heap that was once larger; that space is no leak. */
interface Memory {
  readonly heapMiB: number;
  readonly keptMiB: number;
  /** Resident memory without the space of the heap. */
  readonly outsideMiB: number;
}

/** What is shown. What may not grow has a noise: a number, or a part of what there is. */
const measures: readonly Measure[] = [
  { key: "heapMiB", name: "JavaScript heap after a collection, MiB", noisePart: 0.1 },
  { key: "outsideMiB", name: "resident memory of the server outside that heap, MiB", noisePart: 0.1 },
  { key: "keptMiB", name: "space that V8 keeps for the heap, MiB" },
  { key: "rssMiB", name: "resident memory of the server, MiB", noisePart: 0.1 },
  { key: "treeRssMiB", name: "resident memory of all its processes, MiB", noisePart: 0.1 },
  { key: "descriptors", name: "descriptors", noise: 10 },
  { key: "processes", name: "processes", noise: 5 },
  { key: "zombies", name: "zombies", noise: 2 },
  { key: "groups", name: "control groups", noise: 5 },
  { key: "mounts", name: "mounts", noise: 0 },
  { key: "temporaryEntries", name: "entries in TMPDIR", noise: 20 },
  { key: "temporaryKiB", name: "KiB in TMPDIR", noise: 1024 },
  { key: "storeMiB", name: "store, MiB (each call is recorded)" },
  { key: "calls", name: "calls since the sample before" },
  { key: "failures", name: "failed calls since the sample before" },
  { key: "refused", name: "requests refused since the sample before" },
  { key: "p50Ms", name: "median of a call, ms" },
  { key: "p99Ms", name: "99 of 100 calls, ms" },
];

interface Measure {
  readonly key: keyof Row;
  readonly name: string;
  readonly noise?: number;
  readonly noisePart?: number;
}

process.exitCode = (await soak()) ? 0 : 1;

async function soak(): Promise<boolean> {
  const service = await startService(!options.plain && canBeFirst());
  try {
    const tally = createTally();
    const stop = new AbortController();
    const working = await startClients(service, tally, stop.signal);
    const killing = killProcesses({ service, signal: stop.signal });
    const flooding = floodNowAndThen(service, stop.signal);
    const rows = await watch(service, tally);
    // What clients wait for at the end counts as well.
    const lockedOut = tally.clients.filter(({ longestGapMs }) => longestGapMs > lockedOutMs).map(({ name }) => name);
    stop.abort();
    const [killed, opened] = await Promise.all([killing, flooding, ...working]);
    const faults = [...renderTable(rows), ...findFaults(service, tally, lockedOut)];
    renderSummary({ service, tally, calls: rows.reduce((sum, row) => sum + row.calls, 0), killed, opened });
    console.log(faults.length === 0 ? "Nothing grows, and every client was served." : `Faults:\n${faults.join("\n")}`);
    return faults.length === 0;
  } finally {
    await service.stop();
  }
}

async function startClients(service: Service, tally: Tally, signal: AbortSignal): Promise<readonly Promise<void>[]> {
  const users = await Promise.all(["ann", "bob", "cleo", "dan"].map((user) => service.addToken(user)));
  await sleep(2000);
  return behaviours
    .flatMap((behaviour) => Array.from({ length: behaviour.count }, () => behaviour))
    .map((behaviour, index) => {
      const token = users[index % users.length] ?? "";
      return behave(behaviour, tally.addClient(`${behaviour.name} ${index}`), { service, token, signal });
    });
}

/** Two users, so that together they could hold every session there is. */
async function floodNowAndThen(service: Service, signal: AbortSignal): Promise<number> {
  const tokens = await Promise.all(["eve", "mallory"].map((user) => service.addToken(user)));
  let opened = 0;
  while (!signal.aborted) {
    await sleep(2000);
    const counts = tokens.map((token) => flood({ service, token, signal }, floodSessions));
    for (const count of await Promise.all(counts)) opened += count;
    await sleep(floodSeconds * 1000, undefined, { signal }).catch(() => {});
  }
  return opened;
}

/** Takes samples until the time is over, or the service has ended. */
async function watch(service: Service, tally: Tally): Promise<readonly Row[]> {
  const token = await service.addToken("monitor");
  await sleep(2000);
  const { client } = await connectClient(service.url, token, "2026");
  const self = createTally().addClient("monitor");
  const rows: Row[] = [];
  let refused = 0;
  for (const begin = Date.now(); Date.now() - begin < seconds * 1000 && service.exitCode === null;) {
    await sleep(sampleSeconds * 1000);
    const memory = await readMemory(self, client);
    const counts = { ...tally.take(), refused: service.logged.refused - refused };
    refused = service.logged.refused;
    const row = { seconds: (Date.now() - begin) / 1000, ...memory, ...takeSample(service), ...counts };
    rows.push(row);
    console.error(JSON.stringify(row, (_, value: unknown) => (typeof value === "number" ? round(value) : value)));
  }
  return rows;
}

/** Asks the server for its memory. A call that fails is made again: a sample without it would look like memory that was freed. */
async function readMemory(self: SoakClient, client: Client): Promise<Memory> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { heapUsed, heapTotal, rss } = JSON.parse(await self.call(client, "memory")) as NodeJS.MemoryUsage;
      const toMiB = (bytes: number): number => bytes / 1024 / 1024;
      return { heapMiB: toMiB(heapUsed), keptMiB: toMiB(heapTotal), outsideMiB: toMiB(rss - heapTotal) };
    } catch (cause) {
      if (attempt === 3) throw cause;
    }
  }
}

/** Prints the table, and answers with what grows. */
function renderTable(rows: readonly Row[]): readonly string[] {
  const settled = rows.filter((row) => row.seconds >= warmUpSeconds);
  const at = (part: number, key: keyof Row): number => {
    const index = Math.round((settled.length - 1) * part);
    return median(settled.slice(Math.max(0, index - 1), index + 2).map((row) => row[key]));
  };
  const faults: string[] = [];
  console.log(`\n| | first | after ${round(warmUpSeconds / 60)} min | middle | end | growth | noise |`);
  console.log(`|${" --- |".repeat(7)}`);
  for (const { key, name, noisePart, noise = noisePart && noisePart * at(0, key) } of measures) {
    const growth = estimateGrowth(settled.map((row) => ({ seconds: row.seconds, value: row[key] })));
    if (noise !== undefined && growth > noise) faults.push(`${name}: grows by ${round(growth)}`);
    const cells = [rows[0]?.[key] ?? 0, at(0, key), at(0.5, key), at(1, key), growth].map(round);
    console.log(`| ${[name, ...cells, noise === undefined ? "not judged" : round(noise)].join(" | ")} |`);
  }
  return faults;
}

/** What is wrong beside growth. */
function findFaults({ exitCode, logged }: Service, { failures }: Tally, lockedOut: readonly string[]): string[] {
  return [
    ...(exitCode === null ? [] : [`the service ended with ${exitCode}`]),
    // Scripts that were killed fail, as they must.
    ...[...failures.keys()].filter((text) => !text.includes("signal SIGKILL")).map((text) => `a call failed: ${text}`),
    ...[...logged.others.keys()].map((text) => `the service said: ${text}`),
    ...lockedOut.map((name) => `${name}: not served for ${lockedOutMs / 1000} s`),
  ];
}

interface Summary {
  readonly service: Service;
  readonly tally: Tally;
  readonly calls: number;
  readonly killed: number;
  readonly opened: number;
}

function renderSummary({ service: { isFirst, logged }, tally, calls, killed, opened }: Summary): void {
  const { clients, failures } = tally;
  const witness = clients.find(({ name }) => name.startsWith("witness"));
  const gap = round((witness?.longestGapMs ?? 0) / 1000);
  const place = isFirst ? "process 1 of a PID namespace" : "an ordinary process";
  console.log(`
${seconds / 60} minutes, ${clients.length} clients, ${place}, Node ${process.versions.node}, ${availableParallelism()} cores.
${calls} calls; ${opened} idle sessions opened by two more users; ${logged.dropped} sessions dropped to make room, ${logged.sessions} held.
${killed} processes of the service killed. The witness was served ${witness?.served} times, at most ${gap} s apart.`);
  for (const [text, count] of [...failures, ...logged.others]) console.log(`  ${count} × ${text}`);
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
