import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type McpServer,
} from "@modelcontextprotocol/server";

import type { Caller } from "../../gate/gate.ts";
import type { Session } from "../../workspace/workspace.ts";
import { findExposure } from "./exposure.ts";
import type { McpServerOptions } from "./mcp-server-options.ts";
import type { McpGeneration, ServedClient } from "./served-client.ts";
import { guardSession } from "./sessions/guard-session.ts";
import type { SessionHandles } from "./sessions/session-handles.ts";
import type { ToolClient } from "./tool-client.ts";
import { getToolList } from "./tools/attach-tools.ts";

/** What a client is made of. */
export interface ClientParts {
  readonly options: McpServerOptions;
  readonly handles: SessionHandles;
  /** Who makes the request that is being answered. */
  readonly caller: () => Caller;
  readonly generation: McpGeneration;
  /** Its own, or the one that all clients of 2026 see. */
  readonly session: Session;
  /** The server that it is served by, which knows what a client of 2025 said of itself; there is none before it is made. */
  readonly mcp: () => McpServer | undefined;
}

type Info = ReturnType<ServedClient["info"]>;

/** Makes what the parts of the server know of a client. */
export function createClient({ options, handles, caller, generation, session, mcp }: ClientParts): ToolClient {
  const { workspace, store, forge, listFiles, resources = [], prompts = [], exposure = "both" } = options;
  let seen: Info;
  let guarded: { readonly caller: Caller; readonly session: Session } | undefined;
  // oxlint-disable-next-line typescript/no-deprecated -- what a client of 2025 says of itself is nowhere else
  const info = (): Info => seen ?? mcp()?.server.getClientVersion();

  const client: ToolClient = {
    workspace,
    get session() {
      const now = caller();
      if (guarded?.caller !== now) guarded = { caller: now, session: guardSession(session, now, workspace) };
      return guarded.session;
    },
    get caller() {
      return caller();
    },
    generation,
    ...(store !== undefined && { store }),
    ...(forge !== undefined && { forge }),
    ...(listFiles !== undefined && { listFiles }),
    resources,
    prompts,
    shownTools: () => getToolList(client).tools.map(({ name }) => name),
    info,
    see({ mcpReq: { envelope } }) {
      const given = readEnvelope(envelope, CLIENT_INFO_META_KEY) as Info;
      if (typeof given?.name === "string") seen = { name: given.name, version: String(given.version) };
    },
    exposure: () => findExposure(exposure, info()?.name),
    capabilities({ mcpReq: { envelope } }) {
      // oxlint-disable-next-line typescript/no-deprecated -- as above
      if (generation === "2025") return mcp()?.server.getClientCapabilities();
      return readEnvelope(envelope, CLIENT_CAPABILITIES_META_KEY) as ClientCapabilities | undefined;
    },
    handles,
    guard: (other) => guardSession(other, caller(), workspace),
  };
  return client;
}

function readEnvelope(envelope: object | undefined, key: string): unknown {
  return (envelope as Readonly<Record<string, unknown>> | undefined)?.[key];
}
