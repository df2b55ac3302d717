import type { ExchangeEnds } from "./exchange.ts";

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

/** How a call ended: its output, or its failure. A worker is told a list of these, or a {@link ProgramStart}, in JSON. */
export type Answer = readonly [id: number, isOk: boolean, value: unknown];

/** Something that a program does: it begins, calls a tool, prints, ends. A worker tells a list of these, in JSON. */
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
  readonly ends: ExchangeEnds;
  /** How much memory each machine may use. */
  readonly memoryBytes: number;
}

/** Values that are sent together, in one text: a list in JSON. */
export interface Batch {
  /** Adds a value, as JSON. */
  add(json: string): void;
  /** Sends what was added since the last time, if anything was. */
  send(): void;
}

/** More at once saves little; the receiver can begin with these, and little is in memory twice. */
const manyCharacters = 512;

/** Makes an empty batch. One that has become long is sent before more is added. */
export function createBatch(send: (text: string) => void): Batch {
  let parts: string[] = [];
  let length = 0;

  const batch: Batch = {
    add(json) {
      if (length + json.length > manyCharacters) batch.send();
      parts.push(json);
      length += json.length;
    },
    send() {
      if (parts.length === 0) return;
      const text = `[${parts.join(",")}]`;
      parts = [];
      length = 0;
      send(text);
    },
  };
  return batch;
}
