import { wasiModule } from "../module/check-module.ts";
import { webAssembly, type GuestMemory, type Instance, type LoadedModule } from "../module/web-assembly.ts";
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

/** A call that can begin at once. */
export interface PreparedCall {
  /** Runs the module from its start to its end; once. */
  run(job: Job): CallResult;
}

/** Prepares a call: its instance is made now, so that it need not be made when the call comes. Nothing of the module runs before that. */
export function prepareCall({ module, start }: LoadedModule, place: CallPlace): PreparedCall {
  const guest = createGuest();
  const output = createOutput(place.limits.outputBytes, place.writeError);
  const { fileBytes } = place.limits;
  const wasi = createWasi({ guest, fileBytes, writeOutput: output.write, writeError: output.writeError });
  const ask = (request: Uint8Array): Uint8Array => {
    output.count(request.length);
    return place.ask(request);
  };
  const imports = { [wasiModule]: wasi.imports, kitbag: kitbagImports(guest, ask) };
  const getInstance = attempt((): Instance => new webAssembly.Instance(module, imports));

  return {
    run(job) {
      let memory: GuestMemory | undefined;
      try {
        wasi.begin({ ...job, roots: place.roots });
        const { exports } = getInstance();
        memory = exports["memory"] as GuestMemory;
        guest.attach(memory);
        for (const name of start === undefined ? ["_start"] : [start, "_start"]) (exports[name] as () => void)();
        return output.finish({ kind: "exit", code: 0 });
      } catch (cause) {
        return output.finish(toEnd(cause, memory?.buffer.byteLength ?? 0));
      } finally {
        wasi.close();
      }
    },
  };
}

/** Does something now; the answer gives what came of it, or throws what it threw. */
function attempt<Value>(act: () => Value): () => Value {
  try {
    const value = act();
    return () => value;
  } catch (cause) {
    return () => {
      throw cause;
    };
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
