import type { InputRequests } from "@modelcontextprotocol/server";

import { checkAnswers, type ClientAnswers } from "./client-questions.ts";

/** What may be said with a question. */
export interface AskOptions {
  /** Whether an answer that came with the first request, before anybody asked, counts. @default false */
  readonly takeEarly?: boolean;
}

/** How somebody asks the client. Rejects when the call is cancelled. */
export type Ask = (questions: InputRequests, options?: AskOptions) => Promise<ClientAnswers>;

/** Questions that wait for the client, one set at a time. */
export interface QuestionLine {
  readonly ask: Ask;
  /** What is to be asked now. */
  current(): InputRequests | undefined;
  /** Gives what the client sent; what is not a right answer leaves the questions where they are. */
  answer(given: Readonly<Record<string, unknown>>): void;
  /** Calls `listener` when there is something to ask; only the last one that was given. */
  onAsk(listener: () => void): void;
}

interface Question {
  readonly questions: InputRequests;
  readonly resolve: (answers: ClientAnswers) => void;
}

/** Makes a line for questions. `early` are answers that came before anybody asked; they count once. */
export function createQuestionLine(signal: AbortSignal, early: Readonly<Record<string, unknown>>): QuestionLine {
  const line: Question[] = [];
  let unused = early;
  let listener = (): void => {};

  function takeEarlyAnswers(questions: InputRequests): ClientAnswers | undefined {
    const given = unused;
    unused = {};
    return checkAnswers(questions, given);
  }

  return {
    ask(questions, { takeEarly = false } = {}) {
      const known = takeEarly ? takeEarlyAnswers(questions) : undefined;
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(toError(signal.reason));
        signal.addEventListener("abort", () => reject(toError(signal.reason)), { once: true });
        line.push({ questions, resolve });
        listener();
      });
    },
    current: () => line[0]?.questions,
    answer(given) {
      const [question] = line;
      const answers = question === undefined ? undefined : checkAnswers(question.questions, given);
      if (answers === undefined) return;
      line.shift();
      question?.resolve(answers);
    },
    onAsk(next) {
      listener = next;
    },
  };
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("The call was cancelled");
}
