import { homedir } from "node:os";
import { join } from "node:path";

import type { CallToolResult } from "@modelcontextprotocol/client";

import { KitbagError, isKitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { type McpCode, type McpSource, isMcpProgram, toContentOutput, toSourceKey } from "../../core/mcp-source.ts";
import type { Runtime, RuntimeContext, RuntimeDescription } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import type { Dependencies } from "../../packages/install/create-dependencies.ts";
import { type FoundSandbox, findSandbox } from "../../sandbox/find-sandbox.ts";
import type { GrantPlaces } from "../../sandbox/grants.ts";
import type { ReservedPlaces } from "../../sandbox/reserved-places.ts";
import type { RuntimesOptions } from "../runtimes-options.ts";
import { type McpConnection, describeServerError, toMcpFailure } from "./connect-server.ts";
import type { LogIn } from "./oauth-file.ts";
import type { ProgramTransport } from "./program-transport.ts";
import type { RestartPolicy } from "./server-link.ts";
import { type McpEvent, type McpRuntimeOptions, type Server, createServerPool } from "./server-pool.ts";

export type { McpEvent, McpRuntimeOptions } from "./server-pool.ts";

/** A runtime for the tools of other MCP servers, and the connections to these. */
export interface McpRuntime extends Runtime {
  describe(tool: Tool): Promise<RuntimeDescription>;
  /**
   * Answers with the open connection to a server, or makes one.
   *
   * @throws {KitbagError} `mcp-failed` if it cannot be made.
   */
  connect(source: McpSource, options?: ConnectOptions): Promise<McpConnection>;
  /**
   * Does something else than a call with the open connection to a server, or a new one.
   *
   * @throws {KitbagError} `mcp-failed` if it cannot be made, or what `work` throws.
   */
  use<Result>(
    source: McpSource,
    work: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result>;
  /** Calls `listener` with what happens at servers; answers with the function that ends it. */
  onEvent(listener: (event: McpEvent) => void): () => void;
  /** Ends all programs and connections. */
  close(): Promise<void>;
}

/** How one connects. */
export interface ConnectOptions {
  readonly signal?: AbortSignal;
  /** Lets a person log in, if the server asks for it. */
  readonly logIn?: LogIn;
}

/**
 * Runs tools that other MCP servers have. A server is started, or connected to, when the first of its tools is called, and stays.
 *
 * **Contract**: a tool runs only if its server describes it exactly as it did when it was trusted. A server that died is
 * started again for the next call; a call that was on its way fails. A call that must stop is cancelled at the server, and a
 * program that has said nothing since it began is ended.
 */
export function mcpRuntime(options: McpRuntimeOptions): McpRuntime {
  const listeners = new Set<(event: McpEvent) => void>();
  const servers = createServerPool(options, (event) => {
    for (const listener of listeners) listener(event);
  });

  return {
    kind: "mcp",
    describe: async ({ code }) => ({ sandbox: await nameSandbox((code as McpCode).source, options) }),
    run: (tool, input, context) =>
      hold(servers.find((tool.code as McpCode).source), (server) =>
        callTool(server, { tool, input: input as Record<string, unknown> }, context),
      ),
    use: (source, work, signal) =>
      hold(servers.find(source), async (server) => {
        const connection = await openHeld(server, signal);
        return connection.questions.during({}, async () => work(connection));
      }),
    async connect(source, { signal = new AbortController().signal, logIn } = {}) {
      const server = servers.find(source);
      server.logIn = logIn;
      const connection = await server.link.open(signal);
      if (server.busy === 0) server.connected?.program?.setHeld(false);
      return connection;
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => servers.close(),
  };
}

/** Uses a server: its program is not left until `work` is done. */
async function hold<Result>(server: Server, work: (server: Server) => Promise<Result>): Promise<Result> {
  server.busy += 1;
  try {
    return await work(server);
  } finally {
    server.busy -= 1;
    if (server.busy === 0) server.connected?.program?.setHeld(false);
    await checkPlaces(server);
  }
}

async function openHeld(server: Server, signal: AbortSignal): Promise<McpConnection> {
  await endReplaced(server);
  const connection = await server.link.open(signal);
  server.connected?.program?.setHeld(true);
  return connection;
}

/** A program that made something at a shielded place is ended: the next one is kept off what is there by then. */
async function checkPlaces({ connected }: Server): Promise<void> {
  try {
    connected?.check?.();
  } catch (cause) {
    await connected?.program?.close();
    throw cause;
  }
}

/** A program that may have lost a shield is not used again: the next one is kept off what is there now. */
async function endReplaced({ connected }: Server): Promise<void> {
  if (connected?.findReplaced?.() !== undefined) await connected.program?.close();
}

interface Called {
  readonly tool: Tool;
  readonly input: Readonly<Record<string, unknown>>;
}

async function callTool(server: Server, { tool, input }: Called, context: RuntimeContext): Promise<unknown> {
  const { source, definition } = tool.code as McpCode;
  const connection = await openHeld(server, context.signal);
  const program = server.connected?.program;
  const begun = performance.now();
  try {
    await checkDefinition(tool, connection, context.signal);
    const result = await connection.call({
      definition,
      input,
      signal: context.signal,
      caller: context.caller,
      trace: context.trace,
      onProgress: ({ progress, total, message }) =>
        context.progress({
          done: progress,
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message }),
        }),
    });
    server.link.markWell();
    return connection.secrets.show(toOutput(tool.name, result));
  } catch (cause) {
    // A program that does not even hear that it should stop would run on unseen.
    if (context.signal.aborted && server.busy === 1 && program !== undefined && program.heardAt < begun) {
      connection.abandon("it went on with a call that was cancelled");
    }
    context.signal.throwIfAborted();
    if (isKitbagError(cause)) throw cause;
    throw await toFailure(cause, { connection, program, source, tool });
  }
}

interface Failed {
  readonly connection: McpConnection;
  readonly program: ProgramTransport | undefined;
  readonly source: McpSource;
  readonly tool: Tool;
}

/** The server may have died of the call, and then says so later than the connection. */
async function toFailure(cause: unknown, { connection, program, source, tool }: Failed): Promise<KitbagError> {
  const { ProtocolError } = await import("@modelcontextprotocol/client");
  const text = describeServerError(cause, connection.secrets);
  if (cause instanceof ProtocolError)
    return new KitbagError("tool-failed", { tool: tool.name, reason: text }, { cause });
  // Over HTTP there is no notice that a server was started anew: what cannot be reached is connected to again for the next call.
  if (!isMcpProgram(source)) connection.abandon(text);
  const end =
    connection.end === undefined || program === undefined ? undefined : ((await program?.gone) ?? connection.end);
  const reason = end === undefined ? text : `${connection.secrets.show(end)}, while a call was on its way`;
  return toMcpFailure(source, reason, cause);
}

/** Refuses a tool whose description has changed since it was trusted. */
async function checkDefinition(tool: Tool, connection: McpConnection, signal: AbortSignal): Promise<void> {
  const { source, definition } = tool.code as McpCode;
  const changed = await connection.findChanges(definition, signal);
  if (changed.length === 0) return;
  throw new KitbagError("tool-quarantined", { tool: tool.name, server: toSourceKey(source), changed });
}

async function nameSandbox(source: McpSource, { findSandbox }: McpRuntimeOptions): Promise<string> {
  if (!isMcpProgram(source)) return "remote";
  return source.sandbox ?? (await findSandbox()).name;
}

const longestReason = 2000;

/**
 * Makes the output of a call of what the server answered: the structured content if there is some, else the text, else the blocks
 * themselves as `{ $content: [ … ] }`.
 *
 * @throws {KitbagError} `tool-failed` if the server says that the call failed.
 */
function toOutput(tool: string, { isError, structuredContent, content }: CallToolResult): unknown {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (isError === true) {
    const reason = texts.join("\n").trim().slice(0, longestReason);
    throw new KitbagError("tool-failed", { tool, reason: reason === "" ? "the server does not say why" : reason });
  }
  if (structuredContent !== undefined) return structuredContent;
  if (texts.length < content.length) return toContentOutput(content as unknown as JsonValue[]);
  return texts.join("\n\n");
}

/** The sandbox of the other runtimes, and what it protects. */
interface Shared {
  readonly sandbox: FoundSandbox;
  readonly places: GrantPlaces;
  readonly reserved: ReservedPlaces;
  readonly dependencies: Dependencies;
}

/** Makes the runtime of other MCP servers. It uses the sandbox that scripts have, once a program must be started. */
export function startMcp(
  options: RuntimesOptions,
  start: () => Promise<Shared>,
  restarts: Partial<RestartPolicy> = {},
): McpRuntime {
  const { home = join(homedir(), ".kitbag"), directory = process.cwd(), findSecret, limits } = options;
  let off: Promise<FoundSandbox> | undefined;
  let shared: Shared | undefined;

  const runtime = mcpRuntime({
    home,
    restarts,
    async findSandbox(name) {
      if (name === "off") return (off ??= findSandbox({ name }));
      shared = await start();
      return shared.sandbox;
    },
    toPlaces: (sandbox) => (sandbox === shared?.sandbox ? shared : { places: { directory } }),
    findSecret,
    limits,
    prepare: async (request, signal) => (await start()).dependencies.prepare(request, signal),
  });
  if (options.onMcp !== undefined) runtime.onEvent(options.onMcp);
  return {
    ...runtime,
    async close() {
      await runtime.close();
      await (await off?.catch(() => undefined))?.close();
    },
  };
}
