import type { Terminal } from "../terminal.ts";

/** What takes less time needs no progress. */
const quietMs = 300;
const pauseMs = 100;

/** Makes a function that counts, and shows how far it has come: on a terminal only, and only if it takes a while. */
export function createCounter(verb: string, terminal: Pick<Terminal, "showStatus">): () => void {
  let count = 0;
  let next = performance.now() + quietMs;
  return () => {
    count += 1;
    if (performance.now() < next) return;
    next = performance.now() + pauseMs;
    terminal.showStatus(`${verb} ${count} lines`);
  };
}
