import {
  KitbagError,
  toFailure,
  type ErrorCode,
  type ErrorDetails,
  type Failure,
  type UntilThen,
} from "../../core/errors.ts";
import type { NamedFile, WrittenFile } from "../../core/call-files.ts";
import type { CallEvent } from "../../core/events.ts";
import { cloneJson, copyJson, maxJsonDepth, type JsonCopy, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { withLoadedSecrets } from "../../core/loaded-secrets.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Coercion } from "../../core/schema/coerce.ts";
import type { Tool } from "../../core/tool.ts";
import { isHostCode, type Entry, type Found, type Resolution, type Holder } from "../registry/registered-tool.ts";
import type { WorkspaceLimits } from "../options/limits.ts";
import { tellOne } from "../listeners.ts";
import type { CallTrace } from "../telemetry/tracing.ts";
import type { CallOptions, CallRequest } from "./call-options.ts";
import { Clock } from "./clock.ts";
import type { CallHost } from "./host.ts";
import type { PublicCall } from "./middleware.ts";

const nothingCoerced: readonly Coercion[] = [];
const nothingGiven: ReadonlySet<string> = new Set();
const nothingNamed: readonly NamedFile[] = [];
const nothingWritten: readonly WrittenFile[] = [];

/** One use of a tool, while it lasts: what the phases know of it and share. */
export class Call implements PublicCall {
  readonly id: string;
  readonly host: CallHost;
  readonly options: CallOptions;
  readonly parent: Call | undefined;
  readonly root: Call;
  readonly depth: number;
  /** Whether code that is not the host program's is among the calls around it. */
  readonly isBelowCode: boolean;
  /** Whom it is made for: what they have open is available. */
  readonly holder: Holder;
  readonly resolution: Resolution;
  readonly startedAt: number;
  /** The caller's input, copied, so that what is checked is what runs. */
  copy: JsonCopy;
  /** Set by `check-input`. */
  checked: JsonValue | undefined;
  /** What the author's schema library made of the input. */
  refined: unknown;
  coerced: readonly Coercion[] = nothingCoerced;
  /** The parameters that the caller set: the others have the author's defaults. */
  given: ReadonlySet<string> = nothingGiven;
  /** The files that the input names, as far as the tool may have them; set by `files`. */
  named: readonly NamedFile[] = nothingNamed;
  /** What the tool wrote in its last run. */
  written: readonly WrittenFile[] = nothingWritten;
  /** The tool's last run, if it takes a while; it may go on for a moment when the call must stop. */
  running: PromiseLike<unknown> | undefined;
  /** Why a guard wants a person to be asked. */
  question: string | undefined;
  /** Of the output, as JSON; set by `check-output`. */
  outputBytes = 0;
  /** How the records show an outcome whose output is too large for them; set by `cap`. */
  recorded: ToolOutcome | undefined;
  /** Whether `check-input` has begun: it is too late for another input. */
  inputTaken = false;
  /** Whether the tool's code was reached. */
  ran = false;
  /** How often the tool was tried. */
  attempts = 1;
  /** How long it waited for a place and for limits. */
  queuedMs = 0;
  /** What the tool says that it cost. */
  costUsd = 0;
  /** How many calls this one and those inside it have asked for; counted at the root. */
  callsMade = 0;
  /** Knows the secrets of the workspace, and the values that were injected. */
  ownRedactor: Redactor | undefined;
  /** Where in a trace it is, if spans are wanted. */
  trace: CallTrace | undefined;
  /** Why the call must stop, once it must. */
  stopped: Failure | undefined;
  /** Says what the tool has said and done so far. */
  describeUntilThen: (() => UntilThen) | undefined;
  /** Whether the outcome is there: nothing can happen inside the call any more. */
  ended = false;
  readonly #callInside: CallStartParts["callInside"];
  #clock: Clock | undefined;
  #controller: AbortController | undefined;
  #children: Set<Call> | undefined;
  #onStop: ((failure: Failure) => void) | undefined;
  #onChildless: (() => void) | undefined;

  constructor(host: CallHost, resolution: Resolution, start: CallStartParts) {
    const { parent, request } = start;
    this.id = host.nextId();
    this.host = host;
    this.resolution = resolution;
    this.options = request.options;
    this.#callInside = start.callInside;
    this.parent = parent;
    this.root = parent === undefined ? this : parent.root;
    this.holder = start.holder;
    this.depth = parent === undefined ? 0 : parent.depth + 1;
    this.isBelowCode = parent !== undefined && (parent.isBelowCode || !isHostCode(parent.entry));
    this.ownRedactor = parent?.host === host ? parent.ownRedactor : host.redactor;
    this.startedAt = performance.now();
    this.copy = this.copyInput(request.input ?? {});
    parent?.adopt(this);
  }

  /** What was found under the address. Only behind `resolve`, which lets nothing else through. */
  get found(): Found {
    return this.resolution as Found;
  }

  /** Only behind `resolve`. */
  get entry(): Entry {
    return this.found.entry;
  }

  get tool(): Tool | undefined {
    return this.resolution.ok ? this.resolution.entry.tool : undefined;
  }

  get address(): string {
    return this.resolution.ok ? this.resolution.entry.address : this.resolution.requested;
  }

  /** A copy, so that what was checked and approved cannot be changed. */
  get input(): unknown {
    if (this.checked !== undefined) return cloneJson(this.checked);
    return this.copy.ok ? cloneJson(this.copy.value) : undefined;
  }

  get parentId(): string | undefined {
    return this.parent?.id;
  }

  get user(): string | undefined {
    return this.root.options.user;
  }

  /** Takes secrets out of whatever is shown of the call. Looked up each time: more are loaded while calls run. */
  get redactor(): Redactor | undefined {
    return withLoadedSecrets(this.ownRedactor);
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

  /** How long it may take. Only behind `resolve`. */
  get limitMs(): number {
    return this.options.limitMs ?? this.entry.tool.limits.limitMs ?? this.limit("limitMs");
  }

  setInput(input: unknown): void {
    if (this.inputTaken || this.ended) {
      throw new KitbagError("middleware-failed", {
        tool: this.address,
        reason: 'the input was already checked; put the middleware before "check-input"',
      });
    }
    this.copy = this.copyInput(input ?? {});
    this.emit({ type: "input-replaced", call: this.id, input: this.copy.ok ? cloneJson(this.copy.value) : null });
  }

  copyInput(input: unknown): JsonCopy {
    return copyJson(input, { maxBytes: this.host.limits.maxInputBytes, maxDepth: maxJsonDepth });
  }

  /** Notes that the tool has paid so much. */
  spend(costUsd: number): void {
    this.costUsd += costUsd;
    this.host.paidTools.add(this.entry.tool);
    this.tellSpent(costUsd);
  }

  /** Tells the nearest caller that wants to know what tools pay. */
  tellSpent(costUsd: number): void {
    const { onSpend } = this.options;
    if (onSpend === undefined) this.parent?.tellSpent(costUsd);
    else tellOne(onSpend, costUsd);
  }

  /** Makes a call inside this one. */
  callInside(request: CallRequest): Promise<ToolOutcome> {
    return this.#callInside(request, this);
  }

  /** Makes a failed outcome. */
  fail<Code extends ErrorCode>(code: Code, details: ErrorDetails[Code]): FailedOutcome {
    return { status: "failed", error: toFailure(code, details) };
  }

  /** Tells an event to the listeners of this call, of those around it, and of the workspace. Secrets are taken out. */
  emit(event: CallEvent): void {
    if (this.isHeard()) this.tell(this.show(event));
  }

  /** Tells an event that can be shown. */
  tell(event: CallEvent): void {
    this.host.tell(event);
    this.tellOwn(event);
  }

  /** Tells those who listen to this call or to one around it. */
  tellOwn(event: CallEvent): void {
    if (this.options.onEvent !== undefined) tellOne(this.options.onEvent, event);
    this.parent?.tellOwn(event);
  }

  /** An event without the secrets. */
  show(event: CallEvent): CallEvent {
    const { redactor } = this;
    if (redactor === undefined) return event;
    // The words and numbers that make it an event stay, whatever the secrets are.
    const frame = { type: event.type, call: event.call, ...pickNumbers(event) };
    return { ...redactor.value(event), ...frame } as CallEvent;
  }

  isHeard(): boolean {
    return this.host.isHeard() || this.options.onEvent !== undefined || this.parent?.isHeard() === true;
  }

  /** Gives the call its time: at the deadline it must stop. */
  startClock(): void {
    this.#clock = new Clock(this.limitMs, () => this.#timeOut());
  }

  /** How long it may still take. Only between `startClock` and `endClock`. */
  get leftMs(): number {
    return (this.#clock as Clock).leftMs();
  }

  endClock(): void {
    this.#clock?.end();
    this.#clock = undefined;
  }

  /** Stops the call if its time is over and no timer has fired, because the tool blocked the process. */
  checkClock(): void {
    if (this.#clock?.isOver() === true) this.#timeOut();
  }

  #timeOut(): void {
    const untilThen = this.describeUntilThen?.();
    const details = { tool: this.address, limitMs: this.limitMs, ...(untilThen && { untilThen }) };
    this.stop(toFailure("call-timeout", details));
  }

  /** While a person is asked, no time passes for this call and those around it. */
  async holdClocks<Value>(wait: () => Promise<Value>): Promise<Value> {
    // A call that has just ended has no clock any more.
    const clocks = [this.#clock];
    for (let call = this.parent; call !== undefined; call = call.parent) clocks.push(call.#clock);
    for (const clock of clocks) clock?.hold();
    try {
      return await wait();
    } finally {
      for (const clock of clocks) clock?.release();
    }
  }

  /** Makes the call stop, and all calls inside it. Only the first reason counts. */
  stop(failure: Failure): void {
    if (this.stopped !== undefined || this.ended) return;
    this.stopped = failure;
    for (const child of this.#children ?? []) child.stop(cancelledBy(child, `${this.address} ended: ${failure.code}`));
    this.#controller?.abort(toReason(failure));
    this.#onStop?.(failure);
  }

  /** Whom to tell that the call must stop. A call waits for one thing at a time, so there is one listener at the most. */
  onStop(listener: ((failure: Failure) => void) | undefined): void {
    this.#onStop = listener;
    if (listener !== undefined) this.#clock?.watch();
  }

  adopt(child: Call): void {
    this.#children ??= new Set();
    this.#children.add(child);
    if (this.stopped !== undefined) child.stop(cancelledBy(child, `${this.address} ended: ${this.stopped.code}`));
  }

  release(child: Call): void {
    this.#children?.delete(child);
    if (this.#children?.size === 0) this.#onChildless?.();
  }

  /** Ends the calls inside this one that are still running; answers when they are over, if there are any. No more can begin. */
  end(): Promise<void> | undefined {
    this.ended = true;
    const children = this.#children;
    if (children === undefined || children.size === 0) return undefined;
    const over = new Promise<void>((resolve) => {
      this.#onChildless = resolve;
    });
    for (const child of children) child.stop(cancelledBy(child, "the call that made it is over"));
    return over;
  }

  /** How often the tool at `address` is in the chain from the outermost call to this one. */
  timesOf(address: string): number {
    return (this.address === address ? 1 : 0) + (this.parent?.timesOf(address) ?? 0);
  }

  /** The addresses from the outermost call to this one. */
  chain(): string[] {
    return [...(this.parent?.chain() ?? []), this.address];
  }
}

/** What a call begins with. */
export interface CallStartParts {
  readonly request: CallRequest;
  readonly parent: Call | undefined;
  /** Whom it is made for. */
  readonly holder: Holder;
  /** Makes a call inside another. */
  readonly callInside: (request: CallRequest, parent: Call) => Promise<ToolOutcome>;
}

function pickNumbers(event: CallEvent): object {
  return Object.fromEntries(Object.entries(event).filter(([, value]) => typeof value === "number"));
}

function cancelledBy(child: Call, reason: string): Failure {
  return toFailure("call-cancelled", { tool: child.address, reason });
}

function toReason(failure: Failure): KitbagError {
  return new KitbagError(failure.code, failure.details);
}
