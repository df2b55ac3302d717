/** How {@link runGraph} works through a graph. */
export interface GraphOptions {
  /** How many may run at once. */
  readonly maxConcurrent: number;
  readonly signal: AbortSignal;
}

/**
 * Runs every node once, as soon as all that it depends on has run. `dependsOn` holds for each node the nodes before it, and must
 * have no cycle.
 *
 * **Contract**: the first failure rejects at once, and nothing more is started; neither is anything after an abort.
 */
export async function runGraph(
  dependsOn: readonly (readonly number[])[],
  { maxConcurrent, signal }: GraphOptions,
  run: (node: number) => Promise<void>,
): Promise<void> {
  const waitsFor = dependsOn.map((nodes) => new Set(nodes));
  const ready = waitsFor.flatMap((nodes, node) => (nodes.size === 0 ? [node] : []));
  const running = new Map<number, Promise<number>>();
  for (;;) {
    while (ready.length > 0 && running.size < maxConcurrent) {
      signal.throwIfAborted();
      const node = ready.shift() ?? 0;
      const result = run(node).then(() => node);
      // It is looked at below; if another one fails or an abort comes first, nobody does.
      result.catch(() => {});
      running.set(node, result);
    }
    if (running.size === 0) return;
    const done = await Promise.race(running.values());
    running.delete(done);
    for (const [node, nodes] of waitsFor.entries()) {
      if (nodes.delete(done) && nodes.size === 0) ready.push(node);
    }
  }
}
