import type { CallEvent, Progress } from "../../../core/events.ts";
import { toText } from "../tools/to-call-result.ts";
import type { CallContext } from "./pausable-call.ts";

/** The longest text in one notification; what is beyond is cut. */
const longestMessage = 64 * 1024;

/** The maximum number of pieces that wait to be sent. When there are more, the oldest progress notice is dropped first. */
const mostWaiting = 256;

/** What tells a client how a call goes on, while it runs. */
export interface CallNotices {
  /** Gets the events of the call. */
  readonly onEvent: (event: CallEvent) => void;
  /** Resolves when all that was said has been handed to the client. Never rejects. */
  flush(): Promise<void>;
}

interface Piece {
  readonly send: (context: CallContext) => Promise<void>;
  /** A newer one says the same and more. */
  readonly isPassing: boolean;
}

/**
 * Makes what sends progress, partial output and logs of a call to the client. `context` gives the request that is being answered
 * now, if there is one: a call that waits for a person outlives the request that began it.
 *
 * Progress goes out as `notifications/progress` if the client gave a token. A piece of output does too: its text is the message, and
 * the piece itself is in `_meta` under `io.kitbag/chunk`. Logs are `notifications/message`.
 */
export function createCallNotices(context: () => CallContext | undefined): CallNotices {
  const counter = createProgressCounter();
  const waiting: Piece[] = [];
  let sending: Promise<void> | undefined;

  function push(piece: Piece): void {
    if (waiting.length >= mostWaiting) {
      const passing = waiting.findIndex(({ isPassing }) => isPassing);
      waiting.splice(Math.max(passing, 0), 1);
    }
    waiting.push(piece);
    sending ??= drain();
  }

  async function drain(): Promise<void> {
    for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) {
      const current = context();
      try {
        if (current !== undefined) await piece.send(current);
      } catch {
        // The client is gone; the call ends by its signal.
      }
    }
    sending = undefined;
  }

  return {
    onEvent(event) {
      const piece = toPiece(event, counter);
      if (piece !== undefined) push(piece);
    },
    flush: async () => sending,
  };
}

function toPiece(event: CallEvent, counter: ProgressCounter): Piece | undefined {
  const { type, call } = event;
  if (type === "call-start") counter.begin(call, event.parent);
  if (type === "call-progress") return progressPiece(counter.next(call, event.progress));
  if (type === "call-log") {
    const data = event.data === undefined ? event.message : { message: event.message, data: event.data };
    return { isPassing: false, send: ({ mcpReq }) => mcpReq.log("info", data, "kitbag") };
  }
  if (type !== "call-chunk") return undefined;
  const message = toText(event.chunk).slice(0, longestMessage);
  return progressPiece({ ...counter.next(call, { message }), _meta: { "io.kitbag/chunk": event.chunk } });
}

function progressPiece(params: object): Piece {
  return {
    isPassing: !("_meta" in params),
    async send({ mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) return;
      await mcpReq.notify({ method: "notifications/progress", params: { ...params, progressToken } });
    },
  };
}

interface ProgressCounter {
  begin(call: string, parent: string | undefined): void;
  next(call: string, progress: Progress): { progress: number; total?: number; message?: string };
}

/** A step that is only words, between two numbers of the tool. */
const smallStep = 1e-6;

/** The protocol wants numbers that only grow. Those of the call itself are taken as they are; what calls inside it say is words. */
function createProgressCounter(): ProgressCounter {
  let root: string | undefined;
  let last = -1;
  let total: number | undefined;
  let isCounted = false;

  return {
    begin(call, parent) {
      if (parent === undefined) root ??= call;
    },
    next(call, { done, total: ofTotal, message }) {
      const isOwn = call === root && done !== undefined && done > last;
      if (isOwn) {
        last = done;
        total = ofTotal ?? total;
        isCounted = true;
      } else last += isCounted ? smallStep : 1;
      return {
        progress: last,
        // What is said after the last step is beyond the total, which would look wrong beside it.
        ...(isCounted && total !== undefined && last <= total && { total }),
        ...(message !== undefined && { message: message.slice(0, longestMessage) }),
      };
    },
  };
}
