import type { ModelCall } from "../model.ts";

/** Told while a model gets ready to answer: a server of your own loads it into memory. */
export interface ModelProgress {
  /** `provider/model`. */
  readonly model: string;
  readonly phase: "loading";
  readonly elapsedMs: number;
  readonly sizeBytes?: number;
}

/** A function that is told how far a model is. It must not throw. */
export type ProgressListener = (progress: ModelProgress) => void;

const listener = Symbol("progress");

/** Wrappers copy a call with all its properties, so that the listener reaches the model inside. */
interface HeardCall extends ModelCall {
  [listener]?: ProgressListener;
}

/** The call with a listener, which is told before the one that it had. */
export function withProgress(call: ModelCall, onProgress: ProgressListener): ModelCall {
  const { [listener]: outer } = call as HeardCall;
  const heard: HeardCall = {
    ...call,
    [listener]: (progress) => {
      onProgress(progress);
      outer?.(progress);
    },
  };
  return heard;
}

/** Tells the listeners of a call. */
export function tellProgress(call: ModelCall, progress: ModelProgress): void {
  (call as HeardCall)[listener]?.(progress);
}
