import { fail, type Adapter, loadSource, toInsideFile, toShownFile, type DebugTarget } from "./debug-target.ts";
import type { DebugCommands, DebugEvent, DebugSession } from "./debug-session.ts";

/** What a session is made of. */
export interface SessionParts extends Omit<DebugTarget, "emit"> {
  readonly language: DebugSession["language"];
  readonly show: <Value>(value: Value) => Value;
  readonly open: (target: DebugTarget) => Adapter;
  readonly kill: () => void;
}

/** A session, and what its launcher tells it. */
export interface OpenSession {
  readonly session: DebugSession;
  /** Resolves when the script waits before its first line, or will not. Rejects if it cannot be debugged. */
  readonly ready: Promise<void>;
  /** Emits the events so far; call it when there is a listener. */
  begin(): void;
  print(stream: "stdout" | "stderr", text: string): void;
  /** The connection broke: ends the script. */
  lose(): void;
  /** The script is gone. */
  end(): void;
}

/** Makes the session of one script: one way for all languages, with what must not be shown taken out. */
export function createSession(parts: SessionParts): OpenSession {
  const { show, kill, language, script } = parts;
  const listeners = new Set<(event: DebugEvent) => void>();
  let stopped: DebugSession["stopped"];
  let ending: "exited" | "terminated" | "lost" = "exited";
  let hasEnded = false;
  /** The events from before there was a listener. */
  let early: DebugEvent[] | undefined = [{ type: "started", language }];
  const target: DebugTarget = { ...parts, emit };
  const { commands, ready } = parts.open(target);

  function emit(event: DebugEvent): void {
    if (hasEnded) return;
    const shown = show(event);
    if (shown.type !== "output" && shown.type !== "breakpoint") stopped = shown.type === "stopped" ? shown : undefined;
    hasEnded = shown.type === "ended";
    if (early !== undefined) return void early.push(shown);
    for (const listener of listeners) listener(shown);
  }

  function stopBy(reason: typeof ending): void {
    ending = ending === "exited" ? reason : ending;
    kill();
  }
  const session: DebugSession = {
    language,
    script,
    get stopped() {
      return stopped;
    },
    get hasEnded() {
      return hasEnded;
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    loadSource: (file) => show(loadSource(target, file)),
    terminate: () => stopBy("terminated"),
    ...toShownCommands(target, commands, { show, hasEnded: () => hasEnded, lose: () => stopBy("lost") }),
  };
  return {
    session,
    ready,
    begin() {
      for (const event of early ?? []) for (const listener of listeners) listener(event);
      early = undefined;
    },
    print: (stream, text) => emit({ type: "output", stream, text }),
    lose: () => stopBy("lost"),
    end: () => emit({ type: "ended", reason: ending }),
  };
}

interface Showing {
  readonly show: <Value>(value: Value) => Value;
  readonly hasEnded: () => boolean;
  readonly lose: () => void;
}

/** A script that goes on says so at once; one that does not has broken its debugger. */
const answerMs = 10_000;

function toShownCommands(
  target: DebugTarget,
  commands: DebugCommands,
  { show, hasEnded, lose }: Showing,
): DebugCommands {
  const shown =
    <Args extends readonly unknown[], Value>(command: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      if (hasEnded()) throw fail(target, "the script has ended");
      return show(await command(...args));
    };
  const moving = (command: () => Promise<void>): (() => Promise<void>) =>
    shown(async () => {
      const timer = setTimeout(lose, answerMs);
      await command().finally(() => clearTimeout(timer));
    });
  return {
    setBreakpoints: shown(async (file, list) => {
      const { file: own } = toShownFile(target, toInsideFile(target, file));
      const message = "there is no such file in the skill";
      if (loadSource(target, own) !== undefined) return commands.setBreakpoints(own, list);
      return list.map((request) => ({ ...request, file: own, requestedLine: request.line, verified: false, message }));
    }),
    continue: moving(commands.continue),
    pause: moving(commands.pause),
    stepOver: moving(commands.stepOver),
    stepInto: moving(commands.stepInto),
    stepOut: moving(commands.stepOut),
    stack: shown(commands.stack),
    scopes: shown(commands.scopes),
    variables: shown(commands.variables),
    evaluate: shown(commands.evaluate),
  };
}
