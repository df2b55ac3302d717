import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import type { Client } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test, vi } from "vitest";

import { connectHttp, textOf, toolNames } from "./support/mcp-clients.ts";

/** The whole of it is `KITBAG_LOAD_SECONDS=60`, with 200 clients; a run of all tests tries less. */
const whole = process.env["KITBAG_LOAD_SECONDS"];
const seconds = Number(whole ?? 2);
const count = whole === undefined ? 40 : 200;
const patience = { timeout: 30_000, interval: 50 };

test(`createMcpServer() serves ${count} clients at once while tools change`, { timeout: 600_000 }, async () => {
  const url = await startServer();
  const heard = Array.from({ length: count }, () => 0);
  const clients = await connectAll(url, heard);
  const changer = await connectHttp(url);
  const stop = new AbortController();
  const before = await measure(changer);
  const work = clients.map((client, index) => useServer(client, index, stop.signal));
  let revision = 0;
  let middle = before;

  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    revision += 1;
    await changer.callTool({ name: "change", arguments: { revision } });
    // Every client hears of every change: the next one comes when the last was heard of.
    await vi.waitFor(() => expect(heard.filter((times) => times < revision)).toEqual([]), patience);
    if (Date.now() > end - seconds * 500 && middle === before) middle = await measure(changer);
    await sleep(100);
  }
  stop.abort();
  const calls = (await Promise.all(work)).reduce((sum, made) => sum + made, 0);
  const after = await measure(changer);

  for (const client of clients) expect(await toolNames(client)).toContain(`revision-${revision}`);
  process.stdout.write(
    `${count} clients, ${seconds} s: ${calls} calls, ${revision} changes, each heard ${count} times; ` +
      `heap ${toMiB(before)} → ${toMiB(middle)} → ${toMiB(after)} MiB\n`,
  );
  expect(calls).toBeGreaterThan(count);
  expect(heard.every((times) => times === revision)).toBe(true);
  expect(after - middle).toBeLessThan(16 * 1024 * 1024);
});

async function startServer(): Promise<string> {
  const program = join(import.meta.dirname, "support/mcp-load-program.ts");
  const child = spawn(process.execPath, ["--expose-gc", "--conditions=@kitbag/source", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.stdin.end());
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("The server ended before it said where it listens");
}

/** Half of them of each generation, a few at a time. */
async function connectAll(url: string, heard: number[]): Promise<Client[]> {
  const clients: Client[] = [];
  for (let index = 0; index < count; index += 20) {
    const some = Array.from({ length: 20 }, (_, offset) => {
      const own = index + offset;
      const onToolsChanged = (): void => void ((heard[own] as number) += 1);
      return connectHttp(url, { kind: own % 2 === 0 ? "legacy" : "pinned", onToolsChanged });
    });
    clients.push(...(await Promise.all(some)));
  }
  // The streams on which clients listen are opened after they are connected.
  await sleep(2000);
  return clients;
}

async function useServer(client: Client, index: number, signal: AbortSignal): Promise<number> {
  let calls = 0;
  for (; !signal.aborted; calls++) {
    const text = `${index}/${calls}`;
    const result = await client.callTool({ name: "echo", arguments: { text } });
    if (textOf(result) !== text) throw new Error(`Client ${index} got the answer of another: ${textOf(result)}`);
    await sleep(20 + (index % 50));
  }
  return calls;
}

async function measure(client: Client): Promise<number> {
  return Number(textOf(await client.callTool({ name: "memory", arguments: {} })));
}

function toMiB(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
