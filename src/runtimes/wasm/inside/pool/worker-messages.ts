import type { LoadedModule } from "../module/web-assembly.ts";
import type { CallEnd, CallFacts, CallLimits, Root } from "../wire/messages.ts";

/** What a worker is started with. */
export interface WorkerSettings {
  readonly roots: readonly Root[];
  readonly limits: CallLimits;
  /** Set to 1 when an answer is there: a module waits for it with its whole thread. */
  readonly answered: SharedArrayBuffer;
}

/** One call, as a worker gets it. */
export interface Job extends CallFacts {
  readonly id: number;
  readonly digest: string;
  readonly input: Uint8Array;
}

/** What a worker is told. */
export type ToWorker =
  | { readonly type: "module"; readonly digest: string; readonly loaded: LoadedModule }
  | { readonly type: "forget"; readonly digest: string }
  | { readonly type: "run"; readonly job: Job }
  | { readonly type: "answer"; readonly bytes: Uint8Array };

/** What a worker tells about the call that it runs. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "stderr"; readonly bytes: Uint8Array }
  | { readonly type: "ask"; readonly bytes: Uint8Array }
  | { readonly type: "end"; readonly end: CallEnd; readonly output: Uint8Array };
