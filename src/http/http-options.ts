import type { Agent } from "../agent/agent-interface.ts";
import type { AgentEvent } from "../agent/events.ts";
import type { ScopesOf } from "../core/scopes.ts";
import type { Store } from "../core/store.ts";
import type { Caller } from "../gate/gate.ts";
import type { UserSessions } from "../gate/sessions/user-sessions.ts";
import type { Sealer } from "../records/audit/audit-keys.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What the API is in front of. */
export interface HttpParts {
  readonly workspace: Workspace;
  /** Agents by name. @default none: no runs can be started */
  readonly agents?: Readonly<Record<string, Agent>>;
  /** Where runs, calls and conversations are read from; the store of the agents. @default nowhere */
  readonly store?: Store;
  /** Which skills users have open; the one of the MCP server beside it, if there is one. @default its own */
  readonly users?: UserSessions;
  /** The scopes that a user has now: as the agents have it. Without it only callers who may call every tool can start runs. */
  readonly scopesOf?: ScopesOf;
  /** Proves approvals to the agents: as the agents have it. @default approvals are not sealed */
  readonly audit?: Sealer;
  /** Told of every event of the runs that are started or resumed here, to count them. It must not throw. */
  readonly onRunEvent?: (event: AgentEvent) => void;
}

/** How the API is served. */
export interface HandlerOptions {
  /**
   * Says who makes a request; nothing refuses it with 401. Without it every request is refused: a handler is mounted where other people may
   * reach it. `localCaller` of `kitbag/http` is the local user, who may do everything.
   */
  readonly caller?: (request: Request) => Caller | undefined | Promise<Caller | undefined>;
  /** The path that the API is mounted at. @default "/api" */
  readonly basePath?: string;
  /** The largest body that is read. @default 4 MiB */
  readonly maxBodyBytes?: number;
  /** Told of failures that are no answer to a request. @default not reported */
  readonly onError?: (error: unknown) => void;
}
