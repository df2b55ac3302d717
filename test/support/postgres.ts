import { execFile } from "node:child_process";
import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, type TestContext } from "vitest";

import { findFreePort } from "./free-port.ts";
import { needProgram } from "./need-program.ts";

/** A real server with its own data, on a port of the loopback interface. */
export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** What must never be in a message. */
  readonly password: string;
  /** Starts it again after {@link PostgresServer.crash}. */
  start(): Promise<void>;
  /** Stops it as a crash would: nothing is finished, nothing is written. */
  crash(): Promise<void>;
  /** Stops it, and deletes its data. */
  close(): Promise<void>;
}

const binaries = globSync("/usr/lib/postgresql/*/bin").toSorted().at(-1) ?? "/usr/lib/postgresql/15/bin";

/**
 * Gives the tests of a file one server with these settings, which is started by the first that asks for it. A test that asks is skipped, and says so,
 * if there is no Postgres on this machine; not with `KITBAG_REQUIRE_ALL=1`.
 */
export function sharePostgres(
  settings: Readonly<Record<string, string>> = {},
): (context: Pick<TestContext, "skip">) => Promise<PostgresServer> {
  let server: Promise<PostgresServer> | undefined;
  afterAll(async () => (await server)?.close(), 60_000);
  return (context) => {
    needProgram(context, join(binaries, "pg_ctl"));
    return (server ??= startPostgres(settings));
  };
}

/** Makes a cluster in a temporary folder, and starts it with these settings. */
async function startPostgres(settings: Readonly<Record<string, string>>): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-postgres-"));
  const password = ["made", "up", String(process.pid)].join("-");
  const port = await findFreePort();
  // The server refuses to run as root.
  if (process.getuid?.() === 0) await promisify(execFile)("chown", ["postgres", folder]);
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "password"), password, { mode: 0o644 });
  const data = join(folder, "data");
  await run("initdb", [
    "-D",
    data,
    "-U",
    "kit",
    "-A",
    "scram-sha-256",
    "--pwfile",
    join(folder, "password"),
    "--no-sync",
    "-E",
    "UTF8",
    "--locale=C",
  ]);

  const all = { listen_addresses: "127.0.0.1", unix_socket_directories: "", shared_buffers: "32MB", ...settings };
  const flags = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`);
  const start = async (): Promise<void> => {
    await run("pg_ctl", ["-D", data, "-l", join(data, "log"), "-o", `-p ${port} ${flags.join(" ")}`, "-w", "start"]);
  };
  const crash = async (): Promise<void> => {
    await run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]);
  };

  await start();
  return {
    url: `postgresql://kit:${password}@127.0.0.1:${port}/postgres`,
    port,
    password,
    start,
    crash,
    async close() {
      await crash().catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const command = [join(binaries, program), ...args];
  const [file, ...rest] = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--", ...command] : command;
  await promisify(execFile)(file as string, rest, { cwd: tmpdir(), timeout: 60_000 });
}
