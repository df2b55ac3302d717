import { AsyncLocalStorage } from "node:async_hooks";

import {
  createMcpHandler,
  MissingRequiredClientCapabilityError,
  type AuthInfo,
  type JSONRPCNotification,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";

import type { Caller } from "../../../gate/gate.ts";
import type { Session } from "../../../workspace/workspace.ts";
import { listenToTasks, type TaskListen } from "../calls/listen-tasks.ts";
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
import type { SessionUse } from "../../../gate/sessions/user-sessions.ts";
import { serveClient, type Served, type Services } from "../serve-client.ts";
import { methodOf, type WebRequest } from "./web-request.ts";

/** Who makes a request, and the session that it uses. */
export interface ModernRequester {
  readonly caller: Caller;
  readonly use: SessionUse;
}

/** An answer, and what to do when it is written to its end. */
export interface ModernAnswer {
  readonly answer: Response;
  /** Whether it goes on until the client has heard enough. */
  readonly isStream: boolean;
  end(): void;
}

/** What serves the 2026 generation over HTTP. */
export interface ModernService {
  answer(web: WebRequest, requester: ModernRequester): Promise<ModernAnswer>;
  close(): Promise<void>;
}

/** Makes what serves the 2026 generation: a server for each request, and for each session one that tells its clients what changes. */
export function createModernService(services: Services): ModernService {
  const { options, limits, notices } = services;
  const serve = ({ caller, use }: ModernRequester): Served =>
    serveClient(services, { caller: () => caller, generation: "2026", use });
  const bus = createListenBus(serve);
  const handler = createMcpHandler(({ authInfo }) => serve(readRequester(authInfo)).mcp, {
    bus,
    legacy: "reject",
    maxSubscriptions: limits.maxSubscriptions,
    // The gate has read the body, and says how large it may be.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    ...(options.onError !== undefined && { onerror: options.onError }),
  });
  const notifier = tellOnce(handler.notify);
  const end = notices.add(notifier);
  const listens = createRunListens(services.runs, notifier.resourceUpdated);

  async function answerListen({ request, body }: WebRequest, requester: ModernRequester): Promise<ModernAnswer> {
    const { client } = serve(requester);
    const tasks = listenToTasks(body, client, services.calls.tasks);
    const { body: parsedBody, end: endRuns } = await beginListen(listens, client, tasks?.body ?? body);
    const endListen = (): void => {
      endRuns();
      tasks?.end();
    };
    try {
      const given = { authInfo: toAuthInfo(requester), parsedBody };
      const made = await bus.listenAs(requester, () => handler.fetch(request, given));
      return { answer: tasks === undefined ? made : tellOfTasks(made, tasks), isStream: true, end: endListen };
    } catch (cause) {
      endListen();
      throw cause;
    }
  }

  async function answer(web: WebRequest, requester: ModernRequester): Promise<ModernAnswer> {
    const { request, body } = web;
    const isListen = methodOf(body) === "subscriptions/listen";
    if (isListen) return answerListen(web, requester).catch((cause: unknown) => toRefusal(body, cause));
    const given = { authInfo: toAuthInfo(requester), ...(body !== undefined && { parsedBody: body }) };
    return { answer: await handler.fetch(request, given), isStream: false, end() {} };
  }

  return {
    answer,
    async close() {
      end();
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

function toRefusal(body: unknown, cause: unknown): ModernAnswer {
  if (!(cause instanceof MissingRequiredClientCapabilityError)) throw cause;
  const { code, message, data } = cause;
  const { id } = body as { readonly id?: unknown };
  const answer = Response.json({ jsonrpc: "2.0", id, error: { code, message, data } }, { status: 400 });
  return { answer, isStream: false, end() {} };
}

/** Puts notifications of tasks into a stream of the SDK, after its first message, the acknowledgement. */
function tellOfTasks(answer: Response, tasks: TaskListen): Response {
  if (answer.body === null || answer.headers.get("content-type") !== "text/event-stream") return answer;
  const write = (message: JSONRPCNotification): Uint8Array =>
    new TextEncoder().encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  let isAcknowledged = false;
  const stream = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (isAcknowledged) return controller.enqueue(chunk);
      isAcknowledged = true;
      const [, text = ""] = new TextDecoder().decode(chunk).split("data: ");
      const acknowledgement = JSON.parse(text) as JSONRPCNotification;
      const tell = (message: JSONRPCNotification): void => {
        try {
          controller.enqueue(write(message));
        } catch {
          // The client disconnected.
          tasks.end();
        }
      };
      controller.enqueue(write(tasks.acknowledge(acknowledgement, tell)));
    },
    flush: () => tasks.end(),
  });
  return new Response(answer.body.pipeThrough(stream), answer);
}

/** How the caller reaches the server that is made for its request. There is no token in it. */
function toAuthInfo(requester: ModernRequester): AuthInfo {
  const { caller } = requester;
  const scopes = caller.scopes === "all" ? [] : [...caller.scopes];
  return { token: "", clientId: caller.id, scopes, extra: { requester } };
}

function readRequester(info: AuthInfo | undefined): ModernRequester {
  const { requester } = info?.extra ?? {};
  if (requester === undefined) throw new Error("A request came without the caller that the gate found");
  return requester as ModernRequester;
}

/** Carries changes to the streams that listen, each of one session: what changes in a session is told to its own clients only. */
interface ListenBus extends ServerEventBus {
  /** Runs `open`, in which the SDK opens a stream that listens to the requester's session. */
  listenAs<Result>(requester: ModernRequester, open: () => Result): Result;
}

type Listener = (event: ServerEvent) => void;

function createListenBus(serve: (requester: ModernRequester) => Served): ListenBus {
  const opening = new AsyncLocalStorage<ModernRequester>();
  const bySession = new Map<Session, { readonly listeners: Set<Listener>; readonly end: () => void }>();

  function follow({ caller, use }: ModernRequester): Set<Listener> {
    const known = bySession.get(use.session)?.listeners;
    if (known !== undefined) return known;
    const listeners = new Set<Listener>();
    const tell = (event: ServerEvent): void => listeners.forEach((listener) => listener(event));
    // What tokens with fewer scopes may not see is told to them too: the list that they read then has not changed.
    const { client } = serve({ caller: { ...caller, scopes: "all" }, use });
    const end = followClient(
      client,
      tellOnce({
        toolsChanged: () => tell({ kind: "tools_list_changed" }),
        promptsChanged: () => tell({ kind: "prompts_list_changed" }),
        resourcesChanged: () => tell({ kind: "resources_list_changed" }),
        resourceUpdated: (uri) => tell({ kind: "resource_updated", uri }),
      }),
    );
    bySession.set(use.session, { listeners, end });
    return listeners;
  }

  return {
    listenAs: (requester, open) => opening.run(requester, open),
    publish(event) {
      for (const { listeners } of bySession.values()) for (const listener of listeners) listener(event);
    },
    subscribe(listener) {
      const requester = opening.getStore();
      // The SDK opens streams only while it answers a request to listen.
      if (requester === undefined) return () => {};
      const listeners = follow(requester);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        bySession.get(requester.use.session)?.end();
        bySession.delete(requester.use.session);
      };
    },
  };
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
