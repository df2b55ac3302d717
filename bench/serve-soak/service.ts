/** The service of the soak: the built `kitbag serve --http`, with folders of its own, as the first process of a list of processes. */
import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname, "../..");
const command = join(root, "dist/cli/main.js");

/** A service that listens. */
export interface Service {
  readonly url: string;
  /** What was started: everything below it is the service. */
  readonly pid: number;
  /** Whether it was started as process 1 of a PID namespace. */
  readonly isFirst: boolean;
  readonly folders: Folders;
  readonly logged: Logged;
  /** Its exit code, once it has ended. */
  readonly exitCode: number | null;
  addToken(user: string): Promise<string>;
  revokeTokens(user: string): Promise<void>;
  /** Stops it as an operator would, and removes its folders. */
  stop(): Promise<void>;
}

/** What it wrote to its log. */
export interface Logged {
  /** Sessions that were closed to make room. */
  readonly dropped: number;
  /** Requests and sessions that were refused. */
  readonly refused: number;
  /** Sessions that were open when the last one was dropped. */
  readonly sessions: number;
  /** Other lines than those that killed scripts and revoked tokens cause, how often each came; numbers are left out. */
  readonly others: ReadonlyMap<string, number>;
}

/** Where it keeps what it writes. */
export interface Folders {
  readonly project: string;
  /** `KITBAG_HOME`. */
  readonly home: string;
  /** `TMPDIR`. */
  readonly temporary: string;
}

const tools = `
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { setTimeout as wait } from "node:timers/promises";
import { defineTool } from "kitbag";
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
export default [
  defineTool({ name: "memory", description: "Tells what the server needs after a collection", run: () => { collect(); collect(); return process.memoryUsage(); } }),
  defineTool({ name: "add", description: "Adds", input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } }, run: ({ a, b }) => a + b }),
  defineTool({ name: "count", description: "Counts the user's calls", run: (_, { state }) => state.update("calls", (calls = 0) => Number(calls) + 1) }),
  defineTool({ name: "print", description: "Prints a long text", run: () => "0123456789".repeat(120_000) }),
  defineTool({ name: "wait", description: "Waits", run: async (_, { signal }) => { await wait(3000, undefined, { signal }); return "waited"; } }),
];
`;

const scripts = {
  "hello.sh": "#!/usr/bin/env bash\necho hello\n",
  "file.sh": "#!/usr/bin/env bash\necho kept > result.txt\necho written\n",
  "orphan.sh": "#!/usr/bin/env bash\nsleep 300 > /dev/null 2>&1 &\n(sleep 300 > /dev/null 2>&1 &)\necho left\n",
  "nap.sh": "#!/usr/bin/env bash\nsleep 4\necho slept\n",
};

/** Builds Kitbag, and starts it on a free port of loopback. */
export async function startService(isFirst: boolean): Promise<Service> {
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { stdio: "inherit" });
  const folder = mkdtempSync(join(tmpdir(), "kitbag-serve-soak-"));
  const folders = makeProject(folder);
  const env = { PATH: process.env["PATH"], HOME: folder, KITBAG_HOME: folders.home, TMPDIR: folders.temporary };
  const place = { cwd: folders.project, env };
  const runToken = async (...words: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [command, "token", ...words, "--json"], place)).stdout;

  const served = ["skills", "--open", "code", "--module", "tools.mjs", "--http", "127.0.0.1:0"];
  const words = ["serve", ...served, "--json", "--log", "warn"];
  const line = [process.execPath, command, ...words];
  const [program = "", ...args] = isFirst ? ["unshare", ...container, ...line] : line;
  const child = spawn(program, args, { ...place, stdio: ["ignore", "pipe", "pipe"] });
  const kill = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  process.once("exit", kill);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  const logged = followLog(child.stderr);
  const url = await readAddress(child, logged);
  return {
    url,
    pid: child.pid ?? 0,
    isFirst,
    folders,
    logged,
    get exitCode() {
      return child.exitCode;
    },
    addToken: async (user) => (JSON.parse(await runToken("add", user)) as { readonly token: string }).token,
    revokeTokens: async (user) => void (await runToken("revoke", user)),
    async stop() {
      if (child.exitCode === null) {
        // unshare itself does not listen to SIGTERM.
        for (const pid of isFirst ? findChildren(child.pid) : [child.pid ?? 0]) process.kill(pid, "SIGTERM");
        await once(child, "exit");
      }
      process.off("exit", kill);
      kill();
    },
  };
}

const container = ["--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc"];

/** Tells whether this machine lets us make a list of processes. */
export function canBeFirst(): boolean {
  return spawnSync("unshare", [...container, "true"]).status === 0;
}

function makeProject(folder: string): Folders {
  const folders = { project: join(folder, "project"), home: join(folder, "home"), temporary: join(folder, "tmp") };
  for (const path of Object.values(folders)) mkdirSync(path);
  // Sandboxes of root keep their work in TMPDIR only if other users can pass through.
  chmodSync(folder, 0o755);
  writeFileSync(join(folders.project, "tools.mjs"), tools);
  const skill = join(folders.project, "skills/soak");
  mkdirSync(join(skill, "scripts"), { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: soak\ndescription: Scripts of the soak.\n---\n\nRun them.\n");
  for (const [name, text] of Object.entries(scripts))
    writeFileSync(join(skill, "scripts", name), text, { mode: 0o755 });
  for (const name of ["checksums", "task-list"])
    cpSync(join(root, "skills", name), join(folders.project, "skills", name), { recursive: true });
  return folders;
}

function findChildren(pid = 0): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}

/** What the soak causes itself: the first token, scripts that are killed, and tokens that are revoked. */
const caused =
  /The token is not shown again|signal SIGKILL|call is kept, to be made again|the token of guest-\d+ is no longer good/u;

function followLog(stream: Readable): Logged {
  const others = new Map<string, number>();
  const logged = { dropped: 0, refused: 0, sessions: 0, others };
  createInterface(stream).on("line", (line) => {
    const isDropped = line.includes("session closed to make room");
    logged.sessions = Number((isDropped && /"open":(\d+)/u.exec(line)?.[1]) || logged.sessions);
    if (caused.test(line)) return;
    const text = line.replaceAll(/\d+/gu, "#").slice(0, 300);
    if (isDropped) logged.dropped += 1;
    else if (/(?:request|session) refused/u.test(line)) logged.refused += 1;
    else others.set(text, (others.get(text) ?? 0) + 1);
  });
  return logged;
}

async function readAddress(child: ChildProcess, { others }: Logged): Promise<string> {
  const { promise, resolve: found, reject } = Promise.withResolvers<string>();
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const url = /"url":"([^"]+)"/u.exec(text)?.[1];
    if (url !== undefined) found(url);
  });
  child.once("exit", (code) =>
    reject(new Error(`kitbag serve ended with ${code}: ${text}${[...others.keys()].join("\n")}`)),
  );
  return promise;
}
