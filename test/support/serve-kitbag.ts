/** Runs the real `kitbag serve` in a process of its own, and talks to it with the official client. */
import { spawn, type ChildProcess } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Client, StreamableHTTPClientTransport, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";

import { program, type Project } from "../run-kitbag.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The environment of a project: no skills and no settings of whoever runs the tests. */
export function toEnvironment({ folder, home }: Project): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: dirname(folder),
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/kitbag-compile"),
    KITBAG_HOME: home,
  };
}

/** A client and what the program said on standard error. */
export interface StdioClient {
  readonly client: Client;
  stderr(): string;
}

/** Starts `kitbag serve` with these words, and connects to it by stdio. */
export async function connectStdio(
  project: Project,
  words: readonly string[] = [],
  options: ClientOptions = {},
): Promise<StdioClient> {
  const [command, ...args] = program;
  return startStdio(project, [command, ...args, "serve", ...words], { options });
}

/** Starts a program with this line, in a folder that has nothing to do with the project if one is named. */
export async function startStdio(
  project: Project,
  line: readonly string[],
  { cwd, options = {} }: { readonly cwd?: string; readonly options?: ClientOptions } = {},
): Promise<StdioClient> {
  const [command = "", ...args] = line;
  const transport = new StdioClientTransport({
    command,
    args,
    cwd: cwd ?? project.folder,
    env: toEnvironment(project),
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const client = new Client({ name: "test", version: "1.0.0" }, options);
  onTestFinished(async () => client.close());
  await client.connect(transport);
  return { client, stderr: () => stderr };
}

/** A `kitbag serve --http` that listens. */
export interface HttpServer {
  readonly url: string;
  readonly child: ChildProcess;
  /** The line that it printed first. */
  readonly facts: Record<string, unknown>;
  stdout(): string;
  stderr(): string;
  /** Resolves when it has ended. */
  readonly ended: Promise<number | null>;
}

/** Starts `kitbag serve --http` on a free port, and waits until it listens. */
export async function startHttp(
  project: Project,
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<HttpServer> {
  const [command, ...args] = program;
  const child = spawn(command, [...args, "serve", ...words, "--http", "127.0.0.1:0", "--json"], {
    cwd: project.folder,
    env: { ...toEnvironment(project), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.includes("\n")) resolve(stdout);
    });
    void ended.then((code) => reject(new Error(`it ended with ${code}: ${stderr}`)));
  });
  const facts = JSON.parse(line) as Record<string, unknown>;
  return { url: String(facts["url"]), child, facts, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Connects to a server by HTTP. */
export async function connectHttp(url: string, token?: string, options: ClientOptions = {}): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
  });
  const client = new Client({ name: "test", version: "1.0.0" }, options);
  await client.connect(transport);
  onTestFinished(async () => client.close());
  return client;
}
