import type { operations } from "./operations.ts";
import type { TypedOperation } from "./operation.ts";
import { paths, type OperationName } from "./paths.ts";
import type { ProblemDocument } from "./problem.ts";

type Operations = typeof operations;

/** What an operation is given, and what it answers. */
type TypesOf<Name extends OperationName> =
  Operations[Name] extends TypedOperation<infer Given, infer Answered> ? [given: Given, answered: Answered] : never;

type Group<Name extends OperationName> = Name extends `${infer Prefix}.${string}` ? Prefix : never;
type Verb<Name extends OperationName> = Name extends `${string}.${infer Rest}` ? Rest : never;

/** An operation as a function; without an argument if it needs none. */
type Call<Given, Answered> =
  Record<never, never> extends Given
    ? (given?: Given, options?: RequestOptions) => Promise<Answered>
    : (given: Given, options?: RequestOptions) => Promise<Answered>;

/** Every operation of the API, as `client.tools.call({ address, input })`. */
export type ClientOperations = {
  readonly [Prefix in Group<OperationName>]: {
    readonly [Name in OperationName as Group<Name> extends Prefix ? Verb<Name> : never]: Call<
      TypesOf<Name>[0],
      TypesOf<Name>[1]
    >;
  };
};

/** An event of a stream. */
export interface StreamEvent {
  /** The position in the log, if it is a line of one. */
  readonly id?: number;
  readonly event: string;
  readonly data: unknown;
}

/** What a client is made with. */
export interface ClientOptions {
  /** Where the API is: `http://127.0.0.1:8000/api`. */
  readonly url: string;
  readonly token?: string;
  /** The session whose skills are open. @default your default session */
  readonly session?: string;
  /** @default the `fetch` of the platform */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** What may be said with one request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
}

/** A client of the API. */
export interface Client extends ClientOperations {
  /**
   * Follows an operation that can be a stream: `client.stream("runs.events", { id })`. A stream of a log that breaks off is continued where it
   * was; every other one that breaks off throws.
   */
  stream<Name extends OperationName>(
    name: Name,
    given: TypesOf<Name>[0],
    options?: RequestOptions,
  ): AsyncIterable<StreamEvent>;
}

/** An answer of the API that says what went wrong. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: ProblemDocument;

  constructor(problem: ProblemDocument) {
    super(problem.detail);
    this.problem = problem;
  }

  /** The code of Kitbag's table of errors. */
  get code(): string {
    return this.problem.code;
  }
}

const retryMs = 500;

/**
 * Makes a client of Kitbag's HTTP API, typed from the schemas of the service. It needs `fetch` and nothing else, so it works in web pages,
 * Node, Deno, Bun and workers.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createClient } from "kitbag/client";
 * import { createHandler, localCaller } from "kitbag/http";
 *
 * const handle = createHandler({ workspace: createWorkspace() }, { caller: () => localCaller });
 * const client = createClient({ url: "http://localhost/api", fetch: (url, init) => handle(new Request(url, init)) });
 *
 * const { items } = await client.tools.list();
 * console.assert(items.length === 0);
 * ```
 */
export function createClient({ url, token, session, fetch: send = fetch }: ClientOptions): Client {
  const base = url.replace(/\/+$/u, "");

  async function request(name: OperationName, given: object, { signal, ...more }: AskOptions): Promise<Response> {
    const { method, path, rest } = toPlace(name, given);
    const query = new URLSearchParams(session === undefined ? {} : { session });
    if (method === "GET")
      for (const [key, value] of rest) for (const item of [value].flat()) query.append(key, String(item));
    const response = await send(`${base}${path}${query.size > 0 ? `?${query.toString()}` : ""}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(method === "POST" && { "content-type": "application/json" }),
        ...more.headers,
      },
      ...(method === "POST" && { body: JSON.stringify(Object.fromEntries(rest)) }),
      ...(signal !== undefined && { signal }),
    });
    if (!response.ok) throw new ProblemError(await readProblem(response));
    return response;
  }

  async function* stream(name: OperationName, given: object, options: RequestOptions = {}): AsyncIterable<StreamEvent> {
    let last: number | undefined;
    const isLog = name === "runs.events";
    for (;;) {
      const after: Record<string, string> = last === undefined ? {} : { "last-event-id": String(last) };
      try {
        const response = await request(name, given, { ...options, headers: { accept: "text/event-stream", ...after } });
        for await (const event of readEvents(response)) {
          last = event.id ?? last;
          yield event;
          if (isLog && event.event === "run-end") return;
        }
        if (!isLog) return;
      } catch (cause) {
        if (!isLog || cause instanceof ProblemError || options.signal?.aborted === true) throw cause;
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }

  return toClient(request, stream);
}

type Ask = (name: OperationName, given: object, options: AskOptions) => Promise<Response>;

/** Makes a function of each operation: `client.tools.call`. */
function toClient(request: Ask, stream: unknown): Client {
  const client: Record<string, unknown> = { stream };
  for (const name of Object.keys(paths) as OperationName[]) {
    const [group = "", verb = ""] = name.split(".");
    const calls = (client[group] ??= {}) as Record<string, unknown>;
    calls[verb] = async (given: object = {}, options: RequestOptions = {}) => {
      const response = await request(name, given, options);
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      return isJson ? response.json() : new Uint8Array(await response.arrayBuffer());
    };
  }
  return client as unknown as Client;
}

interface AskOptions extends RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Puts the parameters of a path into it; what is left is the query or the body. */
function toPlace(name: OperationName, given: object): { method: string; path: string; rest: [string, unknown][] } {
  const values = new Map(Object.entries(given).filter(([, value]) => value !== undefined));
  const [method = "", pattern = ""] = paths[name].split(" ");
  const path = pattern.replaceAll(/\{(\w+)(\+?)\}/gu, (_match, key: string, plus: string) => {
    const value = String(values.get(key));
    values.delete(key);
    return (plus === "" ? [value] : value.split("/")).map(toSegment).join("/");
  });
  return { method, path, rest: [...values] };
}

/** A URL leads elsewhere with `..`, however it is encoded. */
function toSegment(text: string): string {
  if (/^\.{1,2}$/u.test(text)) throw new TypeError(`"${text}" cannot be a part of a path; use another name`);
  return encodeURIComponent(text);
}

async function readProblem(response: Response): Promise<ProblemDocument> {
  const found: unknown = await response.json().catch(() => undefined);
  if (typeof found === "object" && found !== null && "detail" in found) return found as ProblemDocument;
  const { status } = response;
  return {
    type: "about:blank",
    title: "Failed",
    status,
    detail: `The service answered ${status}`,
    code: "request-refused",
    details: {},
  };
}

/** Reads `text/event-stream`. Lines end with a line feed: Kitbag writes no others. */
async function* readEvents({ body }: Response): AsyncIterable<StreamEvent> {
  if (body === null) return;
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = new Map(
          block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
        );
        const [event, data, id] = [fields.get("event"), fields.get("data"), fields.get("id")];
        if (event === undefined || data === undefined) continue;
        yield { event, data: JSON.parse(data) as unknown, ...(id !== undefined && { id: Number(id) }) };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
