import type { Terminal } from "../terminal.ts";

/** What takes less time needs no progress. */
const quietMs = 300;
const pauseMs = 100;

/** Makes a function that shows how far reading skills has come: on a terminal only, and only if it takes a while. */
export function createProgress(
  terminal: Pick<Terminal, "showStatus">,
  now: () => number = () => performance.now(),
): (done: number, total: number) => void {
  let next = now() + quietMs;
  return (done, total) => {
    if (now() < next) return;
    next = now() + pauseMs;
    terminal.showStatus(`Reading skills: ${Math.floor((done / total) * 100)} % of ${Math.ceil(total / 2)}`);
  };
}
