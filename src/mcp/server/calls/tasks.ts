import { randomBytes } from "node:crypto";

import {
  ProtocolError,
  ProtocolErrorCode,
  type ClientCapabilities,
  type InputRequests,
  type Result,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";

import { describeCause } from "../../../core/errors.ts";
import { toScopesKey } from "../../../core/scopes.ts";
import type { McpServerLimits } from "../mcp-server-options.ts";
import type { ToolClient } from "../client.ts";
import { tasksExtension } from "./ask-client.ts";
import { ServerClosingError, type RunningCalls } from "./open-calls.ts";
import type { PausableCall } from "./pausable-call.ts";

/** Changes within this time are told once. */
const gatherMs = 100;

/** How often a client should ask. */
const pollIntervalMs = 1000;

/** A call that is told of as a task. */
interface Task {
  readonly id: string;
  readonly owner: string;
  readonly caller: string;
  readonly session: string;
  readonly createdAt: string;
  /** Not set when it is over: what is kept for an hour holds no client. */
  call: PausableCall | undefined;
  updatedAt: string;
  /** Of its end. */
  message: string | undefined;
  end: TaskEnd | undefined;
  /** Of what is kept of its end. */
  bytes: number;
  /** Told of each change. */
  readonly followers: Set<() => void>;
}

/** How a task ended, in the words of the protocol. */
type TaskEnd =
  | { readonly status: "completed"; readonly result: Result }
  | { readonly status: "failed"; readonly error: { readonly code: number; readonly message: string } }
  | { readonly status: "cancelled" };

/** What `tools/call` answers in place of a result, when the call goes on as a task. */
export interface CreatedTask extends TaskFields {
  readonly resultType: "task";
  readonly status: "working";
  /** Nothing: the SDK sends no answer to `tools/call` without it. */
  readonly content: [];
}

/** What every answer says of a task. */
interface TaskFields {
  [field: string]: unknown;
  readonly taskId: string;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** While the results that are kept for all callers, or for one, are larger than this, no more calls become tasks. */
const mostBytes = 128 * 1024 * 1024;
const mostBytesPerCaller = mostBytes / 4;

function toBytes(tasks: readonly Task[]): number {
  return tasks.reduce((sum, { bytes }) => sum + bytes, 0);
}

type TaskLimits = Pick<McpServerLimits, "maxTasks" | "maxTasksPerCaller" | "taskAfterMs" | "taskMs">;

/**
 * The calls of all clients that go on as tasks, and how those ended that are over. They are kept in this process, for a fixed time from
 * their beginning. Only the user that made a call reads its task, with the same scopes and in the same session.
 */
export class Tasks {
  readonly #limits: TaskLimits;
  readonly #running: RunningCalls;
  readonly #tasks: LRUCache<string, Task>;

  constructor(limits: TaskLimits, running: RunningCalls) {
    this.#limits = limits;
    this.#running = running;
    this.#tasks = new LRUCache({
      max: limits.maxTasks,
      ttl: limits.taskMs,
      ttlAutopurge: true,
      dispose: ({ call }) => call?.abort(new Error("The task was not done in the time for which tasks are kept")),
    });
  }

  /** When a call becomes a task by itself. */
  get afterMs(): number {
    return this.#limits.taskAfterMs;
  }

  /** Makes a task of a call that runs. `undefined` if there are too many: then its request waits for the result. */
  begin(call: PausableCall, client: ToolClient): CreatedTask | undefined {
    if (this.#isFull(client.caller.id)) return undefined;
    const task = createTask(call, client);
    this.#tasks.set(task.id, task);
    void complete(task, { call, client, running: this.#running });
    return { resultType: "task", status: "working", content: [], ...this.#toFields(task) };
  }

  /**
   * How far a task is: its questions while it has some, its result or error when it is over.
   *
   * @throws {ProtocolError} `InvalidParams` if it is unknown, expired or of another owner: a client cannot tell which.
   */
  get(id: string, client: ToolClient): TaskFields {
    return this.#describe(this.#find(id, client));
  }

  has(id: string, client: ToolClient): boolean {
    return this.#tasks.peek(id)?.owner === toOwner(client);
  }

  /** Calls `tell` now for each of these tasks, and soon after each change, until the answered function is called. */
  follow(ids: readonly string[], client: ToolClient, tell: (task: TaskFields) => void): () => void {
    const ends = ids.map((id) => {
      const task = this.#find(id, client);
      let timer: NodeJS.Timeout | undefined;
      const follower = (): void => {
        timer ??= setTimeout(() => {
          timer = undefined;
          tell(this.#describe(task));
        }, gatherMs).unref();
      };
      follower();
      task.followers.add(follower);
      return () => {
        task.followers.delete(follower);
        clearTimeout(timer);
      };
    });
    return () => {
      for (const end of ends.splice(0)) end();
    };
  }

  #describe(task: Task): TaskFields {
    const inputRequests: InputRequests = task.call?.openQuestions ?? {};
    const isAsking = Object.keys(inputRequests).length > 0;
    const state = task.end ?? (isAsking ? { status: "input_required", inputRequests } : { status: "working" });
    return { ...this.#toFields(task), ...state };
  }

  /** Gives a task the answers to its questions. What it did not ask is ignored. @throws as {@link Tasks.get} */
  answer(id: string, client: ToolClient, answers: Readonly<Record<string, unknown>>): void {
    this.#find(id, client).call?.answer(answers);
  }

  /** Cancels the call of a task. Does nothing if it is over. @throws as {@link Tasks.get} */
  cancel(id: string, client: ToolClient): void {
    const task = this.#find(id, client);
    task.call?.abort(new Error("Cancelled by the client"));
    finish(task, { status: "cancelled" }, "Cancelled by the client");
  }

  /** Ends the tasks of a session, and forgets them: its only client disconnected. */
  closeOf(session: string): void {
    for (const [id, task] of this.#tasks.entries()) if (task.session === session) this.#tasks.delete(id);
  }

  closeAll(): void {
    for (const { call } of this.#tasks.values()) call?.abort(new ServerClosingError("The server is closing"));
    this.#tasks.clear();
  }

  #isFull(caller: string): boolean {
    const all = [...this.#tasks.values()];
    const own = all.filter((task) => task.caller === caller);
    if (all.length >= this.#limits.maxTasks || own.length >= this.#limits.maxTasksPerCaller) return true;
    return toBytes(all) >= mostBytes || toBytes(own) >= mostBytesPerCaller;
  }

  #find(id: string, client: ToolClient): Task {
    const task = this.#tasks.peek(id);
    if (task?.owner === toOwner(client)) return task;
    const message = "There is no such task: it never was, it has expired, the server was restarted, or it is not yours";
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }

  #toFields({ id, call, message = call?.progress, createdAt, updatedAt }: Task): TaskFields {
    const said = message === undefined ? {} : { statusMessage: message };
    return { taskId: id, ...said, createdAt, lastUpdatedAt: updatedAt, ttlMs: this.#limits.taskMs, pollIntervalMs };
  }
}

function toOwner({ caller, use }: ToolClient): string {
  return JSON.stringify([caller.id, toScopesKey(caller.scopes), use.key]);
}

function createTask(call: PausableCall, client: ToolClient): Task {
  const now = new Date().toISOString();
  return {
    id: randomBytes(24).toString("base64url"),
    owner: toOwner(client),
    caller: client.caller.id,
    session: client.use.key,
    createdAt: now,
    updatedAt: now,
    message: undefined,
    call,
    end: undefined,
    bytes: 0,
    followers: new Set(),
  };
}

interface Followed {
  readonly call: PausableCall;
  readonly client: ToolClient;
  readonly running: RunningCalls;
}

/** Keeps the session open, and the call among those that end with their token or the server, until the call is over. */
async function complete(task: Task, { call, client, running }: Followed): Promise<void> {
  const ends = [client.use.hold(), running.begin(client.caller, (reason) => call.abort(reason))];
  const result = call.continueAsTask(() => {
    if (task.end === undefined) change(task);
  });
  try {
    finish(task, { status: "completed", result: await result });
  } catch (cause) {
    finish(task, { status: "failed", error: toError(cause) }, describeCause(cause));
  } finally {
    for (const end of ends) end();
  }
}

/** What ended once stays as it is. */
function finish(task: Task, end: TaskEnd, message?: string): void {
  if (task.end !== undefined) return;
  task.end = end;
  task.bytes = Buffer.byteLength(JSON.stringify(end));
  task.call = undefined;
  task.message = message;
  change(task);
}

function change(task: Task): void {
  task.updatedAt = new Date().toISOString();
  for (const follower of task.followers) follower();
}

function toError(cause: unknown): { readonly code: number; readonly message: string } {
  if (!(cause instanceof ProtocolError))
    return { code: ProtocolErrorCode.InternalError, message: describeCause(cause) };
  const { code, message, data } = cause;
  return { code, message, ...(data !== undefined && { data }) };
}

/** Tells whether a request comes from a client that knows tasks. Only clients of 2026 can, and say so with each request. */
export function knowsTasks({ generation }: ToolClient, capabilities: ClientCapabilities | undefined): boolean {
  return generation === "2026" && capabilities?.extensions?.[tasksExtension] !== undefined;
}
