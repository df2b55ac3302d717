import { KitbagError } from "../../core/errors.ts";
import type { Progress } from "../../core/events.ts";
import { hasGuardAt } from "../../core/guards.ts";
import { copyJson, type JsonValue, maxJsonDepth, showValue } from "../../core/json.ts";
import type { CallerAccess, CallerQuestion, CallFiles, RuntimeContext, TraceContext } from "../../core/runtime.ts";
import type { InsideOptions } from "../../core/tool.ts";
import type { ToolState } from "../../core/tool-state.ts";
import { shortenText } from "../../core/cut-text.ts";
import { toTraceContext } from "../telemetry/tracing.ts";
import { findAgentCaller } from "./agent-caller.ts";
import { refuseOutermost, isLimited, keepCaller } from "./authority.ts";
import { noOptions } from "./call-options.ts";
import type { Call } from "./call.ts";
import { openCallFiles } from "./name-files.ts";
import type { InjectedRecord } from "../registry/registered-tool.ts";
import type { RedactedStream } from "../../core/redactor.ts";

/** What a tool and its runtime get with a call. When the call is over, nothing in it has an effect any more. */
export class CallContext implements RuntimeContext {
  readonly #call: Call;
  readonly #chunks: Chunks;
  #files: CallFiles | undefined;
  readonly id: string;
  readonly injected: InjectedRecord;

  constructor(call: Call, injected: InjectedRecord, chunks: Chunks) {
    this.#call = call;
    this.#chunks = chunks;
    this.id = call.id;
    this.injected = injected;
    const { meta, code } = call.entry.tool;
    if (meta === true || code.kind === "agent") keepCaller(this.call, call);
  }

  // Fields and no methods: a tool takes out what it needs, and uses it alone. None is set in the constructor: V8 takes a function that
  // is assigned to a property for one that lives long, and does not collect it, nor the call that it sees, with the young.

  readonly progress: RuntimeContext["progress"] = (progress) => {
    const call = this.#call;
    if (call.stopped !== undefined || call.ended) return;
    const { message, ...numbers } = toProgress(progress);
    const shown = message === undefined || isGuarded(call) ? numbers : { message, ...numbers };
    call.emit({ type: "call-progress", call: call.id, progress: shown });
  };

  readonly log: RuntimeContext["log"] = (message, data) => {
    const call = this.#call;
    if (call.stopped !== undefined || call.ended || !call.isHeard() || isGuarded(call)) return;
    call.emit({ type: "call-log", call: call.id, ...toLog(message, data) });
  };

  readonly spend: RuntimeContext["spend"] = (costUsd) => {
    const call = this.#call;
    if (isFinite(costUsd) && costUsd > 0 && !call.ended) call.spend(costUsd);
  };

  readonly chunk: RuntimeContext["chunk"] = (chunk) => this.#chunks.push(chunk);

  readonly onTimeout: RuntimeContext["onTimeout"] = (describe) => (this.#call.describeUntilThen = describe);

  readonly call: RuntimeContext["call"] = (tool: unknown, input?: unknown, options?: InsideOptions) => {
    // Nothing else: what holds for the outer call holds for those inside it.
    const signal = options?.signal;
    const inside = { tool, input, options: signal === undefined ? noOptions : { signal } };
    return this.#call.callInside(inside) as Promise<never>;
  };

  /** Made on first use: most tools do not need it. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** Made on first use, too: each run of the tool has its own. */
  get files(): CallFiles {
    return (this.#files ??= openCallFiles(this.#call));
  }

  /** Made on first use, too. */
  get availableTools(): RuntimeContext["availableTools"] {
    const call = this.#call;
    const { available } = call.host.registry.viewOf(call.holder);
    if (!isLimited(call) && call.user === undefined) return available;
    return () => available().filter((entry) => refuseOutermost(call, entry) === undefined);
  }

  /** The access that an MCP client, or the command line, gives with its call. */
  get caller(): CallerAccess | undefined {
    const call = this.#call;
    const access = call.root.options.injected?.["mcp"] as Partial<InjectedAccess> | undefined;
    if (call.entry.tool.code.kind !== "mcp" || !isAccess(access)) return undefined;
    return {
      can: (what) => access.can(what),
      ask: async (question) => call.holdClocks(async () => (await access.ask({ question }))["question"] ?? {}),
    };
  }

  get user(): string | undefined {
    return this.#call.user;
  }

  get runAgent(): RuntimeContext["runAgent"] {
    return findAgentCaller(this.#call, this);
  }

  get trace(): TraceContext {
    const { trace } = this.#call;
    return trace === undefined ? {} : toTraceContext(trace.tracing.api, trace.inside);
  }

  get state(): ToolState {
    return openToolState(this.#call);
  }

  get skillState(): ToolState {
    return openOwnerState(this.#call);
  }
}

/** What of an access to an MCP client is used here. */
interface InjectedAccess {
  readonly can: CallerAccess["can"];
  ask(questions: Readonly<Record<string, CallerQuestion>>): Promise<Readonly<Record<string, Record<string, unknown>>>>;
}

function isAccess(access: Partial<InjectedAccess> | undefined): access is InjectedAccess {
  return typeof access?.can === "function" && typeof access.ask === "function";
}

/** What a tool says on its way is not told where guards look at what it answers: they do not see it. */
function isGuarded(call: Call): boolean {
  return hasGuardAt(call.host.guards, "tool-output");
}

/** Takes what progress can be, and leaves out the rest: plain JavaScript can give anything. */
function toProgress(given: string | Progress): Progress {
  if (typeof given === "string") return { message: given };
  const { message, done, total } = given ?? {};
  return {
    ...(typeof message === "string" && { message }),
    ...(isFinite(done) && { done }),
    ...(isFinite(total) && { total }),
  };
}

function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}

/** The longest text that is logged, in characters. */
const longestMessage = 10_000;
/** The largest data that is logged. */
const maxDataBytes = 64 * 1024;

function toLog(message: unknown, data: unknown): { readonly message: string; readonly data?: JsonValue } {
  const text = typeof message === "string" ? message : showValue(message);
  const shown = shortenText(text, longestMessage);
  if (data === undefined) return { message: shown };
  const copy = copyJson(data, { maxBytes: maxDataBytes, maxDepth: maxJsonDepth });
  if (copy.ok) return { message: shown, data: copy.value };
  return { message: shown, data: copy.reason === "too-large" ? `more than ${maxDataBytes} bytes` : showValue(data) };
}

/** Opens what the called tool keeps for itself. */
function openToolState(call: Call): ToolState {
  return open(call, scopeOf(call));
}

/** Opens what the called tool shares with the other tools of its owner; one of the workspace itself is alone. */
function openOwnerState(call: Call): ToolState {
  const { source, owner } = call.entry;
  if (source === "global") return openToolState(call);
  return open(call, `owner:${owner}`);
}

/** What the user of the call keeps there. */
function open(call: Call, scope: string): ToolState {
  const { states, users } = call.host;
  return states.open({ scope, owner: users.ownerOf(call.user) }, () => checkRunning(call));
}

/** Names have no ":" and no "/", so no two tools have the same scope. */
function scopeOf({ found: { entry, partOf } }: Call): string {
  if (partOf === undefined) return `tool:${entry.address}`;
  return `part:${partOf.address}/${entry.tool.name}`;
}

function checkRunning({ stopped, ended, address }: Call): void {
  if (stopped !== undefined) throw new KitbagError(stopped.code, stopped.details);
  if (ended) throw new KitbagError("call-cancelled", { tool: address, reason: "the call is over" });
}

/**
 * The pieces of a call's output on their way to those who listen. They are copied, and a secret that is cut between two pieces
 * of text is found as well.
 */
export class Chunks {
  readonly #call: Call;
  #stream: RedactedStream | undefined;
  #bytes = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Hands on a piece.
   *
   * @throws {KitbagError} `output-invalid` if it is no JSON; `output-too-large` if all pieces together are more than is kept.
   */
  push(chunk: JsonValue): void {
    const call = this.#call;
    if (call.stopped !== undefined || call.ended) return;
    const value = this.#copy(chunk);
    if (!call.isHeard() || hasGuardAt(call.host.guards, "tool-output")) return;
    this.#stream ??= call.redactor?.stream();
    if (this.#stream === undefined) return this.#send(value);
    if (typeof value === "string") return this.#send(this.#stream.push(value));
    this.flush();
    this.#send(value);
  }

  /** Sends what is held back. */
  flush(): void {
    if (this.#stream !== undefined) this.#send(this.#stream.flush());
  }

  #send(chunk: JsonValue): void {
    if (chunk !== "") this.#call.emit({ type: "call-chunk", call: this.#call.id, chunk });
  }

  #copy(chunk: unknown): JsonValue {
    const tool = this.#call.address;
    const limitBytes = this.#call.limit("maxKeptBytes");
    const copy = copyJson(chunk, { maxBytes: limitBytes - this.#bytes, maxDepth: maxJsonDepth });
    if (!copy.ok) {
      if (copy.reason === "too-large") throw new KitbagError("output-too-large", { tool, limitBytes });
      throw new KitbagError("output-invalid", { tool, problems: [copy.problem] });
    }
    this.#bytes += copy.bytes;
    return copy.value;
  }
}
