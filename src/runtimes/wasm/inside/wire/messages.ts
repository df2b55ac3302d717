import type { CompiledModule } from "../module/web-assembly.ts";

/** A directory that modules see, under a name that they use. */
export interface Root {
  /** What a module calls it. */
  readonly name: string;
  /** Where it is inside the sandbox. */
  readonly path: string;
  /** What holds for everything below it; when missing, only what is in `only` exists. */
  readonly access?: "read" | "write";
  /** Single files directly in it, and whether they can be written. */
  readonly only: Readonly<Record<string, "read" | "write">>;
}

/** What one call may use. */
export interface CallLimits {
  /** Of all memories of the module together. */
  readonly memoryBytes: number;
  /** CPU time of its thread. */
  readonly cpuMs: number;
  /** All that it prints and asks for. */
  readonly outputBytes: number;
  /** The largest file that it may write. */
  readonly fileBytes: number;
}

/** How a host is set up: the first message that it gets. */
export interface HostSettings {
  readonly workers: number;
  readonly roots: readonly Root[];
  readonly limits: CallLimits;
}

/** What the runtime says to its host. */
export type ToHost =
  | ({ readonly type: "start" } & HostSettings)
  /** The payload is the module. */
  | { readonly type: "module"; readonly digest: string }
  | { readonly type: "forget"; readonly digest: string }
  /** The payload is standard input. */
  | ({ readonly type: "call"; readonly id: number; readonly digest: string } & CallFacts)
  | { readonly type: "cancel"; readonly id: number }
  /** The payload answers what the module asked for. */
  | { readonly type: "answer"; readonly id: number };

/** What a module learns beside its input. */
export interface CallFacts {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** What the host says to the runtime. */
export type FromHost =
  | { readonly type: "ready" }
  /** A worker has it, and it may write files: from now on it may have done something. Not said where nothing can be written. */
  | { readonly type: "begin"; readonly id: number }
  /** The payload is what a module wrote to standard error since it last did. */
  | { readonly type: "stderr"; readonly id: number }
  /** The payload is what a module asks for, in JSON. */
  | { readonly type: "ask"; readonly id: number }
  /** The payload is standard output. */
  | { readonly type: "end"; readonly id: number; readonly end: CallEnd };

/** How the call of a module ended. */
export type CallEnd =
  | { readonly kind: "exit"; readonly code: number }
  /** `memoryBytes` is what its memories had grown to. */
  | { readonly kind: "trap"; readonly reason: string; readonly memoryBytes: number }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "flooded" }
  | { readonly kind: "cpu" }
  | { readonly kind: "memory" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "crashed"; readonly reason: string };

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
  | { readonly type: "module"; readonly digest: string; readonly module: CompiledModule }
  | { readonly type: "forget"; readonly digest: string }
  | { readonly type: "run"; readonly job: Job }
  | { readonly type: "answer"; readonly bytes: Uint8Array };

/** What a worker tells about the call that it runs. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "stderr"; readonly bytes: Uint8Array }
  | { readonly type: "ask"; readonly bytes: Uint8Array }
  | { readonly type: "end"; readonly end: CallEnd; readonly output: Uint8Array };
