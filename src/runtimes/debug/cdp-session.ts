import type { Duplex } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";

import { fail, type Adapter, type Ask } from "./adapter.ts";
import { createBreakpoints, type Breakpoints } from "./cdp-breakpoints.ts";
import { createPause, type Pause } from "./cdp-pause.ts";
import { getNumber, getPart, getString, openLines, type Message } from "./debug-messages.ts";
import type { DebugCommands, StopReason } from "./debug-session.ts";
import { toInsideFile, type DebugTarget } from "./debug-target.ts";
import { createRequests, type Requests } from "./requests.ts";

/** Our own programs, and those of Node: nobody steps into them. */
const notStepped = ["^node:", "/opt/kitbag/"];

/** Debugs a script of Node over `stream`, on which each line is a message of the Chrome DevTools Protocol. */
export function openCdpSession(stream: Duplex, target: DebugTarget): Adapter {
  const requests = createRequests<Message>(() => fail(target, "the script has ended"));
  const scripts = new Map<string, string>();
  const messages = openLines(stream, onMessage);
  const ask: Ask = (method, params = {}) => requests.ask((id) => messages.send({ id, method, params }));
  const pathOf = (location: unknown): string => scripts.get(getString(location, "scriptId") ?? "") ?? "";
  const breakpoints = createBreakpoints({
    ...{ target, ask, pathOf },
    toUrl: (file) => pathToFileURL(toInsideFile(target, file)).href,
  });
  const ready = Promise.withResolvers<void>();
  let pause: Pause | undefined;
  /** What was asked for, so that the next stop can say why it is one. */
  let wanted: StopReason = "start";
  messages.onEnd(() => {
    requests.end();
    ready.resolve();
  });

  function onMessage(message: Message): void {
    const id = getNumber(message, "id");
    const params = getPart(message, "params");
    if (id !== undefined) return settle(requests, target, message);
    switch (getString(message, "method") ?? "") {
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

  const hold: Hold = {
    target,
    ask,
    breakpoints,
    get pause() {
      return pause;
    },
    expect(reason) {
      wanted = reason;
    },
    resume: onResumed,
  };
  void attach(ask).catch(() => ready.resolve());
  return { ready: ready.promise, commands: toCdpCommands(hold) };
}

function settle(requests: Requests<Message>, target: DebugTarget, message: Message): void {
  const id = getNumber(message, "id");
  const refusal = getString(getPart(message, "error"), "message");
  if (refusal === undefined) requests.answer(id, getPart(message, "result"));
  else requests.refuse(id, fail(target, refusal));
}

/** Where the script is, for its commands. */
interface Hold {
  readonly target: DebugTarget;
  readonly ask: Ask;
  readonly breakpoints: Breakpoints;
  readonly pause: Pause | undefined;
  /** Why the next stop will be one. */
  expect(reason: StopReason): void;
  resume(): void;
}

function toCdpCommands(hold: Hold): DebugCommands {
  const { ask, target, breakpoints } = hold;
  const paused = (): Pause => {
    if (hold.pause === undefined) throw fail(target, "the script is running; pause it first");
    return hold.pause;
  };
  const go = async (method: string, reason: StopReason): Promise<void> => {
    const before = paused();
    hold.expect(reason);
    await ask(method);
    // It runs before it says so.
    if (hold.pause === before) hold.resume();
  };
  return {
    setBreakpoints: (file, list) => breakpoints.set(file, list, hold.pause),
    continue: () => go("Debugger.resume", "statement"),
    stepOver: () => go("Debugger.stepOver", "step"),
    stepInto: () => go("Debugger.stepInto", "step"),
    stepOut: () => go("Debugger.stepOut", "step"),
    async pause() {
      if (hold.pause !== undefined) return;
      hold.expect("pause");
      await ask("Debugger.pause");
    },
    stack: async () => paused().stack(),
    scopes: async (frame) => paused().scopes(frame),
    variables: async (reference) => paused().variables(reference),
    evaluate: async (expression, frame = 0) => paused().evaluate(expression, frame),
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
