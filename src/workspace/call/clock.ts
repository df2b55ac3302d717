import { longestTimerMs } from "../../core/async.ts";

/** How long something may still take. It can be held: then no time passes. */
export class Clock {
  readonly #onTime: () => void;
  #deadlineAt: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWatched = false;
  #holds = 0;
  #remainingMs = 0;

  /** Starts the clock. `onTime` is called at the deadline, but only if it is watched for. */
  constructor(limitMs: number, onTime: () => void) {
    this.#deadlineAt = performance.now() + limitMs;
    this.#onTime = onTime;
  }

  isOver(): boolean {
    return performance.now() >= this.#deadlineAt;
  }

  /** How long until the deadline, as far as one knows. */
  leftMs(): number {
    return this.#deadlineAt - performance.now();
  }

  /** Makes sure that the deadline is noticed when it comes. Work that does not wait for anything needs no timer. */
  watch(): void {
    this.#isWatched = true;
    if (this.#timer !== undefined || this.#deadlineAt === Number.POSITIVE_INFINITY) return;
    const remainingMs = Math.min(Math.max(0, this.#deadlineAt - performance.now()), longestTimerMs);
    this.#timer = setTimeout(() => this.#look(), remainingMs);
  }

  hold(): void {
    if (this.#holds === 0) {
      this.#remainingMs = this.#deadlineAt - performance.now();
      this.#deadlineAt = Number.POSITIVE_INFINITY;
      this.#clear();
    }
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    this.#deadlineAt = performance.now() + this.#remainingMs;
    if (this.#isWatched) this.watch();
  }

  /** Nothing is noticed any more. */
  end(): void {
    this.#isWatched = false;
    this.#clear();
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    this.#timer = undefined;
    if (this.isOver()) this.#onTime();
    else this.watch();
  }
}
