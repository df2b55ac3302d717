import { execFileSync, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { createFolder, writeFiles } from "./temporary-folder.ts";

/** A repository that tests write to. */
export interface TestRepository {
  readonly directory: string;
  /** Writes files and commits them. Answers with the commit. */
  commit(files: Readonly<Record<string, string>>, message?: string): string;
  git(...args: readonly string[]): string;
}

/** A server that speaks git over HTTP, on the loopback interface. */
export interface GitServer {
  /** Of a repository: `http://127.0.0.1:1234/skills.git`. */
  readonly url: string;
  readonly host: string;
  /** The requests, as `GET /skills.git/info/refs`. */
  readonly asked: readonly string[];
}

/** Makes an empty repository. */
export function createRepository(): TestRepository {
  const directory = createFolder();
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", "-C", directory, ...args], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", HOME: directory },
    }).trim();
  git("init", "--quiet", "--initial-branch=main");
  return {
    directory,
    git,
    commit(files, message = "change") {
      writeFiles(directory, files);
      git("add", "--all", "--force");
      git("commit", "--quiet", "--allow-empty", "--message", message);
      return git("rev-parse", "HEAD");
    },
  };
}

/** Serves a repository with `git http-backend`. `instead` answers itself if it says so (`true`). */
export async function serveGit(
  repository: TestRepository,
  instead: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<GitServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split("?")[0]}`);
    if (!instead(request, response)) runBackend(repository.directory, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}/skills.git`, host, asked };
}

/** A program of the common gateway interface: headers, an empty line, the body. */
function runBackend(directory: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "", "http://localhost");
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_PROJECT_ROOT: join(directory, ".git"),
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: url.pathname.replace(/^\/skills\.git/u, ""),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
  });
  child.stdin.on("error", () => {});
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  let isBody = false;
  child.stdout.on("data", (piece: Buffer) => {
    if (isBody) return void response.write(piece);
    head = Buffer.concat([head, piece]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    isBody = true;
    for (const line of head.toString("latin1", 0, end).split("\r\n")) {
      const [name = "", value = ""] = line.split(/:\s*/u, 2);
      if (name.toLowerCase() === "status") response.statusCode = Number(value.slice(0, 3));
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
  });
  child.stdout.on("end", () => response.end());
}
