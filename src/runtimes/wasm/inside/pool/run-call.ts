import { wasiModule } from "../module/check-module.ts";
import { webAssembly, type CompiledModule, type GuestMemory } from "../module/web-assembly.ts";
import { CallEnded } from "../wasi/call-ended.ts";
import { createGuest } from "../wasi/guest.ts";
import { createWasi } from "../wasi/wasi.ts";
import type { CallEnd, CallLimits, Root } from "../wire/messages.ts";
import { kitbagImports } from "./kitbag-imports.ts";
import { createOutput, type CallResult } from "./output.ts";
import type { Job } from "./worker-messages.ts";

/** Where a call runs, and how it reaches the rest of the world. */
export interface CallPlace {
  readonly roots: readonly Root[];
  readonly limits: CallLimits;
  writeError(bytes: Uint8Array): void;
  /** Waits for the answer; nothing else happens in this thread meanwhile. */
  ask(request: Uint8Array): Uint8Array;
}

/** Runs a module from its start to its end, in an instance that nobody else sees. */
export function runCall(module: CompiledModule, job: Job, place: CallPlace): CallResult {
  const guest = createGuest();
  const output = createOutput(place.limits.outputBytes, place.writeError);
  const wasi = createWasi({
    guest,
    input: job.input,
    args: job.args,
    environment: job.environment,
    writeOutput: output.write,
    writeError: output.writeError,
    roots: place.roots,
    fileBytes: place.limits.fileBytes,
  });
  const ask = (request: Uint8Array): Uint8Array => {
    output.count(request.length);
    return place.ask(request);
  };
  const imports = { [wasiModule]: wasi.imports, kitbag: kitbagImports(guest, ask) };
  let memory: GuestMemory | undefined;
  try {
    const { exports } = new webAssembly.Instance(module, imports);
    memory = exports["memory"] as GuestMemory;
    guest.attach(memory);
    (exports["_start"] as () => void)();
    return output.finish({ kind: "exit", code: 0 });
  } catch (cause) {
    return output.finish(toEnd(cause, memory?.buffer.byteLength ?? 0));
  } finally {
    wasi.close();
  }
}

function toEnd(cause: unknown, memoryBytes: number): CallEnd {
  if (cause instanceof CallEnded) return cause.end;
  return { kind: "trap", reason: toReason(cause), memoryBytes };
}

function toReason(cause: unknown): string {
  if (cause instanceof webAssembly.RuntimeError) return cause.message;
  if (cause instanceof RangeError) return `call stack or memory exhausted (${cause.message})`;
  if (cause instanceof webAssembly.Exception) return "an exception that nobody caught";
  return cause instanceof Error ? cause.message : "something that is no error was thrown";
}
