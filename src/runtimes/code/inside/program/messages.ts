/** What one program is run with. */
export interface ProgramStart {
  readonly source: string;
  readonly language: "javascript" | "typescript";
  /** Names under which `tools` offers addresses that cannot be written as they are: `read_issue` for `read-issue`. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Addresses that are functions of their own, by name. */
  readonly globals: Readonly<Record<string, string>>;
  readonly limits: ProgramLimits;
}

/** How much one program may use. */
export interface ProgramLimits {
  readonly cpuMs: number;
  readonly consoleBytes: number;
  readonly maxCalls: number;
}

/** What a worker is told: to run a program, or how a call ended, as {@link writeSettle} writes it. */
export type ToWorker = { readonly start: ProgramStart } | string;

/** What a worker tells: a call, as {@link readCall} reads it, when it begins, what is printed and how it ends. */
export type FromWorker =
  | string
  | { readonly type: "begin" }
  | { readonly type: "print"; readonly text: string }
  | { readonly type: "end"; readonly end: ProgramEnd };

/** A call that a program makes. */
export interface CallMessage {
  readonly id: number;
  readonly address: string;
  /** The input. */
  readonly json: string;
}

/** Reads a call: one text with its parts in lines, each of them JSON, because texts cross most cheaply. */
export function readCall(text: string): CallMessage {
  const first = text.indexOf("\n");
  const second = text.indexOf("\n", first + 1);
  const address = JSON.parse(text.slice(first + 1, second)) as string;
  return { id: Number(text.slice(0, first)), address, json: text.slice(second + 1) };
}

/** Writes how a call ended, as one text that the machine reads. */
export function writeSettle(id: number, isOk: boolean, json: string): string {
  return `[${id},${isOk},${json}]`;
}

/** How a program ended. */
export type ProgramEnd =
  | { readonly status: "ok"; readonly json: string }
  | { readonly status: "failed"; readonly reason: string }
  /** Its result is something that JSON cannot hold. */
  | { readonly status: "no-json"; readonly found: string }
  | { readonly status: "out-of-time" }
  | { readonly status: "out-of-memory" };

/** What a worker gets when it starts. */
export interface WorkerData {
  /** The address of the module `quickjs-wasi`. */
  readonly engine: string;
  /** Its code, compiled: a `WebAssembly.Module`. */
  readonly wasm: object;
  /** Counts the answers to calls, so that a worker which waits for one is woken at once. */
  readonly bell: Int32Array<SharedArrayBuffer>;
  /** How much memory each machine may use. */
  readonly memoryBytes: number;
}
