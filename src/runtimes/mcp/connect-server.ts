import type { CallToolResult, Client, Progress as McpProgress, Transport } from "@modelcontextprotocol/client";

import { setTimeout as sleep } from "node:timers/promises";

import { describeCause, KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { type McpDefinition, type McpSource, toSourceKey } from "../../core/mcp-source.ts";
import type { CallerAccess, TraceContext } from "../../core/runtime.ts";
import type { Secrets } from "../script/load-secrets.ts";
import { askable, createQuestions, type Questions, type Work } from "./answer-questions.ts";
import { type Definitions, findChangedParts, readDefinitions } from "./definitions.ts";

/** A way to a server, and who is told about it. */
export interface ServerWay {
  readonly source: McpSource;
  readonly transport: Transport;
  readonly secrets: Secrets;
  /** Why the server is gone; over HTTP there is no notice. */
  readonly gone?: Promise<string>;
  /** Told when the server offers other tools than before. */
  readonly onDefinitions: (definitions: Definitions) => void;
  /** Told when the server says that its resources or prompts are others than before. */
  readonly onContent: (what: "prompts" | "resources") => void;
  /** It answers no question that it does not know, or dies of one: an older server. @default it is asked what it speaks */
  readonly isLegacy?: boolean;
}

/** One call, as the server gets it. */
export interface ServerCall {
  readonly definition: McpDefinition;
  readonly input: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Where in a trace it is made: the server's own spans belong there. */
  readonly trace: TraceContext;
  readonly onProgress: (progress: McpProgress) => void;
  /** Asks the caller. @default the caller cannot be asked */
  readonly caller?: CallerAccess | undefined;
}

/** A server that is connected. */
export interface McpConnection {
  readonly client: Client;
  readonly secrets: Secrets;
  /** What it offers now. */
  readonly definitions: Definitions;
  readonly questions: Questions;
  /** Why it is gone, once it is. */
  readonly end: string | undefined;
  /** What of a tool is not as it was agreed to; empty if all is. */
  findChanges(agreed: McpDefinition, signal: AbortSignal): Promise<readonly string[]>;
  call(call: ServerCall): Promise<CallToolResult>;
  /** Gives it up: from now on it is gone, and the next call gets another connection. */
  abandon(reason: string): void;
  close(): Promise<void>;
}

/** How long a server may think about what it speaks, before it is taken for an older one. */
const probeMs = 3000;
/** The workspace decides how long a call may take; timers take no more than this. */
const noLimitMs = 2_147_483_647;
const mostPages = 64;
/** A server that asks nothing and is not done is asked again so soon. */
const pollMs = 1000;

/** Accepts whatever comes: each definition is checked on its own, so that one wrong tool does not take all others with it. */
const anything = {
  "~standard": { version: 1 as const, vendor: "kitbag", validate: (value: unknown) => ({ value }) },
};

/** Says hello to a server and reads what it offers. Rejects with what is wrong; closes the transport then. */
export async function connectServer(way: ServerWay, signal: AbortSignal): Promise<McpConnection> {
  let end: string | undefined;
  const client = await createClient(() => void listing.refresh().catch(() => {}), way.onContent);
  const questions = createQuestions(way.source, client);
  const listing = createListing((stop) => list(client, way.source, stop), way.onDefinitions);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client is no event target
  client.onclose = () => (end ??= "it closed the connection");
  void way.gone?.then((reason) => (end = reason));

  try {
    const prior = way.isLegacy === true ? { prior: { kind: "legacy" as const } } : {};
    await client.connect(way.transport, { signal, timeout: noLimitMs, ...prior });
    await listing.refresh(signal);
  } catch (cause) {
    await client.close().catch(() => {});
    await way.transport.close().catch(() => {});
    throw cause;
  }

  return {
    client,
    secrets: way.secrets,
    questions,
    get definitions() {
      return listing.current;
    },
    get end() {
      return end;
    },
    findChanges: (definition, stop) => listing.findChanges(definition, stop),
    async call(call) {
      const work: Work = { tool: call.definition.name, caller: call.caller };
      return questions.during(work, async () =>
        callUntilDone(client, call, (question) => questions.answer(question, work)),
      );
    },
    abandon(reason) {
      end ??= reason;
      client.close().catch(() => {});
    },
    close: () => client.close(),
  };
}

/** Makes a call. A server of 2026 answers with questions, and is called again with the answers; one of 2025 asks meanwhile. */
async function callUntilDone(
  client: Client,
  { definition, input, signal, trace, onProgress }: ServerCall,
  answer: (question: unknown) => Promise<JsonObject>,
): Promise<CallToolResult> {
  const { outputSchema: _, ...known } = definition;
  const meta = trace.traceparent === undefined ? {} : { _meta: { ...trace } };
  // Outputs are held against their schema by the workspace, with an engine that no schema can stall.
  const options = { signal, timeout: noLimitMs, onprogress: onProgress, toolDefinition: known as never };
  let answers = {};
  for (;;) {
    const params = { name: known.name, arguments: input, ...meta, ...answers };
    const result: unknown = await client.callTool(params, { ...options, allowInputRequired: true });
    const { resultType, inputRequests = {}, requestState } = result as Readonly<Record<string, unknown>>;
    if (resultType !== "input_required") return result as CallToolResult;
    const asked = Object.entries(inputRequests as object).map(
      async ([key, question]) => [key, await answer(question)] as const,
    );
    const inputResponses = Object.fromEntries(await Promise.all(asked));
    if (asked.length === 0) await sleep(pollMs, undefined, { signal });
    answers = { inputResponses, ...(requestState !== undefined && { requestState }) };
  }
}

async function createClient(onChanged: () => void, onContent: ServerWay["onContent"]): Promise<Client> {
  const { Client: SdkClient } = await import("@modelcontextprotocol/client");
  return new SdkClient(
    { name: "kitbag", version: "1.0.0" },
    {
      capabilities: askable,
      // Only calls are answered, and each question by the caller of its own call.
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: probeMs } },
      listChanged: {
        tools: { autoRefresh: false, onChanged },
        prompts: { autoRefresh: false, onChanged: () => onContent("prompts") },
        resources: { autoRefresh: false, onChanged: () => onContent("resources") },
      },
    },
  );
}

async function list(client: Client, { tools: wanted }: McpSource, signal: AbortSignal): Promise<Definitions> {
  if (client.getServerCapabilities()?.tools === undefined) return readDefinitions([], wanted);
  return readDefinitions(await listAll(client, "tools", signal), wanted);
}

/** The lists of a server: their methods, by the field of the answer that holds them. */
const listMethods = {
  tools: "tools/list",
  prompts: "prompts/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
} as const;

/** All pages of a list of a server. What is in it is not checked. */
export async function listAll(
  client: Client,
  field: keyof typeof listMethods,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await ask(client, { method: listMethods[field], params }, signal);
    const { [field]: items, nextCursor } = (answer ?? {}) as Readonly<Record<string, unknown>>;
    if (!Array.isArray(items)) throw new Error(`it does not say which ${field} it has`);
    found.push(...(items as unknown[]));
    if (typeof nextCursor !== "string" || nextCursor === cursor) return found;
    cursor = nextCursor;
  }
  throw new Error(`its list of ${field} has more than ${mostPages} pages`);
}

/** Asks a server for something. What it answers is not checked. */
export async function ask(
  client: Client,
  request: { readonly method: string; readonly params: Record<string, unknown> },
  signal: AbortSignal,
): Promise<unknown> {
  return client.request(request, anything, { signal, timeout: noLimitMs });
}

/** The failure of a server. */
export function toMcpFailure(source: McpSource, reason: string, cause?: unknown): KitbagError<"mcp-failed"> {
  return new KitbagError("mcp-failed", { server: toSourceKey(source), reason }, { cause });
}

/** What went wrong with a server, for a person, without its secrets. */
export function describeServerError(cause: unknown, secrets: Secrets | undefined): string {
  const text = describeCause(cause);
  return secrets?.show(text) ?? text;
}

/** What a server offers, as far as is known. */
interface Listing {
  readonly current: Definitions;
  /** Asks the server again. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** What of a tool is not as it was agreed to. The server is asked again before anything is said to be otherwise. */
  findChanges(agreed: McpDefinition, signal: AbortSignal): Promise<readonly string[]>;
}

/** Not every server tells when its list changes; what it said is believed for so long. */
const oldMs = 10 * 60_000;
const refreshMs = 30_000;

/** Makes the list of a server that was not asked yet. `onChange` is told of each but the first. */
export function createListing(
  ask: (signal: AbortSignal) => Promise<Definitions>,
  onChange: (definitions: Definitions) => void,
): Listing {
  let current: Definitions = { tools: new Map(), refused: [] };
  let askedAt: number | undefined;
  // Comparing takes longer than most calls; a definition that was compared stays as it is.
  let same = new WeakMap<McpDefinition, McpDefinition>();

  async function refresh(signal: AbortSignal = AbortSignal.timeout(refreshMs)): Promise<void> {
    current = await ask(signal);
    same = new WeakMap();
    const isFirst = askedAt === undefined;
    askedAt = performance.now();
    if (!isFirst) onChange(current);
  }

  function compare(agreed: McpDefinition): readonly string[] {
    const now = current.tools.get(agreed.name);
    if (now === undefined) return ["it is gone"];
    if (same.get(now) === agreed) return [];
    const changed = findChangedParts(agreed, now);
    if (changed.length === 0) same.set(now, agreed);
    return changed;
  }

  return {
    get current() {
      return current;
    },
    refresh,
    async findChanges(agreed, signal) {
      const isOld = askedAt === undefined || performance.now() - askedAt > oldMs;
      const changed = isOld ? ["it was not asked for long"] : compare(agreed);
      if (changed.length === 0) return changed;
      await refresh(signal);
      return compare(agreed);
    },
  };
}
