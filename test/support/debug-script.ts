import type { ToolOutcome } from "../../src/core/outcome.ts";
import type { DebugEvent, DebugSession } from "../../src/runtimes/debug/debug-session.ts";
import type { FoundSandbox } from "../../src/sandbox/find-sandbox.ts";
import { createScriptWorkspace, type TestScript } from "./run-script.ts";

/** A script that is debugged by a test. */
export interface Debugged {
  readonly session: DebugSession;
  readonly events: readonly DebugEvent[];
  readonly outcome: Promise<ToolOutcome>;
  /** The next stop, from now on. */
  nextStop(): Promise<string>;
  /** Does something, and answers with where the script stops then. */
  stopAfter(act: () => Promise<unknown>): Promise<string>;
  /** Everything that was printed. */
  printed(): string;
}

/** Starts a script, and answers when it waits before its first line. */
export async function startDebugging(sandbox: FoundSandbox, script: TestScript): Promise<Debugged> {
  const events: DebugEvent[] = [];
  const { promise: found, resolve } = Promise.withResolvers<DebugSession>();
  const debug = {
    directory: sandbox.area.private,
    onSession(session: DebugSession) {
      session.onEvent((event) => void events.push(event));
      resolve(session);
    },
  };
  const { workspace } = createScriptWorkspace(sandbox, { ...script, options: { ...script.options, debug } });
  const options = { limitMs: 60_000, ...(script.signal && { signal: script.signal }) };
  const outcome = workspace.call("script", {}, options);
  const early = outcome.then((ended) => {
    throw new Error(`The script ended before it could be debugged: ${JSON.stringify(ended)}`);
  });
  early.catch(() => {});
  const session = await Promise.race([found, early]);

  async function nextStop(): Promise<string> {
    const { promise: stop, resolve: stopped } = Promise.withResolvers<DebugEvent>();
    const off = session.onEvent((event) => {
      if (event.type === "stopped" || event.type === "ended") stopped(event);
    });
    const event = await stop;
    off();
    return renderStop(event);
  }

  return {
    session,
    events,
    outcome,
    nextStop,
    async stopAfter(act) {
      const stop = nextStop();
      await act();
      return stop;
    },
    printed: () => events.map((event) => (event.type === "output" ? event.text : "")).join(""),
  };
}

/** `breakpoint a.py:3`. */
function renderStop(event: DebugEvent | undefined): string {
  if (event?.type === "stopped") {
    return `${event.reason} ${event.file}:${event.line}${event.text === undefined ? "" : ` ${event.text}`}`;
  }
  return event?.type === "ended" ? `ended ${event.reason}` : String(event?.type);
}
