import type { InputRequests } from "@modelcontextprotocol/server";

import { checkAnswers, type ClientAnswers } from "./client-questions.ts";

/** What may be said with a question. */
export interface AskOptions {
  /** Whether an answer that came with the first request, before anybody asked, counts. @default false */
  readonly takeEarly?: boolean;
  /** Aborted when nobody waits for the answer any more: the question is not asked then. */
  readonly signal?: AbortSignal;
}

/** How somebody asks the client. Rejects when the call is cancelled, or has asked too often. */
export type Ask = (questions: InputRequests, options?: AskOptions) => Promise<ClientAnswers>;

/** Questions that wait for the client. */
export interface QuestionLine {
  readonly ask: Ask;
  /** What is to be asked now: the first that wait, or all of them, each under a key of its own. `undefined` if none wait. */
  show(): InputRequests | undefined;
  /** Gives what the client sent; what is not a right answer leaves its questions where they are. */
  answer(given: Readonly<Record<string, unknown>>): void;
  /** Fails all that wait. */
  refuse(reason: Error): void;
  /** Calls `listener` when there is something to ask; only the last one that was given. */
  onAsk(listener: () => void): void;
}

/** How questions are put. */
export interface QuestionLineOptions {
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal;
  /** Answers that came before anybody asked; they count once. */
  readonly early: Readonly<Record<string, unknown>>;
  /** Whether all that wait are asked at once. */
  readonly isTogether: boolean;
}

interface Question {
  readonly questions: InputRequests;
  /** The keys under which they were shown last, by their own. */
  shownAs: ReadonlyMap<string, string> | undefined;
  readonly resolve: (answers: ClientAnswers) => void;
  readonly reject: (reason: Error) => void;
}

/** Makes a line for questions. */
export function createQuestionLine({ signal, early, isTogether }: QuestionLineOptions): QuestionLine {
  const line: Question[] = [];
  let unused = early;
  let listener = (): void => {};

  function takeEarlyAnswers(questions: InputRequests): ClientAnswers | undefined {
    const given = unused;
    unused = {};
    return checkAnswers(questions, given);
  }

  return {
    async ask(questions, { takeEarly = false, signal: ownSignal } = {}) {
      const known = takeEarly ? takeEarlyAnswers(questions) : undefined;
      if (known !== undefined) return known;
      const stop = ownSignal === undefined ? signal : AbortSignal.any([signal, ownSignal]);
      return standIn(line, { questions, stop, listener });
    },
    show() {
      if (line.length === 0) return undefined;
      const all = new Map<string, InputRequests[string]>();
      for (const question of isTogether ? line : line.slice(0, 1)) question.shownAs = putIn(all, question.questions);
      return Object.fromEntries(all);
    },
    answer(given) {
      for (const question of [...line]) {
        const answers = question.shownAs && checkAnswers(question.questions, pick(given, question.shownAs));
        if (answers === undefined) continue;
        remove(line, question);
        question.resolve(answers);
      }
    },
    refuse(reason) {
      for (const question of line.splice(0)) question.reject(reason);
    },
    onAsk(next) {
      listener = next;
    },
  };
}

/** Stands in line until there is an answer, or nobody waits for it any more. */
async function standIn(
  line: Question[],
  asked: { readonly questions: InputRequests; readonly stop: AbortSignal; readonly listener: () => void },
): Promise<ClientAnswers> {
  const { questions, stop, listener } = asked;
  if (stop.aborted) throw toError(stop.reason);
  const { promise, resolve, reject } = Promise.withResolvers<ClientAnswers>();
  const question: Question = { questions, shownAs: undefined, resolve, reject };
  const leave = (): void => {
    remove(line, question);
    reject(toError(stop.reason));
  };
  stop.addEventListener("abort", leave, { once: true });
  line.push(question);
  listener();
  try {
    return await promise;
  } finally {
    stop.removeEventListener("abort", leave);
  }
}

/** Puts questions to others, and tells under which keys. */
function putIn(all: Map<string, InputRequests[string]>, questions: InputRequests): ReadonlyMap<string, string> {
  const shownAs = new Map<string, string>();
  for (const [key, question] of Object.entries(questions)) {
    let free = key;
    for (let count = 2; all.has(free); count += 1) free = `${key}-${count}`;
    all.set(free, question);
    shownAs.set(key, free);
  }
  return shownAs;
}

function pick(given: Readonly<Record<string, unknown>>, shownAs: ReadonlyMap<string, string>): Record<string, unknown> {
  const own = [...shownAs].filter(([, shown]) => Object.hasOwn(given, shown));
  return Object.fromEntries(own.map(([key, shown]) => [key, given[shown]]));
}

function remove(line: Question[], question: Question): void {
  const at = line.indexOf(question);
  if (at !== -1) line.splice(at, 1);
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("The call was cancelled");
}
