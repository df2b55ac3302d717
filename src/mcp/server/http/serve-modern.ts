import { createMcpHandler, type AuthInfo } from "@modelcontextprotocol/server";

import type { Caller } from "../../../gate/gate.ts";
import { followClient } from "../notices.ts";
import type { McpNotifier } from "../mcp-server-options.ts";
import {
  createRunListens,
  isRunUri,
  readListenedUris,
  withoutUris,
  type RunListens,
} from "../resources/subscriptions.ts";
import { mayReadRun } from "../resources/run-resources.ts";
import { mostPerCaller, toRunId } from "../resources/run-watch.ts";
import type { ServedClient } from "../client.ts";
import { serveClient, type Served, type Services } from "../serve-client.ts";
import { methodOf, type WebRequest } from "./web-request.ts";

/** Stands for all callers: changes of the workspace are told to every client. */
const allCallers: Caller = { id: "all callers", scopes: "all" };

/** An answer, and what to do when it is written to its end. */
export interface ModernAnswer {
  readonly answer: Response;
  /** Whether it goes on until the client has heard enough. */
  readonly isStream: boolean;
  end(): void;
}

/** What serves the 2026 generation over HTTP. */
export interface ModernService {
  answer(web: WebRequest, caller: Caller): Promise<ModernAnswer>;
  close(): Promise<void>;
}

/** Makes what serves the 2026 generation: a server for each request, and one that tells all who listen what changes. */
export function createModernService(services: Services): ModernService {
  const { options, limits, notices, shared } = services;
  const serve = (caller: Caller): Served =>
    serveClient(services, { caller: () => caller, generation: "2026", session: shared });
  const handler = createMcpHandler(
    ({ authInfo }) => {
      return serve(readCaller(authInfo)).mcp;
    },
    {
      legacy: "reject",
      maxSubscriptions: limits.maxSubscriptions,
      // The gate has read the body, and says how large it may be.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      ...(options.onError !== undefined && { onerror: options.onError }),
    },
  );
  const notifier = tellOnce(handler.notify);
  const { client } = serve(allCallers);
  const ends = [followClient(client, notifier), notices.add(notifier)];
  const listens = createRunListens(services.runs, notifier.resourceUpdated);

  async function answer({ request, body }: WebRequest, caller: Caller): Promise<ModernAnswer> {
    const isStream = methodOf(body) === "subscriptions/listen";
    const listen = isStream ? await beginListen(listens, serve(caller).client, body) : { body, end() {} };
    const { body: parsedBody, end } = listen;
    try {
      const authInfo = toAuthInfo(caller);
      const made = await handler.fetch(request, { authInfo, ...(parsedBody !== undefined && { parsedBody }) });
      return { answer: made, isStream, end };
    } catch (cause) {
      end();
      throw cause;
    }
  }

  return {
    answer,
    async close() {
      for (const end of ends.splice(0)) end();
      listens.close();
      await handler.close();
    },
  };
}

/**
 * Follows the runs that a client listens to, if it may read them. What it may not, and what is beyond the most that is followed for it, is
 * left out, so that the answer does not promise it.
 */
async function beginListen(
  listens: RunListens,
  client: ServedClient,
  body: unknown,
): Promise<{ readonly body: unknown; readonly end: () => void }> {
  const uris = new Set(readListenedUris(body).filter(isRunUri));
  const looked = uris.values().take(mostPerCaller).toArray();
  const areReadable = await Promise.all(looked.map((uri) => mayReadRun(client, toRunId(uri) ?? "")));
  const readable = new Set(looked.filter((_uri, index) => areReadable[index]));
  const { refused, end } = listens.begin([...readable], client.caller.id);
  return { body: withoutUris(body, uris.difference(readable).union(refused)), end };
}

/** How the caller reaches the server that is made for its request. There is no token in it. */
function toAuthInfo(caller: Caller): AuthInfo {
  const scopes = caller.scopes === "all" ? [] : [...caller.scopes];
  return { token: "", clientId: caller.id, scopes, extra: { caller } };
}

function readCaller(info: AuthInfo | undefined): Caller {
  const { caller } = info?.extra ?? {};
  // Without the gate the caller is unknown, so nothing is allowed.
  return (caller as Caller | undefined) ?? { id: "unknown", scopes: new Set() };
}

/** Changes that come in one go are told once. */
function tellOnce(notifier: McpNotifier): McpNotifier {
  const waiting = new Map<string, () => void>();
  const later = (key: string, tell: () => void): void => {
    if (waiting.size === 0) {
      queueMicrotask(() => {
        const all = [...waiting.values()];
        waiting.clear();
        for (const one of all) one();
      });
    }
    waiting.set(key, tell);
  };
  return {
    toolsChanged: () => later("tools", () => notifier.toolsChanged()),
    promptsChanged: () => later("prompts", () => notifier.promptsChanged()),
    resourcesChanged: () => later("resources", () => notifier.resourcesChanged()),
    resourceUpdated: (uri) => later(`resource ${uri}`, () => notifier.resourceUpdated(uri)),
  };
}
