/** The official SDK, and the programs that are made of it. */
import { execFile } from "node:child_process";
import { join } from "node:path";

import {
  answerOf,
  clientsFolder,
  loadClient,
  textOf,
  toAnswer,
  toSpawn,
  type ClientUnderTest,
  type MakeTransport,
  type McpResult,
} from "./client-under-test.ts";

interface Sdk {
  readonly Client: new (info: object, options: object) => SdkClient;
}

interface SdkClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(params: object, ...rest: readonly unknown[]): Promise<McpResult>;
  readResource(params: { uri: string }): Promise<{ contents: unknown }>;
  close(): Promise<void>;
}

interface SdkKind {
  readonly name: string;
  readonly package: string;
  readonly files: { readonly client: string; readonly stdio: string; readonly http: string };
  readonly pin?: string;
}

/** The official SDK, which several of the others are made of. */
function sdkClient({ name, package: from, files, pin }: SdkKind): ClientUnderTest {
  return {
    name,
    package: from,
    over: ["stdio", "http"],
    async connect(reach) {
      const [{ Client }, stdio, http] = await Promise.all([
        loadClient<Sdk>(`${from}/${files.client}`),
        loadClient<{ StdioClientTransport: MakeTransport }>(`${from}/${files.stdio}`),
        loadClient<{ StreamableHTTPClientTransport: MakeTransport }>(`${from}/${files.http}`),
      ]);
      let told = 0;
      const onChanged = { autoRefresh: false, debounceMs: 0, onChanged: () => void (told += 1) };
      const negotiation = pin === undefined ? {} : { versionNegotiation: { mode: { pin } } };
      const client = new Client({ name: "sdk", version: "1" }, { listChanged: { tools: onChanged }, ...negotiation });
      await client.connect(
        reach.over === "stdio"
          ? new stdio.StdioClientTransport(toSpawn(reach))
          : new http.StreamableHTTPClientTransport(new URL(reach.url)),
      );
      return {
        can: { progress: true, cancel: true },
        told: () => told,
        list: async () => (await client.listTools()).tools.map((tool) => tool.name),
        call(tool, input, { signal, onProgress } = {}) {
          const options = { ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) };
          const rest = from.endsWith("/sdk") ? [undefined, options] : [options];
          return answerOf(client.callTool({ name: tool, arguments: input }, ...rest).then(toAnswer));
        },
        readResource: async (uri) => textOf((await client.readResource({ uri })).contents),
        close: () => client.close(),
      };
    },
  };
}

const v2Files = { client: "dist/index.mjs", stdio: "dist/stdio.mjs", http: "dist/index.mjs" };

/** mcp-remote is a program that a client starts, and that speaks HTTP for it. */
function remoteClient(): ClientUnderTest {
  const inner = sdkClient(v1);
  return {
    name: "mcp-remote",
    package: "mcp-remote",
    over: ["http"],
    connect(reach) {
      if (reach.over !== "http") throw new Error("mcp-remote speaks HTTP");
      const args = [join(clientsFolder, "mcp-remote/dist/proxy.js"), reach.url, "--allow-http"];
      const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["TMPDIR"] ?? "/tmp" };
      return inner.connect({ over: "stdio", command: process.execPath, args, env, cwd: "/tmp" });
    },
  };
}

const v1: SdkKind = {
  name: "official SDK 1",
  package: "@modelcontextprotocol/sdk",
  files: {
    client: "dist/esm/client/index.js",
    stdio: "dist/esm/client/stdio.js",
    http: "dist/esm/client/streamableHttp.js",
  },
};

/** The Inspector has its own package, with which other tests look at the server too. Each thing that it does is a process. */
const inspector: ClientUnderTest = {
  name: "Inspector CLI",
  package: "@modelcontextprotocol/inspector",
  over: ["http"],
  async connect(reach) {
    if (reach.over !== "http") throw new Error("on stdio each of its processes starts a server of its own");
    const program = join(import.meta.dirname, "../inspector/node_modules/.bin/mcp-inspector");
    const run = (words: readonly string[]): Promise<string> =>
      new Promise((resolve) => {
        execFile(process.execPath, [program, "--cli", reach.url, ...words], (_error, stdout) => resolve(stdout));
      });
    return {
      can: { progress: false, cancel: false },
      list: async () =>
        (JSON.parse(await run(["--method", "tools/list"])) as { tools: { name: string }[] }).tools.map(
          ({ name }) => name,
        ),
      async call(name, input) {
        const words = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(input)];
        return toAnswer(JSON.parse(await run(words)) as McpResult);
      },
      async readResource(uri) {
        const read = JSON.parse(await run(["--method", "resources/read", "--uri", uri])) as { contents: unknown };
        return textOf(read.contents);
      },
      close: () => Promise.resolve(),
    };
  },
};

/** All of them. */
export const sdkClients: readonly ClientUnderTest[] = [
  sdkClient(v1),
  sdkClient({ name: "official SDK 2", package: "@modelcontextprotocol/client", files: v2Files }),
  sdkClient({
    name: "official SDK 2, 2026",
    package: "@modelcontextprotocol/client",
    files: v2Files,
    pin: "2026-07-28",
  }),
  inspector,
  remoteClient(),
];
