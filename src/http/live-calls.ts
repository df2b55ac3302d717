import type { Caller } from "../gate/gate.ts";

/** Who calls, and until when. */
interface CallOwner {
  readonly caller: Pick<Caller, "id">;
  readonly signal: AbortSignal;
}

/** A call of the API that is running. */
export interface LiveCall {
  readonly id: string;
  /** Aborted when the client goes away, or cancels it. */
  readonly signal: AbortSignal;
  /** Says that it is over. */
  readonly end: () => void;
  /** Cancels it, if it is not over. */
  readonly cancel: () => void;
}

/** The calls of the API that this process runs, so that their callers can cancel them. */
export interface LiveCalls {
  begin(owner: CallOwner): LiveCall;
  /** Cancels a call of this caller; answers whether there was one. */
  cancel(owner: Pick<CallOwner, "caller">, id: string): boolean;
}

/** Makes an empty set of calls. */
export function createLiveCalls(): LiveCalls {
  const calls = new Map<string, { readonly caller: string; readonly stop: AbortController }>();
  return {
    begin({ caller, signal }) {
      const id = crypto.randomUUID();
      const stop = new AbortController();
      const cancel = (): void => stop.abort(new Error("The caller cancelled the call"));
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
      const end = (): void => {
        calls.delete(id);
        signal.removeEventListener("abort", cancel);
      };
      calls.set(id, { caller: caller.id, stop });
      return {
        id,
        signal: stop.signal,
        end,
        cancel() {
          end();
          cancel();
        },
      };
    },
    cancel({ caller }, id) {
      const call = calls.get(id);
      if (call?.caller !== caller.id) return false;
      call.stop.abort(new Error("The caller cancelled the call"));
      return true;
    },
  };
}
