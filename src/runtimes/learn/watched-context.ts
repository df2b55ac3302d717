import { toFailure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import type { ToolState } from "../../core/tool-state.ts";

/** What a script that is watched gets beside its input: it may look at its state, but nothing that it says or changes leaves it. */
export function toWatchedContext(context: RuntimeContext): RuntimeContext {
  const { id, signal, injected, trace } = context;
  const call = async (tool: unknown): Promise<ToolOutcome> => {
    const reason = "while it is learned what a script needs, it calls no other tool";
    return { status: "failed", error: toFailure("approval-denied", { tool: String(tool), reason }) };
  };
  return {
    id,
    signal,
    injected,
    trace,
    state: toFrozenState(context.state),
    skillState: toFrozenState(context.skillState),
    progress() {},
    log() {},
    spend() {},
    chunk() {},
    onTimeout() {},
    availableTools: () => [],
    call,
  };
}

/** State that answers as if it were written to. */
function toFrozenState(state: ToolState): ToolState {
  return {
    get: (key) => state.get(key),
    read: (key) => state.read(key),
    list: (prefix, options) => state.list(prefix, options),
    set: async () => 1,
    delete: async () => true,
    compareAndSet: async () => true,
    update: async (key, change) => change(await state.get(key)),
  };
}
