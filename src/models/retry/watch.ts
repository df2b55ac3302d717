import { KitbagError } from "../../core/errors.ts";
import type { Model } from "../model.ts";
import { toAbortError, type Clock } from "../../platform/clock.ts";
import type { TimeLimits } from "./time-limits.ts";
import { nameOf } from "./to-model-error.ts";

/** Watches one request: waiting for it ends on timeout, or when the caller aborts, whatever the provider does. */
export interface Watch {
  /** For the provider, so that it stops too. */
  readonly signal: AbortSignal;
  /** Settles as `work` does, or rejects before. */
  during<Value>(work: PromiseLike<Value>): Promise<Value>;
  /** Calls `callback` on timeout or abort; at once if that has already happened. */
  onStop(callback: (cause: Error) => void): void;
  /** Throws after a timeout or an abort. */
  check(): void;
  /** Gives the next wait this much time; what it waits for is called `phase`. */
  expect(phase: string, limitMs: number): void;
  /** It came: as long as nothing is expected, no time passes. */
  arrive(): void;
  /** Ends it: there are no limits any more. */
  end(): void;
  /** Ends it, and tells the provider to stop. */
  abandon(): void;
}

/** Starts to watch a request. It must be ended. */
export function startWatch(
  model: Model,
  { requestMs }: Pick<TimeLimits, "requestMs">,
  clock: Clock,
  outer: AbortSignal | undefined,
): Watch {
  const watch = new RequestWatch(model, clock, outer);
  watch.start(requestMs);
  return watch;
}

/** There is one for each question: a class, so that its methods are not made each time. */
class RequestWatch implements Watch {
  readonly #model: Model;
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  /** A function: what listens as an object is held, with the whole answer, until the old generation is collected. */
  readonly #onAbort = (): void => this.#stop(toAbortError(this.#outer?.reason));
  readonly #clock: Clock;
  /** Of the whole request; most have none. */
  #whole: Limit | undefined;
  readonly #part: Limit;
  #stopped: Error | undefined;
  #tell: ((cause: Error) => void) | undefined;

  constructor(model: Model, clock: Clock, outer: AbortSignal | undefined) {
    this.#model = model;
    this.#clock = clock;
    this.#outer = outer;
    this.#part = new Limit(clock, this);
  }

  start(requestMs: number): void {
    if (requestMs !== Infinity) {
      this.#whole = new Limit(this.#clock, this);
      this.#whole.set("request", requestMs);
    }
    const outer = this.#outer;
    if (outer?.aborted === true) this.#onAbort();
    else outer?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  during<Value>(work: PromiseLike<Value>): Promise<Value> {
    return new Promise((resolve, fail) => {
      this.onStop(fail);
      work.then(resolve, fail);
    });
  }

  onStop(callback: (cause: Error) => void): void {
    this.#tell = callback;
    if (this.#stopped !== undefined) callback(this.#stopped);
  }

  check(): void {
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  expect(phase: string, limitMs: number): void {
    this.#part.set(phase, limitMs);
  }

  arrive(): void {
    this.#part.pause();
  }

  end(): void {
    this.#whole?.end();
    this.#part.end();
    this.#outer?.removeEventListener("abort", this.#onAbort);
  }

  abandon(): void {
    this.end();
    this.#controller.abort();
  }

  onLate(phase: string, limitMs: number): void {
    this.#stop(late(this.#model, phase, limitMs));
  }

  /** It is ended with the first cause: there is no second one. */
  #stop(cause: Error): void {
    this.#stopped = cause;
    this.end();
    this.#tell?.(cause);
    this.#controller.abort(cause);
  }
}

function late(model: Model, phase: string, limitMs: number): KitbagError {
  return new KitbagError("model-timeout", { model: nameOf(model), phase, limitMs });
}

/** A limit that is moved on with every part: one timer is enough, which looks whether it was moved when it goes off. */
class Limit {
  readonly #clock: Clock;
  readonly #watch: { onLate(phase: string, limitMs: number): void };
  #cancel: (() => void) | undefined;
  #phase = "";
  #limitMs = Infinity;
  #deadline = Infinity;
  #firesAt = Infinity;

  constructor(clock: Clock, watch: { onLate(phase: string, limitMs: number): void }) {
    this.#clock = clock;
    this.#watch = watch;
  }

  set(phase: string, limitMs: number): void {
    this.#phase = phase;
    this.#limitMs = limitMs;
    this.#deadline = this.#clock.elapsed() + limitMs;
    if (this.#deadline < this.#firesAt) this.#arm(limitMs);
  }

  pause(): void {
    this.#deadline = Infinity;
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#deadline = Infinity;
  }

  #arm(ms: number): void {
    this.#cancel?.();
    // A timer of Node holds 2^31 - 1 ms; when it goes off too early, it is set again.
    const some = Math.min(ms, 2 ** 31 - 1);
    this.#firesAt = this.#clock.elapsed() + some;
    this.#cancel = this.#clock.after(some, () => this.#fire());
  }

  #fire(): void {
    this.#cancel = undefined;
    this.#firesAt = Infinity;
    const restMs = this.#deadline - this.#clock.elapsed();
    if (restMs <= 0) this.#watch.onLate(this.#phase, this.#limitMs);
    else if (this.#deadline !== Infinity) this.#arm(restMs);
  }
}
