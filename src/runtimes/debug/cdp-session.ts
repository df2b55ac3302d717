import type { Duplex } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";

import { KitbagError } from "../../core/errors.ts";
import { createBreakpoints } from "./cdp-breakpoints.ts";
import { createPause, type Pause } from "./cdp-pause.ts";
import { getNumber, getPart, getString, openLines, type Message } from "./debug-messages.ts";
import type { DebugCommands, StopReason } from "./debug-session.ts";
import { toInsideFile, toShownFile, type DebugTarget } from "./debug-target.ts";
import { createRequests } from "./requests.ts";

/** Sends a request of the protocol. */
export type Ask = (method: string, params?: Message) => Promise<Message>;

/** A script of Node that can be debugged, over the Chrome DevTools Protocol. */
export interface Adapter {
  readonly commands: DebugCommands;
  /** Resolves when the script waits before its first line, or will not. */
  readonly ready: Promise<void>;
}

/** Our own programs, and those of Node: nobody steps into them. */
const notStepped = ["^node:", "/opt/kitbag/"];

/** Debugs a script of Node over `stream`, on which each line is a message of the Chrome DevTools Protocol. */
export function openCdpSession(stream: Duplex, target: DebugTarget): Adapter {
  const requests = createRequests<Message>(() => fail(target, "the script has ended"));
  const scripts = new Map<string, string>();
  const messages = openLines(stream, onMessage);
  const ask: Ask = (method, params = {}) => requests.ask((id) => messages.send({ id, method, params }));
  const pathOf = (location: unknown): string => scripts.get(getString(location, "scriptId") ?? "") ?? "";
  const breakpoints = createBreakpoints({ target, ask, toUrl, pathOf });
  const ready = Promise.withResolvers<void>();
  let pause: Pause | undefined;
  /** What was asked for, so that the next stop can say why it is one. */
  let wanted: StopReason = "start";
  messages.onEnd(() => {
    requests.end();
    ready.resolve();
  });

  function toUrl(file: string): string {
    return pathToFileURL(toInsideFile(target, file)).href;
  }

  function onMessage(message: Message): void {
    const id = getNumber(message, "id");
    const params = getPart(message, "params");
    if (id !== undefined) return void settle(id, message);
    switch (getString(message, "method")) {
      case "Debugger.scriptParsed":
        return void scripts.set(getString(params, "scriptId") ?? "", toPath(getString(params, "url") ?? ""));
      case "Debugger.breakpointResolved":
        return breakpoints.resolve(params);
      case "Debugger.paused":
        return void onPaused(params).catch(() => {});
      case "Debugger.resumed":
        return onResumed();
      // It waits to be let go, after its last line.
      case "NodeRuntime.waitingForDisconnect":
        return void stream.end();
      default:
    }
  }

  function settle(id: number, message: Message): void {
    const refusal = getString(getPart(message, "error"), "message");
    if (refusal === undefined) requests.answer(id, getPart(message, "result"));
    else requests.refuse(id, fail(target, refusal));
  }

  async function onPaused(params: Message): Promise<void> {
    const next = createPause(params, { target, ask, pathOf });
    if (next.isException && !(await next.isUncaught())) return void (await ask("Debugger.resume"));
    const reason = next.isException ? "exception" : next.isBreakpoint ? "breakpoint" : wanted;
    wanted = "statement";
    pause = next;
    const { file, line } = next.place;
    target.emit({ type: "stopped", reason, file, line, ...(next.isException && { text: next.text }) });
    ready.resolve();
  }

  function onResumed(): void {
    if (pause === undefined) return;
    pause = undefined;
    target.emit({ type: "continued" });
  }

  const paused = (): Pause => {
    if (pause === undefined) throw fail(target, "the script is running; pause it first");
    return pause;
  };
  const go = async (method: string, reason: StopReason): Promise<void> => {
    const before = paused();
    wanted = reason;
    await ask(method);
    // It runs before it says so.
    if (pause === before) onResumed();
  };

  void attach(ask).catch(() => ready.resolve());
  return {
    ready: ready.promise,
    commands: {
      setBreakpoints: (file, list) => breakpoints.set(file, list, pause),
      continue: () => go("Debugger.resume", "statement"),
      stepOver: () => go("Debugger.stepOver", "step"),
      stepInto: () => go("Debugger.stepInto", "step"),
      stepOut: () => go("Debugger.stepOut", "step"),
      async pause() {
        if (pause !== undefined) return;
        wanted = "pause";
        await ask("Debugger.pause");
      },
      stack: async () => paused().stack(),
      scopes: async (frame) => paused().scopes(frame),
      variables: async (reference) => paused().variables(reference),
      evaluate: async (expression, frame = 0) => paused().evaluate(expression, frame),
    },
  };
}

async function attach(ask: Ask): Promise<void> {
  await ask("Debugger.enable");
  await ask("Debugger.setBlackboxPatterns", { patterns: notStepped });
  await ask("Debugger.setPauseOnExceptions", { state: "all" });
  await ask("NodeRuntime.notifyWhenWaitingForDisconnect", { enabled: true });
  await ask("Runtime.runIfWaitingForDebugger");
}

function toPath(url: string): string {
  try {
    return url.startsWith("file:") ? fileURLToPath(url) : url;
  } catch {
    return url;
  }
}

/** Why something cannot be done. */
export function fail({ tool }: DebugTarget, reason: string): KitbagError {
  return new KitbagError("debug-failed", { tool, reason });
}

/** Where something is, as it is shown. */
export function toPlace(target: DebugTarget, path: string, location: unknown): { file: string; line: number } {
  return { file: toShownFile(target, path).file, line: (getNumber(location, "lineNumber") ?? 0) + 1 };
}
