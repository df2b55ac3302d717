/** What is needed of a socket to see whether it is alive. */
export interface WatchedSocket {
  readonly bytesRead: number;
  readonly bytesWritten: number;
  destroy(): void;
}

/** Looks after a connection on which answers are expected. */
export interface Watch {
  /** Waits for an answer, and breaks the connection if nothing moves on it for too long. */
  expect<Answer>(answer: Promise<Answer>): Promise<Answer>;
  /** Why the connection was broken, if it was. */
  lostBecause(): Error | undefined;
}

/** How often in its patience a watch looks: a silence is noticed late by one of these parts at the most. */
const looksPerTimeout = 5;

/**
 * Makes the watch over a connection. A large answer may take as long as it needs, as long as bytes come or go: only silence is
 * cut off, so a server that has gone without a word is noticed.
 */
export function createWatch(socket: WatchedSocket, timeoutMs: number): Watch {
  let expected = 0;
  let timer: NodeJS.Timeout | undefined;
  let silentLooks = 0;
  let moved = 0;
  let lost: Error | undefined;

  function look(): void {
    const now = socket.bytesRead + socket.bytesWritten;
    silentLooks = now === moved ? silentLooks + 1 : 0;
    moved = now;
    if (silentLooks < looksPerTimeout) return;
    lost = new Error(`it has not answered for ${timeoutMs} ms`);
    socket.destroy();
  }

  function start(): void {
    expected += 1;
    if (expected > 1) return;
    silentLooks = 0;
    moved = socket.bytesRead + socket.bytesWritten;
    timer = setInterval(look, timeoutMs / looksPerTimeout);
  }

  return {
    async expect(answer) {
      start();
      try {
        return await answer;
      } finally {
        expected -= 1;
        silentLooks = 0;
        if (expected === 0) clearInterval(timer);
      }
    },
    lostBecause: () => lost,
  };
}
