import { KitbagError, toFailure, type ErrorCode, type ErrorDetails, type Failure } from "../../core/errors.ts";
import type { CallEvent } from "../../core/events.ts";
import { cloneJson, copyJson, maxJsonDepth, type JsonCopy, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Coercion } from "../../core/schema/coerce.ts";
import type { Tool } from "../../core/tool.ts";
import type { Entry, Resolution } from "../registry.ts";
import type { WorkspaceLimits } from "../limits.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallRequest } from "./call-request.ts";
import type { CallHost } from "./host.ts";
import type { PublicCall } from "./middleware.ts";

/** One use of a tool, while it lasts: what the phases know of it and share. */
export class Call implements PublicCall {
  readonly id: string;
  readonly host: CallHost;
  readonly options: CallOptions;
  readonly parent: Call | undefined;
  readonly root: Call;
  readonly depth: number;
  readonly resolution: Resolution;
  readonly startedAt: number;
  /** The caller's input, copied, so that what is checked is what runs. */
  copy: JsonCopy;
  /** Set by `check-input`. */
  checked: JsonValue | undefined;
  /** What the author's schema library made of the input. */
  refined: unknown;
  coerced: readonly Coercion[] = [];
  /** When the call must be over, set by `admit`. */
  deadlineAt = Number.POSITIVE_INFINITY;
  limitMs = Number.POSITIVE_INFINITY;
  /** Of the output, as JSON; set by `check-output`. */
  outputBytes = 0;
  /** How many calls this one and those inside it have made; counted at the root. */
  callsMade = 0;
  redactor: Redactor | undefined;
  /** Why the call must stop, once it must. */
  stopped: Failure | undefined;
  readonly #callInside: CallStartParts["callInside"];
  #controller: AbortController | undefined;
  #children: Set<Call> | undefined;
  #onStop: Set<(failure: Failure) => void> | undefined;

  constructor(host: CallHost, resolution: Resolution, start: CallStartParts) {
    this.id = host.nextId();
    this.host = host;
    this.resolution = resolution;
    this.options = start.request.options;
    this.#callInside = start.callInside;
    this.parent = start.parent;
    this.root = start.parent?.root ?? this;
    this.depth = start.parent === undefined ? 0 : start.parent.depth + 1;
    this.redactor = start.parent?.redactor ?? host.redactor;
    this.startedAt = performance.now();
    this.copy = this.#copyInput(start.request.input);
    start.parent?.adopt(this);
  }

  get entry(): Entry | undefined {
    return this.resolution.ok ? this.resolution.entry : undefined;
  }

  get tool(): Tool | undefined {
    return this.entry?.tool;
  }

  get address(): string {
    return this.resolution.ok ? this.resolution.entry.address : this.resolution.requested;
  }

  get input(): unknown {
    if (this.checked !== undefined) return this.checked;
    return this.copy.ok ? this.copy.value : undefined;
  }

  get parentId(): string | undefined {
    return this.parent?.id;
  }

  get user(): string | undefined {
    return this.root.options.user;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.stopped !== undefined) this.#controller.abort(toReason(this.stopped));
    }
    return this.#controller.signal;
  }

  limit(name: keyof WorkspaceLimits): number {
    return this.host.limits[name];
  }

  setInput(input: unknown): void {
    if (this.checked !== undefined) {
      throw new KitbagError("middleware-failed", {
        tool: this.address,
        reason: 'the input was already checked; put the middleware before "check-input"',
      });
    }
    this.copy = this.#copyInput(input);
    this.emit({ type: "input-replaced", call: this.id, input: this.copy.ok ? cloneJson(this.copy.value) : null });
  }

  /** Makes a call inside this one. */
  callInside(request: CallRequest): Promise<ToolOutcome> {
    return this.#callInside(request, this);
  }

  /** Makes a failed outcome. */
  fail<Code extends ErrorCode>(code: Code, details: ErrorDetails[Code]): FailedOutcome {
    return { status: "failed", error: toFailure(code, details) };
  }

  /** Tells an event to whoever listens to this call, to those around it, or to the workspace. Secrets are taken out. */
  emit(event: CallEvent): void {
    if (!this.isHeard()) return;
    const shown = this.show(event);
    this.host.tell(shown);
    for (let call: Call | undefined = this; call !== undefined; call = call.parent) {
      if (call.options.onEvent !== undefined) this.host.tellOne(call.options.onEvent, shown);
    }
  }

  /** An event without the secrets. */
  show(event: CallEvent): CallEvent {
    if (this.redactor === undefined) return event;
    // The words that make it an event stay, whatever the secrets are.
    return { ...this.redactor.value(event), type: event.type, call: event.call } as CallEvent;
  }

  isHeard(): boolean {
    if (this.host.isHeard()) return true;
    for (let call: Call | undefined = this; call !== undefined; call = call.parent) {
      if (call.options.onEvent !== undefined) return true;
    }
    return false;
  }

  /** Makes the call stop, and all calls inside it. Only the first reason counts. */
  stop(failure: Failure): void {
    if (this.stopped !== undefined) return;
    this.stopped = failure;
    for (const child of this.#children ?? [])
      child.stop(toFailure("call-cancelled", cancelledBy(child, this, failure)));
    this.#controller?.abort(toReason(failure));
    for (const listener of this.#onStop ?? []) listener(failure);
  }

  /** Calls `listener` when the call must stop; answers with the function that ends it. */
  onStop(listener: (failure: Failure) => void): () => void {
    this.#onStop ??= new Set();
    const listeners = this.#onStop.add(listener);
    return () => void listeners.delete(listener);
  }

  adopt(child: Call): void {
    this.#children ??= new Set();
    this.#children.add(child);
    if (this.stopped !== undefined) child.stop(toFailure("call-cancelled", cancelledBy(child, this, this.stopped)));
  }

  /** Lets go of what outlives the call otherwise. */
  end(): void {
    this.parent?.release(this);
    if (this.#children === undefined) return;
    const failure = toFailure("call-cancelled", { tool: this.address, reason: "the call that made it is over" });
    for (const child of this.#children) child.stop(failure);
  }

  release(child: Call): void {
    this.#children?.delete(child);
  }

  /** The addresses from the outermost call to this one. */
  chain(): string[] {
    return [...(this.parent?.chain() ?? []), this.address];
  }

  #copyInput(input: unknown): JsonCopy {
    return copyJson(input ?? {}, { maxBytes: this.host.limits.maxInputBytes, maxDepth: maxJsonDepth });
  }
}

/** What a call begins with. */
export interface CallStartParts {
  readonly request: CallRequest;
  readonly parent: Call | undefined;
  /** Makes a call inside another. */
  readonly callInside: (request: CallRequest, parent: Call) => Promise<ToolOutcome>;
}

function cancelledBy(child: Call, parent: Call, failure: Failure): ErrorDetails["call-cancelled"] {
  return { tool: child.address, reason: `${parent.address} ended: ${failure.code}` };
}

function toReason(failure: Failure): KitbagError {
  return new KitbagError(failure.code, failure.details as never);
}
