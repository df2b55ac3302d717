import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A host with things that are worth attacking. */
export interface Bait {
  /** In every file and variable that no tool may see. */
  readonly secret: string;
  readonly root: string;
  readonly home: string;
  /** The working directory of the host. */
  readonly project: string;
  /** What the tool may read; it has a link that leads out. */
  readonly readable: string;
  /** What the tool may write. */
  readonly writable: string;
  /** The folder of another skill. */
  readonly otherSkill: string;
  /** A service on the loopback interface. */
  readonly port: number;
  /** The name of a service on an abstract socket. */
  readonly abstractName: string;
  /** A service on a socket in the file system. */
  readonly socket: string;
  /** A service on a socket in the directory that the tool may read. */
  readonly readableSocket: string;
  /** Named pipes in the directory that the tool may read; a process of the host reads them. */
  readonly readablePipes: readonly string[];
  /** A process of the same user, with a secret in its environment. */
  readonly victim: number;
  /** Seconds that nobody else sleeps, to find processes by. */
  readonly mark: string;
  /** What was done to it. */
  findHarm(): string[];
  close(): void;
}

/** Lays out the bait. */
export async function layBait(): Promise<Bait> {
  const secret = `secret-${process.pid}-${Math.trunc(performance.now() * 1000)}`;
  const root = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-bait-")));
  chmodSync(root, 0o755);
  const at = (name: string): string => join(root, name);
  for (const name of ["home", "project", "readable", "writable", "other-skill"]) {
    mkdirSync(at(name), { mode: 0o755 });
    if (name !== "writable") writeFileSync(join(at(name), "data.txt"), name === "readable" ? "readable" : secret);
  }
  symlinkSync(join(at("home"), "data.txt"), join(at("readable"), "link"));
  const reached: string[] = [];
  const abstractName = `kitbag-${secret}`;
  const [port, ...others] = await listenInside(at, abstractName, reached);
  const pipes = ["pipe", "far/down/here/pipe"].map((name) => listenToPipe(join(at("readable"), name)));
  const mark = `98${process.pid}.${Math.trunc(performance.now() * 1000) % 100_000}`;
  const victim = spawn("sleep", ["3600"], { env: { SECRET: secret }, stdio: "ignore" });
  process.env["KITBAG_CANARY"] = secret;
  const before = describeTree(root);
  return {
    ...{ secret, root, abstractName, mark },
    home: at("home"),
    project: at("project"),
    readable: at("readable"),
    writable: at("writable"),
    otherSkill: at("other-skill"),
    port: (port.address() as AddressInfo).port,
    socket: at("service.sock"),
    readableSocket: join(at("readable"), "agent.sock"),
    readablePipes: pipes.map(({ path }) => path),
    victim: victim.pid ?? 0,
    findHarm() {
      const harm = [...reached];
      if (pipes.some(({ wasWritten }) => wasWritten())) harm.push("a pipe in a folder to read was written");
      if (describeTree(root) !== before) harm.push("files outside of the granted place were changed");
      if (victim.exitCode !== null || victim.signalCode !== null) harm.push("a process of the host was ended");
      return harm;
    },
    close() {
      for (const server of [port, ...others]) server.close();
      for (const pipe of pipes) pipe.close();
      victim.kill("SIGKILL");
      // Another one may have been laid out since.
      if (process.env["KITBAG_CANARY"] === secret) delete process.env["KITBAG_CANARY"];
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Listens at places of the host that a program inside must not reach; the first is a port. */
async function listenInside(
  at: (name: string) => string,
  abstractName: string,
  reached: string[],
): Promise<readonly [Server, ...Server[]]> {
  const agent = join(at("readable"), "agent.sock");
  const servers = await Promise.all([
    listen({ host: "127.0.0.1", port: 0 }, () => reached.push("a port of the host was reached")),
    listen({ path: `\0${abstractName}` }, () => reached.push("an abstract socket of the host was reached")),
    listen({ path: at("service.sock") }, () => reached.push("a socket of the host was reached")),
    listen({ path: agent }, () => reached.push("a socket in a granted folder was reached")),
  ]);
  chmodSync(agent, 0o666);
  return servers;
}

async function listen(place: { host?: string; port?: number; path?: string }, onReached: () => void): Promise<Server> {
  const server = createServer((socket) => {
    onReached();
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(place, resolve);
  });
  server.unref();
  return server;
}

/** Makes a named pipe and reads it, as a service that takes orders would. */
function listenToPipe(path: string): { readonly path: string; wasWritten(): boolean; close(): void } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  execFileSync("mkfifo", ["--mode=666", path]);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  let written = false;
  const wasWritten = (): boolean => {
    try {
      written ||= readSync(descriptor, Buffer.alloc(1)) > 0;
    } catch {
      // There is nothing to read.
    }
    return written;
  };
  return { path, wasWritten, close: () => closeSync(descriptor) };
}

/** All files but those that a tool may write. */
function describeTree(root: string): string {
  const names = readdirSync(root, { recursive: true, withFileTypes: true });
  return names
    .map((entry) => ({ path: join(entry.parentPath, entry.name), isFile: entry.isFile() }))
    .filter(({ path }) => !path.startsWith(join(root, "writable")))
    .map(({ path, isFile }) => (isFile ? [path, statSync(path).mode, readFileSync(path, "utf8")] : [path]).join("\0"))
    .toSorted()
    .join("\n");
}
