import type { InputRequests, ServerContext } from "@modelcontextprotocol/server";

import type { McpGeneration } from "../served-client.ts";
import { createQuestionLine, type Ask, type QuestionLine } from "./question-line.ts";

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

/**
 * So often one call may ask. Clients of 2026 give up on a call after 10 times, whatever it has done by then, so it must end before; on
 * behalf of a client of 2025 it is the SDK that gives up, when it is told to.
 */
export const mostRounds: Readonly<Record<McpGeneration, number>> = { "2025": 128, "2026": 10 };

/** Starts a call that may ask. Answers that came with the first request count if the call lets them. */
export function startFlight<Result>(
  first: ServerContext,
  generation: McpGeneration,
  run: (parts: FlightParts) => Promise<Result>,
): Flight<Result> {
  const stop = new AbortController();
  const early = first.mcpReq.inputResponses ?? {};
  // A client of 2025 may have room for one form only; one of 2026 gets all at once, because it may not come back often.
  const questions = createQuestionLine({ signal: stop.signal, early, isTogether: generation === "2026" });
  const nextRound = createRounds(questions, mostRounds[generation]);
  const attachment = createAttachment((reason) => stop.abort(reason));
  attachment.attach(first);
  const done = run({ signal: stop.signal, ask: questions.ask, context: attachment.context }).then(
    (result): FlightStep<Result> => ({ status: "done", result }),
  );
  // Whoever waits for the next step hears of it; nobody may be waiting when it happens.
  done.catch(() => {});

  return {
    attach: attachment.attach,
    detach: attachment.detach,
    answer: questions.answer,
    next: () =>
      Promise.race([done, nextRound().then((asked): FlightStep<Result> => ({ status: "asking", questions: asked }))]),
    abort: (reason) => stop.abort(reason),
  };
}

/** Makes what waits for questions. Those that are asked at the same time are in one round; those beyond the last round fail. */
function createRounds(questions: QuestionLine, most: number): () => Promise<InputRequests> {
  let rounds = 0;

  return () =>
    new Promise((resolve) => {
      let isDue = false;
      const show = (): void => {
        isDue = false;
        if (rounds >= most) questions.refuse(toTooOften(most));
        const asked = questions.show();
        if (asked === undefined) return;
        rounds += 1;
        questions.onAsk(() => {});
        resolve(asked);
      };
      const look = (): void => {
        if (!isDue) setImmediate(show);
        isDue = true;
      };
      questions.onAsk(look);
      look();
    });
}

function toTooOften(most: number): Error {
  return new Error(`the client was asked ${most} times in this call, and is not asked again; make several calls of it`);
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
