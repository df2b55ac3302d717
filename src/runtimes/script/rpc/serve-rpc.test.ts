import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { KitbagError } from "../../../core/errors.ts";
import { defaultRpcLimits, serveRpc, type RpcLimits, type RpcMethods, type RpcSession } from "./serve-rpc.ts";

test("serveRpc() answers in the order and without the spaces that simple scripts count on", async () => {
  const { say, heard } = converse();

  say('{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"value": "ü"}}\n');
  const answers = await heard(1);

  expect(answers).toEqual(['{"jsonrpc":"2.0","id":1,"result":"ü"}']);
});

test("serveRpc() reads messages that come in pieces, or several at once", async () => {
  const { say, heard } = converse();

  say('{"id":1,"meth');
  say('od":"echo"}\n{"id":2,"method":"echo"}\n\n{"id":"a","method":"echo"}\r\n');

  expect(await heard(3)).toHaveLength(3);
});

test("serveRpc() answers with null where a method answers with nothing", async () => {
  const { say, heard } = converse();

  say('{"id":1,"method":"nothing"}\n');

  expect(await heard(1)).toEqual(['{"jsonrpc":"2.0","id":1,"result":null}']);
});

test("serveRpc() does not answer a message without an id", async () => {
  const { say, heard, calls } = converse();

  say('{"method":"echo"}\n{"method":"fail"}\n{"id":2,"method":"echo"}\n');

  expect(await heard(1)).toEqual(['{"jsonrpc":"2.0","id":2,"result":null}']);
  expect(calls).toEqual(["echo", "fail", "echo"]);
});

test("serveRpc() tells the code of a failure that Kitbag knows, and nothing of one it does not", async () => {
  const { say, heard } = converse();

  say('{"id":1,"method":"fail"}\n{"id":2,"method":"crash"}\n');

  const answers = (await heard(2)).map((line) => JSON.parse(line) as unknown);
  expect(answers).toContainEqual({
    jsonrpc: "2.0",
    id: 1,
    error: {
      code: -32_000,
      message: 'Cannot finish "x": the tool failed: no',
      data: { code: "tool-failed", details: { tool: "x", reason: "no" } },
    },
  });
  expect(JSON.stringify(answers)).not.toContain("/secret/path");
});

test.for<[what: string, line: string, code: number]>([
  ["no JSON", "hello", -32_700],
  ["half of a message", '{"id":1,', -32_700],
  ["no UTF-8", "\u00FF\u0000", -32_700],
  ["a list", '[{"id":1,"method":"echo"}]', -32_600],
  ["a text", '"echo"', -32_600],
  ["null", "null", -32_600],
  ["no method", '{"id":1}', -32_600],
  ["a method that is no text", '{"id":1,"method":{}}', -32_600],
  ["an id that is no id", '{"id":{},"method":"echo"}', -32_600],
  ["an id that is null", '{"id":null,"method":"echo"}', -32_600],
  ["a long id", `{"id":"${"x".repeat(1000)}","method":"echo"}`, -32_600],
  ["params that are no object", '{"id":1,"method":"echo","params":[1]}', -32_602],
  ["the key __proto__", '{"id":1,"method":"echo","params":{"__proto__":{"polluted":1}}}', -32_600],
  ["deep nesting", `{"id":1,"method":"echo","params":{"value":${"[".repeat(5000)}${"]".repeat(5000)}}}`, -32_600],
  ["an unknown method", '{"method":"constructor"}', -32_601],
])("serveRpc() refuses %s, and goes on", async ([, line, code]) => {
  const { say, heard } = converse();

  say(`${line}\n{"id":7,"method":"echo"}\n`);

  const answers = (await heard(2)).map((text) => JSON.parse(text) as { id: unknown; error?: { code: number } });
  expect(answers).toContainEqual(expect.objectContaining({ id: null, error: expect.objectContaining({ code }) }));
  expect(answers).toContainEqual({ jsonrpc: "2.0", id: 7, result: null });
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("serveRpc() lists the methods to whoever asks for another one", async () => {
  const { say, heard } = converse();

  say('{"id":1,"method":"state.gte"}\n');

  expect((await heard(1))[0]).toContain("the methods are echo, nothing");
});

test("serveRpc() drops a line of 100 MB without keeping it", async () => {
  const { say, heard } = converse();
  const piece = "x".repeat(1024 * 1024);
  const before = process.memoryUsage().rss;

  for (let count = 0; count < 100; count++) say(piece);
  say('\n{"id":1,"method":"echo"}\n');

  const answers = await heard(2);
  expect(answers[0]).toContain("Cannot read a message of more than");
  expect(answers[1]).toContain('"id":1');
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
});

test("serveRpc() refuses an id that is still waiting, and takes it again afterwards", async () => {
  const { say, heard, release } = converse();

  say('{"id":1,"method":"wait"}\n{"id":1,"method":"echo"}\n');
  const [refused] = await heard(1);
  release();
  await heard(2);
  say('{"id":1,"method":"echo"}\n');

  expect(refused).toContain("it is still waiting");
  expect((await heard(3))[2]).toBe('{"jsonrpc":"2.0","id":1,"result":null}');
});

test("serveRpc() hears so many messages at once, and the others afterwards", async () => {
  const { say, heard, release, running } = converse({ maxParallel: 3 });

  say(Array.from({ length: 8 }, (_, id) => `{"id":${id},"method":"wait"}\n`).join(""));
  await sleep(60);
  const atOnce = running();
  release();

  expect(atOnce).toBe(3);
  expect(await heard(8)).toHaveLength(8);
});

test("serveRpc() hears a flood as fast as it may, and loses nothing", async () => {
  const { say, heard, calls } = converse({ messagesPerSecond: 200 });
  const before = performance.now();

  say('{"method":"echo"}\n'.repeat(300));
  say('{"id":1,"method":"echo"}\n');
  await heard(1);

  expect(performance.now() - before).toBeGreaterThan(400);
  expect(calls).toHaveLength(301);
});

test("serveRpc() stops to listen to a script that makes no sense at all", async () => {
  const { say, channel, session } = converse();

  say("nonsense\n".repeat(200));
  await session.ended;

  expect(channel.destroyed).toBe(true);
});

test("serveRpc() stops to read where nobody reads its answers", async () => {
  const { say, channel, calls } = converse({}, { reads: false });

  for (let id = 0; id < 200; id++) say(`{"id":${id},"method":"large"}\n`);
  await sleep(100);

  expect(calls.length).toBeLessThan(40);
  expect(channel.isPaused()).toBe(true);
  channel.destroy();
});

test("serveRpc() says that an answer is too large", async () => {
  const { say, heard } = converse({ maxAnswerBytes: 1000 });

  say('{"id":1,"method":"large"}\n');

  expect((await heard(1))[0]).toContain("Cannot answer with more than 1000 bytes");
});

test("serveRpc() ends when the script does, and everything it said was heard", async () => {
  const { say, channel, session, calls } = converse({ messagesPerSecond: 100 });

  say('{"method":"echo"}\n'.repeat(150));
  channel.push(null);
  await session.ended;

  expect(calls).toHaveLength(150);
});

test("serveRpc() ends at once when it is closed", async () => {
  const { say, session, calls } = converse({ messagesPerSecond: 10 });

  say('{"method":"echo"}\n'.repeat(50));
  await sleep(10);
  session.close();
  await session.ended;
  const before = calls.length;
  await sleep(200);

  expect(calls).toHaveLength(before);
});

interface Converse {
  readonly channel: Duplex;
  readonly session: RpcSession;
  readonly calls: readonly string[];
  say(text: string): void;
  /** All lines that were answered, once there are `count`. */
  heard(count: number): Promise<readonly string[]>;
  /** Lets methods go on that wait. */
  release(): void;
  running(): number;
}

/** A conversation with a script whose words the test says. */
function converse(limits: Partial<RpcLimits> = {}, { reads = true } = {}): Converse {
  let written = "";
  const channel = new Duplex({
    read() {},
    write(piece: Buffer, _encoding, done) {
      if (!reads) return;
      written += piece.toString();
      done();
    },
  });
  const calls: string[] = [];
  const { methods, release, running } = createMethods(calls);
  const session = serveRpc(channel, methods, { ...defaultRpcLimits, ...limits });
  return {
    channel,
    session,
    calls,
    say: (text) => void channel.push(Buffer.from(text, text.includes("\u00FF") ? "latin1" : "utf8")),
    async heard(count) {
      await expect.poll(() => written.split("\n").length - 1, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
      return written.trimEnd().split("\n");
    },
    release,
    running,
  };
}

function createMethods(calls: string[]): { methods: RpcMethods; release(): void; running(): number } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let running = 0;
  const methods: RpcMethods = new Map<string, (params: Readonly<Record<string, unknown>>) => unknown>([
    ["echo", ({ value }) => (calls.push("echo"), value)],
    ["nothing", () => undefined],
    ["large", () => (calls.push("large"), "x".repeat(100_000))],
    [
      "wait",
      async () => {
        running += 1;
        await promise;
        running -= 1;
      },
    ],
    [
      "fail",
      () => {
        calls.push("fail");
        throw new KitbagError("tool-failed", { tool: "x", reason: "no" });
      },
    ],
    [
      "crash",
      () => {
        throw new Error("/secret/path");
      },
    ],
  ]);
  return { methods, release: resolve, running: () => running };
}
