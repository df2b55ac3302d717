import type { CallToolResult, InputRequests, ServerContext } from "@modelcontextprotocol/server";

import type { Progress } from "../../../core/events.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { McpGeneration } from "../client.ts";
import { checkAnswer, checkAnswers, type AskOptions, type ClientAnswers } from "./ask-client.ts";

/** A request that a call answers. The SDK's context of a request is one; the plain envelope makes the same. */
export interface CallContext {
  readonly mcpReq: CalledRequest;
  /** The HTTP request, if it came by one. */
  readonly http?: { readonly req?: { readonly headers: Pick<Headers, "get"> } };
}

interface CalledRequest extends Pick<
  ServerContext["mcpReq"],
  "_meta" | "envelope" | "inputResponses" | "notify" | "requestState" | "signal"
> {
  /** Asks a client of 2025 something while its request waits; missing where a request cannot do that. */
  readonly send?: ServerContext["mcpReq"]["send"];
  /** Sends what the tool logs. The protocol keeps it for clients that know nothing else. */
  log(level: "info", data: JsonValue, logger: string): Promise<void>;
}

/** Where a call is: over, or paused until the client answers questions. */
export type CallStep =
  | { readonly status: "done"; readonly result: CallToolResult }
  | { readonly status: "asking"; readonly questions: InputRequests };

/**
 * How often one call may ask. Clients of 2026 give up on a call after 10 rounds, so the call must fail before that; for a client of
 * 2025 the SDK counts the rounds, with the limit that it is given.
 */
export const maxRounds: Readonly<Record<McpGeneration, number>> = { "2025": 128, "2026": 10 };

/** The longest text that a task says of its progress. */
const longestMessage = 1000;

type Answers = Readonly<Record<string, unknown>>;

/** A question that the client could not, or did not, answer. */
export class UnansweredError extends Error {}

interface Question {
  readonly questions: InputRequests;
  /** The keys under which the client sees the questions, by their own keys; empty until it is shown them. */
  readonly shownAs: Map<string, string>;
  /** What was answered so far. */
  readonly answered: Record<string, ClientAnswers[string]>;
  readonly resolve: (answers: ClientAnswers) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * A tool call that can pause to ask the client. It outlives a request: the request that began it ends with questions, and the next
 * request brings the answers.
 */
export class PausableCall {
  readonly #stop = new AbortController();
  readonly #generation: McpGeneration;
  readonly #run: (call: PausableCall) => Promise<CallToolResult>;
  readonly #waiting: Question[] = [];
  #done: Promise<CallToolResult> | undefined;
  #context: CallContext | undefined;
  /** Answers that came with the first request, before the call asked for them. They count once. */
  #early: Answers;
  #rounds = 0;
  /** The keys that cannot stand for another question: of this round, or of the whole task. */
  readonly #keys = new Set<string>();
  readonly #taskWanted = Promise.withResolvers<void>();
  /** Set once the call is a task. */
  #onChange: (() => void) | undefined;
  #progress: string | undefined;
  #onQuestion = (): void => {};

  /** Does not begin yet: `next` does. */
  constructor(first: CallContext, generation: McpGeneration, run: (call: PausableCall) => Promise<CallToolResult>) {
    this.#generation = generation;
    this.#run = run;
    this.#early = first.mcpReq.inputResponses ?? {};
    this.attach(first);
  }

  /** Aborted when the call is cancelled. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The request that is being answered now; `undefined` while the call waits for the client to come back. */
  get context(): CallContext | undefined {
    return this.#context;
  }

  /** Continues in another request: notifications go to it, and cancelling it cancels the call. */
  attach(context: CallContext): void {
    this.detach();
    this.#context = context;
    const { signal } = context.mcpReq;
    if (signal.aborted) this.#cancel();
    else signal.addEventListener("abort", this.#cancel, { once: true });
  }

  /** Ends the tie to its request: the call now waits for the next one. */
  detach(): void {
    this.#context?.mcpReq.signal.removeEventListener("abort", this.#cancel);
    this.#context = undefined;
  }

  abort(reason: Error): void {
    this.#stop.abort(reason);
  }

  /** Whether it waits for answers now. */
  get isAsking(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when the call should go on as a task, if its client knows tasks. */
  get taskWanted(): Promise<void> {
    return this.#taskWanted.promise;
  }

  wantTask(): void {
    this.#taskWanted.resolve();
  }

  /**
   * Goes on without a request, and resolves with the result. `onChange` is called when what it asks changes, and when it says more of its
   * progress.
   */
  continueAsTask(onChange: () => void): Promise<CallToolResult> {
    this.detach();
    this.#forgetKeys();
    this.#onChange = onChange;
    return this.#begin();
  }

  /** What a task waits for now. A key stands for one question as long as the task lives. */
  get openQuestions(): InputRequests {
    return this.#show(this.#waiting);
  }

  /** How far it is, in its own words. */
  get progress(): string | undefined {
    return this.#progress;
  }

  report({ message, done, total }: Progress): void {
    const count = done === undefined ? undefined : `${done}${total === undefined ? "" : ` of ${total}`}`;
    this.#progress = (message ?? count)?.slice(0, longestMessage) ?? this.#progress;
    this.#onChange?.();
  }

  readonly #cancel = (): void => this.#stop.abort(this.#context?.mcpReq.signal.reason);

  #begin(): Promise<CallToolResult> {
    if (this.#done === undefined) {
      this.#done = this.#run(this);
      // `next` reports a rejection; between two requests nothing waits for it.
      this.#done.catch(() => {});
    }
    return this.#done;
  }

  /** Resolves when the call is over or has questions. Rejects with what the call rejects with. */
  next(): Promise<CallStep> {
    const done = this.#begin().then((result): CallStep => ({ status: "done", result }));
    return Promise.race([done, this.#nextRound()]);
  }

  /** Asks the client. Rejects when the call is cancelled, when `signal` is aborted, or after too many rounds. */
  async ask(questions: InputRequests, { takeEarly = false, signal }: AskOptions = {}): Promise<ClientAnswers> {
    const known = takeEarly ? this.#takeEarlyAnswers(questions) : undefined;
    if (known !== undefined) return known;
    const stop = signal === undefined ? this.signal : AbortSignal.any([this.signal, signal]);
    if (stop.aborted) throw toError(stop.reason);
    const { promise, resolve, reject } = Promise.withResolvers<ClientAnswers>();
    const question: Question = { questions, shownAs: new Map(), answered: {}, resolve, reject };
    const leave = (): void => {
      this.#remove(question);
      reject(toError(stop.reason));
    };
    stop.addEventListener("abort", leave, { once: true });
    if (this.#onChange !== undefined && this.#rounds++ >= maxRounds["2025"]) {
      throw new UnansweredError(askedTooOften(maxRounds["2025"]));
    }
    this.#waiting.push(question);
    (this.#onChange ?? this.#onQuestion)();
    try {
      return await promise;
    } finally {
      stop.removeEventListener("abort", leave);
      this.#onChange?.();
    }
  }

  /** Takes what the client sent. Questions without a valid answer are asked again, the others are not. */
  answer(given: Answers): void {
    for (const question of [...this.#waiting]) {
      const { questions, shownAs, answered } = question;
      for (const [key, shownKey] of shownAs) {
        const one = questions[key];
        const answer =
          one !== undefined && Object.hasOwn(given, shownKey) ? checkAnswer(one, given[shownKey]) : undefined;
        if (answer === undefined) continue;
        answered[key] = answer;
        shownAs.delete(key);
      }
      if (!Object.keys(questions).every((key) => Object.hasOwn(answered, key))) continue;
      this.#remove(question);
      question.resolve(answered);
    }
  }

  #takeEarlyAnswers(questions: InputRequests): ClientAnswers | undefined {
    const given = this.#early;
    this.#early = {};
    return checkAnswers(questions, given);
  }

  #remove(question: Question): void {
    const at = this.#waiting.indexOf(question);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  /** Resolves with the next questions. Those that are asked at the same time are one round. */
  #nextRound(): Promise<CallStep> {
    return new Promise((resolve) => {
      let isDue = false;
      const show = (): void => {
        isDue = false;
        if (this.#onChange !== undefined) return;
        const rounds = maxRounds[this.#generation];
        if (this.#rounds >= rounds) this.refuse(askedTooOften(rounds));
        if (this.#waiting.length === 0) return;
        this.#rounds += 1;
        this.#onQuestion = () => {};
        // A client of 2025 may have room for one form only; a client of 2026 gets all of them, because it may not come back often.
        const shown = this.#generation === "2026" ? this.#waiting : this.#waiting.slice(0, 1);
        this.#forgetKeys();
        resolve({ status: "asking", questions: this.#show(shown) });
      };
      this.#onQuestion = () => {
        if (!isDue) setImmediate(show);
        isDue = true;
      };
      if (this.#waiting.length > 0) this.#onQuestion();
    });
  }

  /** Fails the questions that wait. The call goes on, and can say what it lacks. */
  refuse(reason: string): void {
    for (const question of this.#waiting.splice(0)) question.reject(new UnansweredError(reason));
  }

  #forgetKeys(): void {
    this.#keys.clear();
    for (const { shownAs } of this.#waiting) shownAs.clear();
  }

  /** What is not answered yet, each question under a key of its own, which it keeps. */
  #show(shown: readonly Question[]): InputRequests {
    const requests = shown.flatMap(({ questions, shownAs, answered }) => {
      const open = Object.entries(questions).filter(([key]) => !Object.hasOwn(answered, key));
      return open.map(([key, question]) => {
        const shownKey = shownAs.get(key) ?? this.#takeKey(key);
        shownAs.set(key, shownKey);
        return [shownKey, question] as const;
      });
    });
    return Object.fromEntries(requests);
  }

  #takeKey(key: string): string {
    let free = key;
    for (let count = 2; this.#keys.has(free); count += 1) free = `${key}-${count}`;
    this.#keys.add(free);
    return free;
  }
}

function askedTooOften(times: number): string {
  return `the client was asked ${times} times in this call, and is not asked again; make several calls of it`;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("The call was cancelled");
}
