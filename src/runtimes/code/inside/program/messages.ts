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

/** How a call ended: its output, or its failure. A worker is told this in JSON, because that is what a machine takes, or a {@link ProgramStart}. */
export type Answer = readonly [id: number, isOk: boolean, value: unknown];

/** Something that a program does: it begins, calls a tool, prints, ends. A worker tells this in JSON. */
export type Step =
  | readonly ["begin"]
  | readonly ["call", id: number, address: string, input: unknown]
  | readonly ["print", text: string]
  | readonly ["end", end: ProgramEnd];

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
  /** How much memory each machine may use. */
  readonly memoryBytes: number;
}
