/** Frameworks that make agents, each with a client of its own. */
import {
  answerOf,
  loadClient,
  textOf,
  toAnswer,
  toSpawn,
  type Answer,
  type ClientUnderTest,
  type MakeTransport,
  type McpResult,
} from "./client-under-test.ts";

interface AiSdk {
  createMCPClient(config: object): Promise<AiClient>;
}

interface AiClient {
  tools(): Promise<Readonly<Record<string, { execute(input: object, options: object): Promise<McpResult> }>>>;
  readResource(params: { uri: string }): Promise<{ contents: unknown }>;
  close(): Promise<void>;
}

function aiClient(name: string, folder: string): ClientUnderTest {
  return {
    name,
    package: folder,
    over: ["stdio", "http"],
    async connect(reach) {
      const { createMCPClient } = await loadClient<AiSdk>(
        `${folder}/dist/index.${folder.endsWith("-6") ? "mjs" : "js"}`,
      );
      const { Experimental_StdioMCPTransport: Stdio } = await loadClient<{
        Experimental_StdioMCPTransport: MakeTransport;
      }>(`${folder}/dist/mcp-stdio/index.${folder.endsWith("-6") ? "mjs" : "js"}`);
      const transport = reach.over === "stdio" ? new Stdio(toSpawn(reach)) : { type: "http", url: reach.url };
      const client = await createMCPClient({ transport });
      return {
        can: { progress: false, cancel: true },
        list: async () => Object.keys(await client.tools()),
        async call(tool, input, { signal } = {}) {
          const found = (await client.tools())[tool];
          if (found === undefined) return { text: `no tool ${tool}`, failed: true };
          const options = { toolCallId: "1", messages: [], ...(signal && { abortSignal: signal }) };
          return answerOf(found.execute(input, options).then(toAnswer));
        },
        readResource: async (uri) => textOf((await client.readResource({ uri })).contents),
        close: () => client.close(),
      };
    },
  };
}

interface OpenAiAgents {
  readonly MCPServerStdio: new (options: object) => OpenAiServer;
  readonly MCPServerStreamableHttp: new (options: object) => OpenAiServer;
}

interface OpenAiServer {
  connect(): Promise<void>;
  listTools(): Promise<readonly { name: string }[]>;
  callToolResult(name: string, input: object, meta: null, options: object): Promise<McpResult>;
  readResource(uri: string): Promise<{ contents: unknown }>;
  close(): Promise<void>;
}

const openAiAgents: ClientUnderTest = {
  name: "OpenAI Agents",
  package: "@openai/agents",
  over: ["stdio", "http"],
  async connect(reach) {
    const agents = await loadClient<OpenAiAgents>("@openai/agents/dist/index.mjs");
    const server =
      reach.over === "stdio"
        ? new agents.MCPServerStdio({ ...toSpawn(reach), name: "kitbag" })
        : new agents.MCPServerStreamableHttp({ url: reach.url, name: "kitbag" });
    await server.connect();
    return {
      can: { progress: false, cancel: true },
      list: async () => (await server.listTools()).map(({ name }) => name),
      call: (tool, input, { signal } = {}) =>
        answerOf(server.callToolResult(tool, input, null, { ...(signal && { signal }) }).then(toAnswer)),
      readResource: async (uri) => textOf((await server.readResource(uri)).contents),
      close: () => server.close(),
    };
  },
};

interface Mastra {
  readonly MCPClient: new (options: object) => MastraClient;
}

interface MastraClient {
  listTools(): Promise<Readonly<Record<string, { execute(input: object, options: object): Promise<McpResult> }>>>;
  readonly progress: { onUpdate(server: string, handler: () => void): Promise<void> };
  readonly resources: { read(server: string, uri: string): Promise<{ contents: unknown }> };
  disconnect(): Promise<void>;
}

const mastra: ClientUnderTest = {
  name: "Mastra",
  package: "@mastra/mcp",
  over: ["stdio", "http"],
  async connect(reach) {
    const { MCPClient } = await loadClient<Mastra>("@mastra/mcp/dist/index.js");
    const server =
      reach.over === "stdio"
        ? { ...toSpawn(reach), enableProgressTracking: true }
        : { url: new URL(reach.url), enableProgressTracking: true };
    const client = new MCPClient({ id: `${reach.over}-${String(performance.now())}`, servers: { kitbag: server } });
    return {
      can: { progress: true, cancel: true },
      list: async () => Object.keys(await client.listTools()).map((name) => name.replace(/^kitbag_/u, "")),
      async call(tool, input, { signal, onProgress } = {}) {
        if (onProgress !== undefined) await client.progress.onUpdate("kitbag", onProgress);
        const found = (await client.listTools())[`kitbag_${tool}`];
        if (found === undefined) return { text: `no tool ${tool}`, failed: true };
        return answerOf(found.execute(input, { ...(signal && { abortSignal: signal }) }).then(toMastraAnswer));
      },
      readResource: async (uri) => textOf((await client.resources.read("kitbag", uri)).contents),
      close: () => client.disconnect(),
    };
  },
};

/** It answers with what a tool gives, or with what is structured in it. */
function toMastraAnswer(result: unknown): Answer {
  const { content, isError } = (result ?? {}) as McpResult;
  return content === undefined
    ? { text: JSON.stringify(result), failed: false }
    : toAnswer({ content, isError: isError === true });
}

interface LangChain {
  readonly MultiServerMCPClient: new (options: object) => LangChainClient;
}

interface LangChainClient {
  getTools(): Promise<readonly { name: string; invoke(input: object, options: object): Promise<unknown> }[]>;
  readResource(server: string, uri: string): Promise<unknown>;
  close(): Promise<void>;
}

const langChain: ClientUnderTest = {
  name: "LangChain adapters",
  package: "@langchain/mcp-adapters",
  over: ["stdio", "http"],
  async connect(reach) {
    const { MultiServerMCPClient } = await loadClient<LangChain>("@langchain/mcp-adapters/dist/index.js");
    const server =
      reach.over === "stdio" ? { transport: "stdio", ...toSpawn(reach) } : { transport: "http", url: reach.url };
    const heard = { told: 0, progress: (): void => {} };
    const client = new MultiServerMCPClient({
      mcpServers: { kitbag: server },
      onToolsListChanged: () => void (heard.told += 1),
      onProgress: () => heard.progress(),
    });
    return {
      can: { progress: true, cancel: true },
      told: () => heard.told,
      list: async () => (await client.getTools()).map(({ name }) => name),
      async call(tool, input, { signal, onProgress } = {}) {
        heard.progress = onProgress ?? ((): void => {});
        const tools = await client.getTools();
        const found = tools.find(({ name }) => name === tool);
        const used = found ?? tools.find(({ name }) => name === "call_tool");
        if (used === undefined) return { text: `no tool ${tool}`, failed: true };
        const given = found === undefined ? { name: tool, input } : input;
        const calling = used.invoke(given, { ...(signal && { signal }) });
        const answer = await answerOf(calling.then((content) => ({ text: textOf(content), failed: false })));
        return found === undefined ? { ...answer, isIndirect: true } : answer;
      },
      readResource: async (uri) => textOf(await client.readResource("kitbag", uri)),
      close: () => client.close(),
    };
  },
};

/** All of them. */
export const frameworkClients: readonly ClientUnderTest[] = [
  aiClient("AI SDK 6", "@ai-sdk/mcp-6"),
  aiClient("AI SDK 7", "@ai-sdk/mcp"),
  openAiAgents,
  mastra,
  langChain,
];
