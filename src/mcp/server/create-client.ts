import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type McpServer,
} from "@modelcontextprotocol/server";

import type { Caller } from "../../gate/gate.ts";
import type { Session } from "../../workspace/workspace.ts";
import type { McpExposure, McpGeneration, ServedClient, ToolClient } from "./client.ts";
import type { McpExposureRule, McpServerOptions } from "./mcp-server-options.ts";
import { limitSession } from "../../gate/sessions/limit-session.ts";
import type { SessionUse } from "../../gate/sessions/user-sessions.ts";
import { toRemoteDirectory } from "./skills/served-skill.ts";
import { getToolList } from "./tools/attach-tools.ts";

/** What a client is made of. */
export interface ClientParts {
  readonly options: McpServerOptions;
  /** Who makes the request that is being answered. */
  readonly caller: () => Caller;
  readonly generation: McpGeneration;
  /** The session of the process, or of the user over HTTP. */
  readonly use: Pick<SessionUse, "session" | "isRemote" | "key" | "hold">;
  /** The server of the client, which knows what a client of 2025 said when it connected; `undefined` before it is made. */
  readonly mcp: () => McpServer | undefined;
}

type Info = ReturnType<ServedClient["info"]>;

/** Makes what the parts of the server know of a client. */
export function createClient({ options, caller, generation, use, mcp }: ClientParts): ToolClient {
  const { workspace, store, forge, listFiles, resources = [], prompts = [], exposure = "both" } = options;
  let seen: Info;
  let limited: { readonly caller: Caller; readonly session: Session } | undefined;
  // oxlint-disable-next-line typescript/no-deprecated -- the only place that has what a client of 2025 says of itself
  const info = (): Info => seen ?? mcp()?.server.getClientVersion();

  const client: ToolClient = {
    workspace,
    use,
    get session() {
      const now = caller();
      if (limited?.caller !== now) {
        limited = {
          caller: now,
          session: limitSession(use.session, now, workspace, use.isRemote ? toRemoteDirectory : undefined),
        };
      }
      return limited.session;
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
  };
  return client;
}

function readEnvelope(envelope: object | undefined, key: string): unknown {
  return (envelope as Readonly<Record<string, unknown>> | undefined)?.[key];
}

/** The exposure for a client, by what it calls itself; the first rule that matches decides. */
export function findExposure(
  exposure: McpExposure | readonly McpExposureRule[],
  client: string | undefined,
): McpExposure {
  if (typeof exposure === "string") return exposure;
  return exposure.find((rule) => isMatch(rule.client, client ?? ""))?.exposure ?? "both";
}

/** `*` stands for any text; case does not matter. Not a regular expression: the client chooses its name, and must not slow us down. */
function isMatch(pattern: string, name: string): boolean {
  const parts = pattern.toLowerCase().split("*");
  const text = name.toLowerCase();
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
