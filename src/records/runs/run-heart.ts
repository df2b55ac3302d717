import { describeCause, isKitbagError } from "../../core/errors.ts";
import type { RunClock, RunTimer } from "./run-clock.ts";
import type { Journal } from "./run-journal.ts";
import type { Lease } from "./run-lease.ts";

/** How long a lease lasts, and by which clock. */
export interface HeartOptions {
  readonly leaseMs: number;
  readonly clock: RunClock;
}

/** Prolongs the lease three times in its time, until it is lost or cancelled. */
export function startHeart({ leaseMs, clock }: HeartOptions, lease: Lease, journal: Journal): { cancel(): void } {
  let isBeating = true;
  let renewedAt = clock.elapsed();
  let timer: RunTimer;

  async function beat(): Promise<void> {
    const startedAt = clock.elapsed();
    // A store that does not answer at all must not keep a lease alive.
    const patience = clock.after((leaseMs * 2) / 3, () => journal.fence(`the store did not answer for ${leaseMs} ms`));
    patience.unref();
    try {
      if ((await lease.renew()) === "doubtful") await journal.append([]);
      renewedAt = startedAt;
    } catch (cause) {
      if (isKitbagError(cause, "run-leased")) {
        journal.fence(`the worker ${JSON.stringify(cause.details.worker)} has taken it over`);
      } else if (clock.elapsed() - renewedAt >= leaseMs) {
        journal.fence(`it could not be renewed for ${leaseMs} ms (${describeCause(cause)})`);
      }
    }
    patience.cancel();
    if (isBeating) schedule();
  }

  function schedule(): void {
    timer = clock.after(leaseMs / 3, () => void beat());
    timer.unref();
  }

  schedule();
  return {
    cancel() {
      isBeating = false;
      timer.cancel();
    },
  };
}
