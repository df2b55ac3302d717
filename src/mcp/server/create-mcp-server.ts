import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { type HttpSessions, createHttpSessions } from "./http/http-sessions.ts";
import { createRoute } from "./http/create-route.ts";
import { createModernService, type ModernService } from "./http/serve-modern.ts";
import type { McpServerLimits, McpServerOptions, McpServing, StdioServing } from "./mcp-server-options.ts";
import { createPlainHttp } from "./plain/plain-http.ts";
import { createServices, serveConnection } from "./serve-client.ts";
import { serveOverStdio } from "./stdio/serve-over-stdio.ts";

const defaultLimits: McpServerLimits = {
  maxSessions: 1000,
  maxSessionsPerCaller: 500,
  idleMs: 30 * 60 * 1000,
  maxSessionsPerUser: 500,
  maxUserSessions: 1000,
  maxSubscriptions: 1024,
  maxParked: 1000,
  taskAfterMs: 5000,
  taskMs: 60 * 60 * 1000,
  maxTasks: 1000,
  maxTasksPerCaller: 100,
};

interface OverHttp {
  readonly modern: ModernService;
  readonly sessions: HttpSessions;
}

/**
 * Puts a workspace behind MCP, for both generations of the protocol, on stdio and over HTTP. Clients hear of every change of what
 * they are shown.
 *
 * @throws {KitbagError} `option-invalid` if a limit is no whole number above 0.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createMcpServer } from "kitbag/mcp";
 * import { PassThrough } from "node:stream";
 *
 * const greet = defineTool({ name: "greet", description: "Greets", run: () => "Hello" });
 * const server = createMcpServer({ workspace: createWorkspace({ tools: [greet] }) });
 * const [input, output] = [new PassThrough(), new PassThrough()];
 * const serving = await server.serveStdio({ input, output });
 * input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
 * const [line] = await output.take(1).toArray();
 * console.assert(String(line).includes('"id":1'));
 * await serving.close();
 * await server.close();
 * ```
 */
export function createMcpServer(options: McpServerOptions): McpServing {
  const limits = toLimits(options.limits ?? {});
  const services = createServices(options, limits);
  const stdio = new Set<StdioServing>();
  let overHttp: OverHttp | undefined;

  function openHttp(): OverHttp {
    const serve: Parameters<typeof createHttpSessions>[1] = (caller, use, isListening) =>
      serveConnection(services, { caller, generation: "2025", use }, isListening);
    const sessions = createHttpSessions(limits, serve, options.report);
    return { modern: createModernService(services), sessions };
  }

  return {
    async serveStdio(given = {}) {
      const serving = await serveOverStdio(services, given);
      stdio.add(serving);
      void serving.closed.then(() => stdio.delete(serving));
      return serving;
    },
    route(path = "/mcp") {
      overHttp ??= openHttp();
      const { modern, sessions } = overHttp;
      return createRoute(path, {
        workspace: options.workspace,
        users: services.users,
        modern,
        sessions,
        answerPlain: createPlainHttp(services),
        onCallerGone(caller) {
          services.calls.running.stopOf(caller);
          sessions.closeOf(caller);
        },
        onCut: () => services.calls.running.stopAll(),
      });
    },
    notify: services.notices,
    get sessions() {
      return overHttp?.sessions.size ?? 0;
    },
    async close() {
      services.calls.paused.closeAll();
      services.calls.tasks.closeAll();
      services.runs?.close();
      await Promise.all([...stdio].map((serving) => serving.close()));
      await Promise.all([overHttp?.modern.close(), overHttp?.sessions.closeAll()]);
      if (options.users === undefined) await services.users.closeAll();
    },
  };
}

function toLimits(given: Partial<McpServerLimits>): McpServerLimits {
  for (const [name, value] of Object.entries(given)) {
    const isKnown = Object.hasOwn(defaultLimits, name);
    if (isKnown && (value === undefined || (Number.isSafeInteger(value) && value > 0))) continue;
    const expected = isKnown ? "a whole number above 0" : `one of ${Object.keys(defaultLimits).join(", ")}`;
    throw new KitbagError("option-invalid", { option: `limits.${name}`, expected, found: showValue(value) });
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaultLimits, ...Object.fromEntries(set) };
}
