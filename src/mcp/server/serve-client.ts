import { AsyncLocalStorage } from "node:async_hooks";

import {
  McpServer,
  type Implementation,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
} from "@modelcontextprotocol/server";

import type { JsonValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import type { Caller } from "../../gate/gate.ts";
import type { OpenCalls } from "./calls/call-tool.ts";
import { createPausedCalls, createRunningCalls } from "./calls/open-calls.ts";
import { attachTasks } from "./calls/attach-tasks.ts";
import { Tasks } from "./calls/tasks.ts";
import { maxRounds } from "./calls/pausable-call.ts";
import type { McpExposure, McpGeneration, ToolClient } from "./client.ts";
import { attachCompletions } from "./completions/attach-completions.ts";
import { createClient, type ClientParts } from "./create-client.ts";
import type { McpServerLimits, McpServerOptions } from "./mcp-server-options.ts";
import {
  createInstanceNotifier,
  createNotices,
  followClient,
  type InstanceNotifier,
  type McpInstance,
  type Notices,
} from "./notices.ts";
import { attachPrompts } from "./prompts/attach-prompts.ts";
import { attachResources } from "./resources/attach-resources.ts";
import { createRunWatch, type RunWatch } from "./resources/run-watch.ts";
import { createUserSessions, type SessionUse, type UserSessions } from "../../gate/sessions/user-sessions.ts";
import { attachTools } from "./tools/attach-tools.ts";

/** A person may take so long to answer, each time. */
const answerMs = 10 * 60 * 1000;

/** What all clients of a server share. */
export interface Services {
  readonly options: McpServerOptions;
  readonly limits: McpServerLimits;
  /** Which skills the users of HTTP have open. */
  readonly users: UserSessions;
  readonly calls: OpenCalls;
  /** `undefined` without a store. */
  readonly runs: RunWatch | undefined;
  readonly notices: Notices;
}

/** Makes what all clients share. */
export function createServices(options: McpServerOptions, limits: McpServerLimits): Services {
  const running = createRunningCalls();
  return {
    options,
    limits,
    users: options.users ?? createUserSessions(options.workspace, limits),
    runs: options.store === undefined ? undefined : createRunWatch(options.store),
    calls: {
      running,
      paused: createPausedCalls(limits.maxParked, answerMs),
      tasks: new Tasks(limits, running),
    },
    notices: createNotices(),
  };
}

/** A server of the SDK for one client, and the client. */
export interface Served extends McpInstance {
  readonly client: ToolClient;
}

/** Makes the server for one client. */
export function serveClient(
  services: Services,
  { caller, generation, use }: Pick<ClientParts, "caller" | "generation" | "use">,
): Served {
  const { options } = services;
  let made: McpInstance | undefined;
  const client = createClient({ options, caller, generation, use, mcp: () => made?.mcp });
  made = createInstance(services, client);
  return { ...made, client };
}

/** What a server calls itself. */
export function toServerInfo({ name = "kitbag", version = "0.0.0", title }: McpServerOptions): Implementation {
  return { name, version, ...(title !== undefined && { title }) };
}

/** Notifications that are sent once for all changes of one moment. */
const listNotifications = [
  "notifications/tools/list_changed",
  "notifications/resources/list_changed",
  "notifications/prompts/list_changed",
];

/** Makes the SDK's server for one client: Kitbag's parts, and then what the host adds. */
function createInstance({ options, calls, runs }: Services, client: ToolClient): McpInstance {
  const mcp = new McpServer(toServerInfo(options), {
    instructions: renderInstructions(client.exposure(), options.instructions),
    debouncedNotificationMethods: listNotifications,
    cacheHints: { "server/discover": { ttlMs: answerMs, cacheScope: "private" } },
    jsonSchemaValidator: formValidator,
    inputRequired: { maxRounds: maxRounds["2025"], roundTimeoutMs: answerMs },
  });
  Object.assign(mcp.server, { onerror: options.onError });
  attachTools(mcp, client, calls);
  attachTasks(mcp, client, calls.tasks);
  const subscriptions = attachResources(mcp, client, runs);
  attachPrompts(mcp, client);
  attachCompletions(mcp, client);
  options.extend?.(mcp, client);
  return { mcp, subscriptions };
}

/** What a client is told of the server: short, because many clients put it before every conversation. */
function renderInstructions(exposure: McpExposure, own: string | undefined): string {
  const skills =
    exposure === "direct"
      ? "Before work that a skill is for (list_skills), open it with activate_skill and follow its instructions."
      : "Before work that a skill is for (search_tools finds it), open it with activate_skill and follow its instructions.";
  const tools =
    exposure === "direct"
      ? undefined
      : "Every tool can be found with search_tools and called with call_tool, also one that your list does not show yet.";
  return [skills, tools, own].filter((line) => line !== undefined && line !== "").join("\n");
}

/** Checks forms that people filled in with the validator for tool inputs, so that the SDK's own one is not loaded. */
export const formValidator: jsonSchemaValidator = {
  getValidator<Content>(schema: unknown): JsonSchemaValidator<Content> {
    return (content) => {
      const problems = checkStrictly(schema as JsonSchema, content as JsonValue);
      if (problems.length === 0) return { valid: true, data: content as Content, errorMessage: undefined };
      const texts = problems.map(
        ({ path, expected, found }) => `${path === "" ? "" : `${path}: `}expected ${expected}, found ${found}`,
      );
      return { valid: false, data: undefined, errorMessage: texts.join("; ") };
    };
  },
};

/** A client that stays connected: on stdio, or in a session of 2025 over HTTP. */
export interface ServedConnection extends Served {
  readonly notifier: InstanceNotifier;
  /** Runs `work` for the caller of a request, whose scopes may differ from those of the caller that opened the session. */
  actAs<Result>(caller: Caller, work: () => Result): Result;
  /** Frees everything behind the connection, which a request used last at `usedAt`. Calling it again does nothing. */
  close(usedAt?: number): void;
}

/** Makes the server for a client that stays connected, and tells it what changes in the session that it uses. */
export function serveConnection(
  services: Services,
  {
    caller,
    generation,
    use,
  }: { readonly caller: Caller; readonly generation: McpGeneration; readonly use: SessionUse },
  isListening: () => boolean = () => true,
): ServedConnection {
  const { notices } = services;
  const current = new AsyncLocalStorage<Caller>();
  const served = serveClient(services, { caller: () => current.getStore() ?? caller, generation, use });
  const notifier = createInstanceNotifier(served, served.client, isListening);
  const ends = [followClient(served.client, notifier), notices.add(notifier)];
  return {
    ...served,
    notifier,
    actAs(other, work) {
      use.touch();
      return current.run(other, work);
    },
    close(usedAt) {
      for (const end of ends.splice(0)) end();
      served.subscriptions.close();
      use.end(usedAt);
    },
  };
}
