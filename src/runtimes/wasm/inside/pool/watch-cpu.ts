import type { Slot } from "./slot.ts";

const everyMs = 50;

/**
 * Watches the CPU time of workers while calls run, and tells which one has used more than `limitMs` for its call. A call is seen
 * first up to 50 ms after it began, so it can use that much more. Call the answer when a call begins.
 */
export function watchCpu(slots: ReadonlySet<Slot>, limitMs: number, exceeded: (slot: Slot) => void): () => void {
  const seen = new WeakMap<Slot, { readonly id: number; readonly ms: number }>();
  let timer: NodeJS.Timeout | undefined;

  async function look(slot: Slot, id: number): Promise<void> {
    const { user, system } = await slot.worker.cpuUsage();
    if (slot.job?.id !== id) return;
    const ms = (user + system) / 1000;
    const first = seen.get(slot);
    if (first?.id !== id) seen.set(slot, { id, ms });
    else if (ms - first.ms > limitMs) exceeded(slot);
  }

  function lookAtAll(): void {
    const busy = [...slots].filter(({ job }) => job !== undefined);
    if (busy.length === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    // A worker that ends meanwhile has no CPU time any more.
    for (const slot of busy) if (slot.job !== undefined) look(slot, slot.job.id).catch(() => {});
  }

  return () => {
    timer ??= setInterval(lookAtAll, everyMs);
  };
}
