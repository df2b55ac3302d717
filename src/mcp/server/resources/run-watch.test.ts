import { setTimeout as wait } from "node:timers/promises";

import type { Client } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test, vi } from "vitest";

import { connectHttp, connectStdio, listen, type ClientKind } from "../../../../test/support/mcp-clients.ts";
import { beginSession, post, post2026, readAnswer } from "../../../../test/support/mcp-raw.ts";
import { KitbagError } from "../../../core/errors.ts";
import type { Store } from "../../../core/store.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { createRuns } from "../../../records/runs/create-runs.ts";
import type { Run } from "../../../records/runs/run.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { createRunListens, readListenedUris, withoutUris } from "./subscriptions.ts";
import { createRunWatch, type RunWatch } from "./run-watch.ts";

const kinds: readonly ClientKind[] = ["legacy", "pinned"];
const soon = { timeout: 20_000 };

test.for(kinds)("a %s client hears that a run goes on, until it has heard enough", async (kind) => {
  const { client, run, updated } = await connectToRun(kind);
  const stop = await follow(client, kind, ["kitbag://runs/report"]);

  await run.append([{ type: "noted" }]);
  await vi.waitFor(() => expect(updated).toEqual(["kitbag://runs/report"]), soon);
  await run.append([{ type: "noted" }]);
  await vi.waitFor(() => expect(updated).toHaveLength(2), soon);
  await stop();
  await run.append([{ type: "noted" }]);
  await wait(400);

  expect(updated).toHaveLength(2);
});

test.for(kinds)("a %s client hears that runs began, went on and ended, by the list of them", async (kind) => {
  const { client, store, run, updated } = await connectToRun(kind);
  await follow(client, kind, ["kitbag://runs"]);
  // The first look is what later ones are compared with.
  await wait(300);

  await createRuns({ store }).open("another");
  await vi.waitFor(() => expect(updated).toHaveLength(1), soon);
  await run.append([{ type: "noted" }]);
  await vi.waitFor(() => expect(updated).toHaveLength(2), soon);
  await run.end({ status: "ok", output: 1 });
  await vi.waitFor(() => expect(updated).toHaveLength(3), soon);
  await wait(1300);

  expect(updated).toEqual(Array.from({ length: 3 }, () => "kitbag://runs"));
});

test.for(kinds)("a run that writes much is told of seldom to a %s client", async (kind) => {
  const { client, run, updated } = await connectToRun(kind);
  await follow(client, kind, ["kitbag://runs/report"]);

  for (let index = 0; index < 200; index++) await run.append([{ type: "noted", index }]);
  await wait(500);

  expect(updated.length).toBeGreaterThan(0);
  expect(updated.length).toBeLessThan(20);
});

test.for(kinds)("a %s client without the scope hears of no run", async (kind) => {
  const store = memoryStore();
  const run = await createRuns({ store }).open("report");
  await run.append([{ type: "task-start", user: "all" }]);
  const tokens = ["few", "all"].map((id) => ({ id, token: `token-of-${id}-1234567890` }));
  const scoped = [{ ...tokens[0], scopes: ["tools"] }, tokens[1]] as never;
  const { url } = await listen({ workspace: createWorkspace({ store }), store }, { tokens: scoped });
  const [few, all] = await Promise.all(tokens.map(({ token }) => connectHttp(url, { kind, token })));
  const heard = hear(few as Client);
  const heardByAll = hear(all as Client);
  await follow(few as Client, kind, ["kitbag://runs/report", "kitbag://guide"]).catch(() => {});
  await follow(all as Client, kind, ["kitbag://runs/report"]);

  await run.append([{ type: "noted" }]);
  await vi.waitFor(() => expect(heardByAll).toHaveLength(1), soon);
  await wait(100);

  expect(heard).toEqual([]);
});

test("many 2026 clients that listen to one run hear of each change once", async () => {
  const { clients, run } = await connectMany(4);
  const heard = clients.map(hear);
  for (const client of clients) await follow(client, "pinned", ["kitbag://runs/report", "kitbag://runs/report"]);

  await run.append([{ type: "noted" }]);
  await vi.waitFor(() => expect(heard.every((uris) => uris.length > 0)).toBe(true), soon);
  await wait(300);

  expect(heard.map((uris) => uris.length)).toEqual([1, 1, 1, 1]);
});

test.for(kinds)("a %s client on stdio hears that a run goes on", async (kind) => {
  const client = await connectStdio("mcp-stdio-program.ts", { kind });
  const updated = hear(client);
  await client.callTool({ name: "run-on", arguments: {} });
  const stop = await follow(client, kind, ["kitbag://runs/report"]);
  // On stdio the stream is acknowledged before what it follows was looked at.
  await wait(100);

  await client.callTool({ name: "run-on", arguments: {} });
  await vi.waitFor(() => expect(updated).toEqual(["kitbag://runs/report"]), soon);
  await stop();
  await wait(100);
  await client.callTool({ name: "run-on", arguments: {} });
  await wait(400);

  expect(updated).toHaveLength(1);
});

test("resources/subscribe refuses a run that is not there, and one run too many", async () => {
  const store = memoryStore();
  for (let index = 0; index < 257; index++) await store.log.append(`run:r${index}`, [{ type: "run-start" }]);
  const { url } = await listen({ workspace: createWorkspace({ store }), store });
  const session = await beginSession(url);
  const subscribe = async (uri: string): Promise<Record<string, unknown>> => {
    const message = { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri } };
    return readAnswer(await post(url, message, { "mcp-session-id": session }));
  };

  const missing = await subscribe("kitbag://runs/nothing");
  for (let index = 0; index < 256; index++) expect(await subscribe(`kitbag://runs/r${index}`)).toHaveProperty("result");
  const last = await subscribe("kitbag://runs/r256");
  const again = await subscribe("kitbag://runs/r0");

  expect(missing).toMatchObject({ error: { code: -32_602 } });
  expect(last).toMatchObject({ error: { message: expect.stringContaining("too many are followed") as string } });
  expect(again).toHaveProperty("result");
});

test("subscriptions/listen follows only runs that are there and the caller's own, and leaves room for others", async () => {
  const store = memoryStore();
  for (const user of ["ann", "bob"]) {
    const run = await createRuns({ store }).open(`of-${user}`);
    await run.append([{ type: "task-start", user }]);
  }
  const tokens = ["ann", "bob"].map((id) => ({ id, token: `token-of-${id}-1234567890` }));
  const { url } = await listen({ workspace: createWorkspace({ store }), store }, { tokens });
  const ask = async (id: string, uris: string[]): Promise<string> => {
    const response = await post2026(
      url,
      "subscriptions/listen",
      { notifications: { resourceSubscriptions: uris } },
      { headers: { authorization: `Bearer token-of-${id}-1234567890` } },
    );
    const reader = response.body?.getReader();
    const first = await reader?.read();
    onTestFinished(() => reader?.cancel());
    return new TextDecoder().decode(first?.value);
  };

  const many = Array.from({ length: 300 }, (_, index) => `kitbag://runs/no${index}`);
  const bob = await ask("bob", ["kitbag://runs/of-bob", "kitbag://runs/of-ann", "kitbag://runs", ...many]);
  const ann = await ask("ann", ["kitbag://runs/of-ann"]);

  expect(bob.match(/kitbag:\/\/runs[\w/-]*/gu)).toEqual(["kitbag://runs/of-bob", "kitbag://runs"]);
  expect(ann).toContain("kitbag://runs/of-ann");
});

test("createRunWatch() follows so many runs of one caller, and more of another", () => {
  const watch = openWatch(memoryStore());
  const follow = (caller: string, id: number): (() => void) | undefined =>
    watch.follow(`kitbag://runs/${caller}${id}`, () => {}, caller);

  const ends = Array.from({ length: 65 }, (_, id) => follow("bob", id));
  const again = follow("bob", 0);
  const ann = follow("ann", 0);
  ends[1]?.();
  const freed = follow("bob", 64);

  expect(ends.filter((end) => end === undefined)).toHaveLength(1);
  expect([again, ann, freed]).toEqual([expect.any(Function), expect.any(Function), expect.any(Function)]);
});

test("createRunWatch() shares what it takes to follow a run, and leaves nothing behind", async () => {
  const { store, tails } = countTails(memoryStore());
  const watch = openWatch(store);
  await createRuns({ store }).open("report");

  const [first, second] = [0, 1].map(() => watch.follow("kitbag://runs/report", () => {}));
  await vi.waitFor(() => expect(tails.size).toBe(1), soon);
  first?.();
  first?.();
  expect([watch.size, tails.size]).toEqual([1, 1]);
  second?.();

  expect(watch.size).toBe(0);
  await vi.waitFor(() => expect(tails.size).toBe(0), soon);
});

test("createRunWatch() follows no run that has ended any more", async () => {
  const { store, tails } = countTails(memoryStore());
  const watch = openWatch(store);
  const run = await createRuns({ store }).open("report");
  let heard = 0;
  watch.follow("kitbag://runs/report", () => void (heard += 1));
  await vi.waitFor(() => expect(tails.size).toBe(1), soon);

  await run.end({ status: "ok", output: 1 });

  await vi.waitFor(() => expect([heard, tails.size]).toEqual([1, 0]), soon);
});

test("createRunWatch() goes on when a store that could not be reached is back", async () => {
  const inner = memoryStore();
  let isDown = true;
  const position: Store["log"]["position"] = (stream) =>
    isDown ? Promise.reject(unavailable()) : inner.log.position(stream);
  const watch = openWatch({ ...inner, log: { ...inner.log, position } });
  const run = await createRuns({ store: inner }).open("report");
  let heard = 0;
  watch.follow("kitbag://runs/report", () => void (heard += 1));
  await wait(50);

  isDown = false;
  await vi.waitFor(async () => {
    await run.append([{ type: "noted" }]);
    expect(heard).toBeGreaterThan(0);
  }, soon);
});

test.for(["kitbag://guide", "kitbag://tools/a", "nothing", "", "kitbag://runs#x", "http://runs/x"])(
  "createRunWatch() follows nothing for %j",
  (uri) => {
    expect(openWatch(memoryStore()).follow(uri, () => {})).toBeUndefined();
  },
);

test("createRunWatch() follows no id that no run can have, and says nothing of it", async () => {
  const watch = openWatch(memoryStore());

  const ends = ["kitbag://runs/%00", `kitbag://runs/${"x".repeat(2000)}`, "kitbag://runs/__proto__"].map((uri) =>
    watch.follow(uri, () => {}),
  );
  await wait(50);
  for (const end of ends) end?.();

  expect(watch.size).toBe(0);
});

test("createRunListens() refuses what cannot be followed, and ends what nobody wants", () => {
  const watch = openWatch(memoryStore());
  const listens = createRunListens(watch, () => {});
  const many = Array.from({ length: 257 }, (_, index) => `kitbag://runs/r${index}`);

  const one = listens.begin([...many, "kitbag://guide"]);
  const other = listens.begin(["kitbag://runs/r0", "kitbag://runs/r1"]);
  one.end();
  one.end();
  const left = watch.size;
  other.end();

  expect([...one.refused]).toEqual(["kitbag://runs/r256"]);
  expect([left, watch.size]).toEqual([2, 0]);
  expect([...createRunListens(undefined, () => {}).begin(many).refused]).toEqual(many);
});

test("readListenedUris() and withoutUris() take any JSON", () => {
  const odd = [undefined, null, 7, "x", [], {}, { params: 7 }, { params: { notifications: null } }];
  const body = { id: 1, params: { notifications: { a: true, resourceSubscriptions: ["x", 7, "y"] }, _meta: {} } };

  for (const value of odd) expect([readListenedUris(value), withoutUris(value, new Set())]).toEqual([[], value]);
  expect(readListenedUris(body)).toEqual(["x", "y"]);
  expect(withoutUris(body, new Set(["x"]))).toEqual({
    id: 1,
    params: { notifications: { a: true, resourceSubscriptions: [7, "y"] }, _meta: {} },
  });
});

test.for(kinds)("runs are not followed any more when a %s client is gone", async (kind) => {
  const { store, tails } = countTails(memoryStore());
  await createRuns({ store }).open("report");
  const { url } = await listen({ workspace: createWorkspace({ store }), store }, {});
  const client = await connectHttp(url, { kind });
  await follow(client, kind, ["kitbag://runs/report"]);
  await vi.waitFor(() => expect(tails.size).toBe(1), soon);

  if (kind === "legacy")
    await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
  await client.close();

  await vi.waitFor(() => expect(tails.size).toBe(0), soon);
});

/** Follows resources as the generation of a client does; answers with what ends it. */
async function follow(client: Client, kind: ClientKind, uris: string[]): Promise<() => Promise<unknown>> {
  if (kind === "pinned") {
    const listening = await client.listen({ resourceSubscriptions: uris });
    return () => listening.close();
  }
  for (const uri of uris) await client.subscribeResource({ uri });
  return () => Promise.all(uris.map((uri) => client.unsubscribeResource({ uri })));
}

function hear(client: Client): string[] {
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri));
  return updated;
}

interface Connected {
  readonly store: Store;
  readonly run: Run;
}

async function connectMany(count: number): Promise<Connected & { readonly clients: Client[] }> {
  const store = memoryStore();
  const run = await createRuns({ store }).open("report");
  const { url } = await listen({ workspace: createWorkspace({ store }), store });
  const clients: Client[] = [];
  for (let index = 0; index < count; index++) clients.push(await connectHttp(url, { kind: "pinned" }));
  return { clients, store, run };
}

async function connectToRun(kind: ClientKind): Promise<Connected & { client: Client; updated: string[] }> {
  const store = memoryStore();
  const run = await createRuns({ store }).open("report");
  const { url } = await listen({ workspace: createWorkspace({ store }), store });
  const client = await connectHttp(url, { kind });
  const updated = hear(client);
  // A client of 2025 over HTTP opens the stream for notices in its own time.
  if (kind === "legacy") await wait(300);
  return { client, store, run, updated };
}

function openWatch(store: Store): RunWatch {
  const watch = createRunWatch(store);
  onTestFinished(() => watch.close());
  return watch;
}

/** The same store, and which streams are followed now. */
function countTails(inner: Store): { store: Store; tails: Set<object> } {
  const tails = new Set<object>();
  async function* tail(...args: Parameters<Store["log"]["tail"]>): ReturnType<Store["log"]["tail"]> {
    const own = {};
    tails.add(own);
    try {
      yield* inner.log.tail(...args);
    } finally {
      tails.delete(own);
    }
  }
  return { store: { ...inner, log: { ...inner.log, tail: tail as Store["log"]["tail"] } }, tails };
}

function unavailable(): Error {
  return new KitbagError("store-unavailable", {
    store: "memory",
    reason: "it is away",
    cure: "wait",
    mayBeWritten: false,
  });
}
