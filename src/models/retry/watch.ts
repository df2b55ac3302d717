import { KitbagError } from "../../core/errors.ts";
import type { Model } from "../model.ts";
import { toError, type ModelClock } from "./model-clock.ts";
import { nameOf } from "./to-model-error.ts";

/** How long a model is waited for, in milliseconds. `Infinity`: as long as it takes. */
export interface TimeLimits {
  /** From the question to the end of the answer, each time it is asked. @default Infinity */
  readonly requestMs: number;
  /** Until something of the answer is there. @default 300_000 */
  readonly firstPartMs: number;
  /** From one part of the answer to the next. @default 300_000 */
  readonly partMs: number;
}

/** Watches one request: what waits for it ends when its time is over, or when the caller aborts, whatever the provider does. */
export interface Watch {
  /** For the provider, so that it stops too. */
  readonly signal: AbortSignal;
  /** Settles as `work` does, or rejects before. */
  during<Value>(work: PromiseLike<Value>): Promise<Value>;
  /** Calls `callback` when the time is over or the caller aborts; at once if it is so already. */
  onStop(callback: (cause: Error) => void): void;
  /** Throws if the time is over or the caller aborted. */
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
  clock: ModelClock,
  outer: AbortSignal | undefined,
): Watch {
  const controller = new AbortController();
  let stopped: Error | undefined;
  let tell: ((cause: Error) => void) | undefined;
  // It is released with the first cause: there is no second one.
  const stop = (cause: Error): void => {
    stopped = cause;
    release();
    tell?.(cause);
    controller.abort(cause);
  };
  const onStop = (callback: (cause: Error) => void): void => {
    tell = callback;
    if (stopped !== undefined) callback(stopped);
  };
  const onAbort = (): void => stop(toError(outer?.reason));
  const onLate = (phase: string, limitMs: number): void => stop(late(model, phase, limitMs));
  const [whole, part] = [startLimit(clock, onLate), startLimit(clock, onLate)];
  const release = (): void => {
    whole.end();
    part.end();
    outer?.removeEventListener("abort", onAbort);
  };

  whole.set("request", requestMs);
  if (outer?.aborted === true) onAbort();
  else outer?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    during: (work) =>
      new Promise((resolve, fail) => {
        onStop(fail);
        work.then(resolve, fail);
      }),
    onStop,
    check() {
      if (stopped !== undefined) throw stopped;
    },
    expect: (phase, limitMs) => part.set(phase, limitMs),
    arrive: () => part.pause(),
    end: release,
    abandon() {
      release();
      controller.abort();
    },
  };
}

function late(model: Model, phase: string, limitMs: number): KitbagError {
  return new KitbagError("model-timeout", { model: nameOf(model), phase, limitMs });
}

interface Limit {
  set(phase: string, limitMs: number): void;
  pause(): void;
  end(): void;
}

/** A limit that is moved on with every part: one timer is enough, which looks whether it was moved when it goes off. */
function startLimit(clock: ModelClock, onLate: (phase: string, limitMs: number) => void): Limit {
  let cancel: (() => void) | undefined;
  let phase = "";
  let limitMs = Infinity;
  let deadline = Infinity;
  let firesAt = Infinity;
  const fire = (): void => {
    cancel = undefined;
    firesAt = Infinity;
    const restMs = deadline - clock.elapsed();
    if (restMs <= 0) onLate(phase, limitMs);
    else if (deadline !== Infinity) arm(restMs);
  };
  const arm = (ms: number): void => {
    cancel?.();
    // A timer of Node holds 2^31 - 1 ms; when it goes off too early, it is set again.
    const some = Math.min(ms, 2 ** 31 - 1);
    firesAt = clock.elapsed() + some;
    cancel = clock.after(some, fire);
  };
  return {
    set(name, ms) {
      phase = name;
      limitMs = ms;
      deadline = clock.elapsed() + ms;
      if (deadline < firesAt) arm(ms);
    },
    pause() {
      deadline = Infinity;
    },
    end() {
      cancel?.();
      cancel = undefined;
      deadline = Infinity;
    },
  };
}
