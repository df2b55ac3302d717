import type { Progress } from "../../core/events.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import { noOptions } from "./call-options.ts";
import type { Call } from "./call.ts";
import type { Chunks } from "./chunks.ts";
import type { InjectedRecord } from "./injection.ts";

/** Makes what a tool and its runtime get with a call. When the call is over, nothing in it has an effect any more. */
export function createContext(call: Call, injected: InjectedRecord, chunks: Chunks): RuntimeContext {
  return {
    id: call.id,
    get signal() {
      return call.signal;
    },
    injected,
    progress(progress) {
      if (call.stopped !== undefined || call.ended) return;
      call.emit({ type: "call-progress", call: call.id, progress: toProgress(progress) });
    },
    chunk: chunks.push,
    call: (tool: unknown, input?: unknown) => call.callInside({ tool, input, options: noOptions }) as Promise<never>,
  };
}

/** Takes what progress can be, and leaves out the rest: plain JavaScript can give anything. */
function toProgress(given: string | Progress): Progress {
  if (typeof given === "string") return { message: given };
  const { message, done, total } = given ?? {};
  return {
    ...(typeof message === "string" && { message }),
    ...(isFinite(done) && { done }),
    ...(isFinite(total) && { total }),
  };
}

function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}
