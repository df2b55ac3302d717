/** What is needed of a connection to see whether it is alive. */
export interface WatchedSocket {
  /** How many bytes have come so far; always the same if nobody knows. */
  readonly bytesRead: number;
  destroy(): void;
}

/** Looks after a connection on which answers are expected. */
export interface Watch {
  /** Waits for an answer, and breaks the connection if it is silent for too long. `bytes` is the length of what was asked. */
  expect<Answer>(answer: Promise<Answer>, bytes?: number): Promise<Answer>;
  /** Why the connection was broken, if it was. */
  lostBecause(): Error | undefined;
}

/** How often in its patience a watch looks: a silence is noticed late by one of these parts at the most. */
const looksPerTimeout = 5;

/** A question of this length is given as much time again: it has to get there before it can be answered. */
const bytesPerTimeout = 1024 * 1024;

/**
 * Makes the watch over a connection. A large answer may take as long as it needs, as long as bytes come: only silence is cut off,
 * so a server that has gone without a word is noticed, and one that is slow is not taken for it.
 */
export function createWatch(socket: WatchedSocket, timeoutMs: number): Watch {
  let expected = 0;
  let expectedBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let silentLooks = 0;
  let bytesRead = 0;
  let lost: Error | undefined;

  function look(): void {
    silentLooks = socket.bytesRead === bytesRead ? silentLooks + 1 : 0;
    ({ bytesRead } = socket);
    if (silentLooks < looksPerTimeout * (1 + expectedBytes / bytesPerTimeout)) return;
    lost = new Error(`it has not answered for ${timeoutMs} ms`);
    socket.destroy();
  }

  function start(): void {
    expected += 1;
    if (expected > 1) return;
    silentLooks = 0;
    ({ bytesRead } = socket);
    timer = setInterval(look, timeoutMs / looksPerTimeout);
  }

  return {
    async expect(answer, bytes = 0) {
      start();
      expectedBytes += bytes;
      try {
        return await answer;
      } finally {
        expectedBytes -= bytes;
        expected -= 1;
        silentLooks = 0;
        if (expected === 0) clearInterval(timer);
      }
    },
    lostBecause: () => lost,
  };
}
