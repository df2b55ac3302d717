import type { Client } from "@modelcontextprotocol/client";

import { median, quantile } from "./growth.ts";

/** One of the clients of the soak, and how it was served. */
export interface SoakClient {
  readonly name: string;
  readonly served: number;
  /** The longest time between two answers, so far. */
  readonly longestGapMs: number;
  /** Calls a tool, and fails if it fails. Answers with its text. */
  call(client: Client, tool: string, input?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Notes that the service did for it what it is there for. */
  noteServed(): void;
  /** Notes a failure that the soak did not cause itself. */
  noteFailure(cause: unknown): void;
}

/** What was counted since the last look. */
export interface Counts {
  readonly calls: number;
  readonly failures: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** What all clients saw. */
export interface Tally {
  readonly clients: readonly SoakClient[];
  /** How often each failure came; numbers in them are left out. */
  readonly failures: ReadonlyMap<string, number>;
  addClient(name: string): SoakClient;
  take(): Counts;
}

/** So long a call may take on a machine that has much to do. */
const patienceMs = 60_000;

/** Starts to count. */
export function createTally(): Tally {
  const clients: SoakClient[] = [];
  const failures = new Map<string, number>();
  let times: number[] = [];
  let failed = 0;

  return {
    clients,
    failures,
    addClient(name) {
      let [served, longestGapMs, servedAt] = [0, 0, Date.now()];
      const client: SoakClient = {
        name,
        get served() {
          return served;
        },
        get longestGapMs() {
          return Math.max(longestGapMs, Date.now() - servedAt);
        },
        async call(connected, tool, input = {}) {
          const begin = performance.now();
          const answer = await connected.callTool({ name: tool, arguments: { ...input } }, { timeout: patienceMs });
          const text = answer.content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
          times.push(performance.now() - begin);
          if (answer.isError === true) throw new Error(`${tool}: ${text}`);
          client.noteServed();
          return text;
        },
        noteServed() {
          longestGapMs = client.longestGapMs;
          [served, servedAt] = [served + 1, Date.now()];
        },
        noteFailure(cause) {
          failed += 1;
          const text = `${name}: ${String(cause)}`.replaceAll(/\d+/gu, "#").slice(0, 300);
          failures.set(text, (failures.get(text) ?? 0) + 1);
        },
      };
      clients.push(client);
      return client;
    },
    take() {
      const counts = { calls: times.length, failures: failed, p50Ms: median(times), p99Ms: quantile(times, 0.99) };
      [times, failed] = [[], 0];
      return counts;
    },
  };
}
