import type { CallToolResult } from "@modelcontextprotocol/server";

import type { CallEvent } from "../../../core/events.ts";
import type { ToolClient } from "../tool-client.ts";

/** A call that was begun without the SDK, and that it is to answer. */
export interface AdoptedCall {
  readonly result: Promise<CallToolResult>;
  /** Gives the events that there were, and from then on each as it comes. */
  listen(listener: (event: CallEvent) => void): void;
  /** Ends the call. */
  stop(reason: unknown): void;
}

/** Calls on their way to the SDK. */
export interface AdoptedCalls {
  /** Answers with the function that takes it back, if the SDK did not want it. */
  put(client: ToolClient, id: string | number, call: AdoptedCall): () => void;
  take(client: ToolClient, id: string | number): AdoptedCall | undefined;
}

/** Makes an empty set of calls. Only the client that made a call finds it, by the number of its request. */
export function createAdoptedCalls(): AdoptedCalls {
  const waiting = new WeakMap<ToolClient, Map<string | number, AdoptedCall>>();

  function take(client: ToolClient, id: string | number): AdoptedCall | undefined {
    const calls = waiting.get(client);
    const call = calls?.get(id);
    calls?.delete(id);
    return call;
  }

  return {
    put(client, id, call) {
      const calls = waiting.get(client) ?? new Map<string | number, AdoptedCall>();
      waiting.set(client, calls);
      calls.set(id, call);
      return () => {
        if (calls.get(id) === call) take(client, id)?.stop(new Error("Nobody answers it"));
      };
    },
    take,
  };
}
