import { KitbagError } from "../../core/errors.ts";
import { type Clock, wait } from "../../platform/clock.ts";
import type { Model, ModelCall } from "../model.ts";
import { giveUp, nameOf } from "../retry/to-model-error.ts";
import { tellProgress } from "./model-progress.ts";
import type { ServerLink } from "./server-link.ts";
import type { ServerModel } from "./server-model.ts";

/** What {@link watchLoading} watches. */
export interface LoadingWatch {
  readonly model: Model;
  readonly call: ModelCall;
  readonly link: ServerLink;
  /** The context that the model is loaded with for this question, if the server is told. */
  readonly contextTokens: number | undefined;
  readonly clock: Clock;
  /** How long loading may take. */
  readonly loadMs: number;
}

/** A model that may have to be loaded first. It must be ended. */
export interface Loading {
  /** For the question: aborted when the caller aborts, and when loading takes too long. */
  readonly signal: AbortSignal | undefined;
  /** Resolves when the question can be asked. @throws {KitbagError} `model-timeout` */
  untilReady(): Promise<void>;
  /** Why the question was aborted, if loading took too long. */
  failure(): KitbagError | undefined;
  end(): void;
}

const pollMs = 1000;

/** Tells every second, while a server loads a model, that it does; and stops a question when loading takes too long. */
export function watchLoading(watch: LoadingWatch): Loading {
  const { model, call, link, clock, loadMs } = watch;
  if (!isLoading(link.last(), watch)) {
    return { signal: call.abortSignal, untilReady: async () => {}, failure: () => undefined, end: () => {} };
  }
  const controller = new AbortController();
  const signals = [controller.signal, ...(call.abortSignal ? [call.abortSignal] : [])];
  const startedAt = clock.elapsed();
  let failure: KitbagError | undefined;
  const over = new AbortController();
  const cancel = clock.after(loadMs, () => {
    failure = giveUp(
      new KitbagError("model-timeout", { model: nameOf(model), phase: "loaded model", limitMs: loadMs }),
    );
    controller.abort(failure);
  });

  const tell = (): void => {
    const { sizeBytes } = link.last() ?? {};
    const elapsedMs = clock.elapsed() - startedAt;
    tellProgress(call, { model: nameOf(model), phase: "loading", elapsedMs, ...(sizeBytes && { sizeBytes }) });
  };
  const poll = async (): Promise<void> => {
    tell();
    while (isLoading(link.last(), watch)) {
      await wait(clock, pollMs, signal);
      if (over.signal.aborted) return;
      tell();
      await link.refresh();
    }
    cancel();
  };
  const signal = AbortSignal.any(signals);
  // Nothing waits for the end of it while the question itself does.
  if (link.server.holdsRequests) void poll().catch(() => {});
  return {
    signal,
    untilReady: async () => (link.server.holdsRequests ? undefined : poll()),
    failure: () => failure,
    end() {
      over.abort();
      cancel();
    },
  };
}

function isLoading(facts: ServerModel | undefined, { contextTokens = 0 }: LoadingWatch): boolean {
  return facts?.isLoaded === false || (facts?.isLoaded === true && (facts.contextInUse ?? Infinity) < contextTokens);
}
