import { AsyncLocalStorage } from "node:async_hooks";

import type { CallToolResult } from "@modelcontextprotocol/server";

import type { Caller } from "../../gate/gate.ts";
import type { Session } from "../../workspace/workspace.ts";
import { createAdoptedCalls } from "./calls/adopted-calls.ts";
import { createParkedFlights } from "./calls/parked-flights.ts";
import { createRunningCalls } from "./calls/running-calls.ts";
import { createClient, type ClientParts } from "./create-client.ts";
import { createInstance, type InstanceParts, type McpInstance } from "./create-instance.ts";
import { createInstanceNotifier, followClient, type InstanceNotifier } from "./follow-instance.ts";
import type { McpServerLimits, McpServerOptions } from "./mcp-server-options.ts";
import { createNotices, type Notices } from "./notices.ts";
import { createRunWatch } from "./resources/run-watch.ts";
import type { McpGeneration } from "./served-client.ts";
import { toSharedSession } from "./sessions/shared-session.ts";
import { createSessionHandles, type SessionHandles } from "./sessions/session-handles.ts";
import type { ToolClient } from "./tool-client.ts";

/** A person may take so long to answer. */
const parkedMs = 10 * 60 * 1000;

/** What all clients of a server share. */
export interface Services extends InstanceParts {
  readonly options: McpServerOptions;
  readonly limits: McpServerLimits;
  readonly handles: SessionHandles;
  readonly notices: Notices;
  /** What all clients of 2026 see. */
  readonly shared: Session;
}

/** Makes what all clients share. */
export function createServices(options: McpServerOptions, limits: McpServerLimits): Services {
  return {
    options,
    limits,
    handles: createSessionHandles(options.workspace, limits),
    runs: options.store === undefined ? undefined : createRunWatch(options.store),
    calls: {
      parked: createParkedFlights<CallToolResult>(limits.maxParked, parkedMs),
      adopted: createAdoptedCalls(),
      running: createRunningCalls(),
    },
    notices: createNotices(),
    shared: toSharedSession(options.workspace),
  };
}

/** A server of the SDK for one client, and the client. */
export interface Served extends McpInstance {
  readonly client: ToolClient;
}

/** Makes the server for one client that looks at `session`. */
export function serveClient(
  { options, handles, calls, runs }: Services,
  { caller, generation, session }: Pick<ClientParts, "caller" | "generation" | "session">,
): Served {
  let made: McpInstance | undefined;
  const client = createClient({ options, handles, caller, generation, session, mcp: () => made?.mcp });
  made = createInstance(options, client, { calls, runs });
  return { ...made, client };
}

/** A client that stays: on stdio, or in a session over HTTP. */
export interface ServedConnection extends Served {
  readonly notifier: InstanceNotifier;
  /** Does what belongs to a request in the name of its caller, who may have other scopes than the one that opened the session. */
  actAs<Result>(caller: Caller, work: () => Result): Result;
  /** Frees everything behind it. Doing it again does nothing. */
  close(): Promise<void>;
}

/** Makes the server for a client that stays, and tells it what changes. A client of 2025 gets a session of its own. */
export function serveConnection(
  services: Services,
  { caller, generation }: { readonly caller: Caller; readonly generation: McpGeneration },
  isListening: () => boolean = () => true,
): ServedConnection {
  const { options, shared, notices } = services;
  const session = generation === "2025" ? options.workspace.openSession() : shared;
  const current = new AsyncLocalStorage<Caller>();
  const served = serveClient(services, { caller: () => current.getStore() ?? caller, generation, session });
  const notifier = createInstanceNotifier(served, served.client, isListening);
  const ends = [followClient(served.client, notifier), notices.add(notifier)];
  return {
    ...served,
    notifier,
    actAs: (other, work) => current.run(other, work),
    async close() {
      for (const end of ends.splice(0)) end();
      served.subscriptions.close();
      await session.close();
    },
  };
}
