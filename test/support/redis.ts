import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, type TestContext } from "vitest";

import { findFreePort } from "./free-port.ts";
import { needProgram } from "./need-program.ts";

const program = "redis-server";

/** A real server with its own data, on a port of the loopback interface. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** What must never be in a message. */
  readonly password: string;
  /** Starts it again after {@link RedisServer.crash}. */
  start(): Promise<void>;
  /** Stops it with SIGKILL. */
  crash(): Promise<void>;
  /** Stops it, and deletes its data. */
  close(): Promise<void>;
}

/**
 * Gives the tests of a file one server with these settings, which is started by the first that asks for it. A test that asks is skipped, and says so,
 * if there is no Redis on this machine; not with `KITBAG_REQUIRE_ALL=1`.
 */
export function shareRedis(
  settings?: Readonly<Record<string, string>>,
): (context: Pick<TestContext, "skip">) => Promise<RedisServer> {
  let server: Promise<RedisServer> | undefined;
  afterAll(async () => (await server)?.close(), 60_000);
  return (context) => {
    needProgram(context, program);
    return (server ??= startRedis(settings));
  };
}

/** Starts a server in a temporary folder, with these settings; it writes to its file before it answers if nothing else is said. */
async function startRedis(settings: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-redis-"));
  const password = ["made", "up", String(process.pid)].join("-");
  const port = await findFreePort();
  const all = {
    appendonly: "yes",
    appendfsync: "always",
    save: "",
    ...settings,
    port,
    bind: "127.0.0.1",
    dir: folder,
    requirepass: password,
  };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    child = spawn(program, args, { stdio: "ignore" });
    await waitUntilReady(port, password);
  }

  async function crash(): Promise<void> {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  await start();
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    port,
    password,
    start,
    crash,
    async close() {
      await crash();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until it answers PING: while it loads its data it refuses everything else. */
async function waitUntilReady(port: number, password: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.end(`AUTH ${password}\r\nPING\r\n`);
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    await new Promise((resolve) => {
      socket.on("close", resolve);
    });
    if (answer.includes("+PONG")) return;
    await sleep(50);
  }
  throw new Error(`Cannot start redis-server: it does not answer on port ${port}`);
}
