import type { InputRequests, ServerContext } from "@modelcontextprotocol/server";

import { createQuestionLine, type Ask } from "./question-line.ts";

/** Where a call is: over, or in need of answers. */
export type FlightStep<Result> =
  | { readonly status: "done"; readonly result: Result }
  | { readonly status: "asking"; readonly questions: InputRequests };

/**
 * One call that may need answers from the client. It goes on across requests: the one that began it ends with questions, and the
 * next one brings the answers.
 */
export interface Flight<Result> {
  /** Begins to serve a request: notices go to it, and the call is cancelled with it. */
  attach(context: ServerContext): void;
  /** No request waits any more: the call waits for the next one. */
  detach(): void;
  /** Gives what the client sent. Questions without a right answer are asked again. */
  answer(given: Readonly<Record<string, unknown>>): void;
  /** Resolves when the call is over or has questions. Rejects with what the call rejects with. */
  next(): Promise<FlightStep<Result>>;
  /** Ends the call. */
  abort(reason: Error): void;
}

/** What the call of a flight gets. */
export interface FlightParts {
  readonly signal: AbortSignal;
  readonly ask: Ask;
  /** The request that is being answered now, if there is one. */
  readonly context: () => ServerContext | undefined;
}

/** Starts a call that may ask. Answers that came with the first request count if the call lets them. */
export function startFlight<Result>(
  first: ServerContext,
  run: (parts: FlightParts) => Promise<Result>,
): Flight<Result> {
  const stop = new AbortController();
  const questions = createQuestionLine(stop.signal, first.mcpReq.inputResponses ?? {});
  const attachment = createAttachment((reason) => stop.abort(reason));
  attachment.attach(first);
  const done = run({ signal: stop.signal, ask: questions.ask, context: attachment.context }).then(
    (result): FlightStep<Result> => ({ status: "done", result }),
  );
  // Whoever waits for the next step hears of it; nobody may be waiting when it happens.
  done.catch(() => {});

  function nextQuestions(): Promise<FlightStep<Result>> {
    return new Promise((resolve) => {
      const look = (): void => {
        const asked = questions.current();
        if (asked !== undefined) resolve({ status: "asking", questions: asked });
      };
      questions.onAsk(look);
      look();
    });
  }

  return {
    attach: attachment.attach,
    detach: attachment.detach,
    answer: questions.answer,
    next: () => Promise.race([done, nextQuestions()]),
    abort: (reason) => stop.abort(reason),
  };
}

interface Attachment {
  context(): ServerContext | undefined;
  attach(context: ServerContext): void;
  detach(): void;
}

/** The request that a call is being answered to: at most one at a time. */
function createAttachment(cancel: (reason: unknown) => void): Attachment {
  let current: ServerContext | undefined;
  const onAbort = (): void => cancel(current?.mcpReq.signal.reason);

  function detach(): void {
    current?.mcpReq.signal.removeEventListener("abort", onAbort);
    current = undefined;
  }

  return {
    context: () => current,
    detach,
    attach(next) {
      detach();
      current = next;
      if (next.mcpReq.signal.aborted) onAbort();
      else next.mcpReq.signal.addEventListener("abort", onAbort, { once: true });
    },
  };
}
