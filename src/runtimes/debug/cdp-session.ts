import type { Duplex } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";

import { type Adapter, type Ask, fail, toPlace, type DebugTarget, toInsideFile } from "./debug-target.ts";
import { createPause, type Pause, type PauseHost } from "./cdp-pause.ts";
import {
  getList,
  getNumber,
  getPart,
  getString,
  type Message,
  openLines,
  createRequests,
  type Requests,
} from "./debug-messages.ts";
import type { Breakpoint, BreakpointRequest, DebugCommands, StopReason } from "./debug-session.ts";

/** Our own programs, and those of Node: a step does not stop in them. */
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
  const stops = createStops({ target, ask, pathOf }, ready.resolve);
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
        return void stops.stop(params).catch(() => {});
      case "Debugger.resumed":
        return stops.resume();
      // It waits to be let go, after its last line.
      case "NodeRuntime.waitingForDisconnect":
        return void stream.end();
      default:
    }
  }

  void attach(ask).catch(() => ready.resolve());
  return { ready: ready.promise, commands: toCdpCommands({ target, ask }, stops, breakpoints) };
}

function settle(requests: Requests<Message>, target: DebugTarget, message: Message): void {
  const id = getNumber(message, "id");
  const refusal = getString(getPart(message, "error"), "message");
  if (refusal === undefined) requests.answer(id, getPart(message, "result"));
  else requests.refuse(id, fail(target, refusal));
}

/** Where the script is stopped, while it is. */
interface Stops {
  readonly pause: Pause | undefined;
  /** Why the next stop will be one. */
  readonly expected: StopReason;
  expect(reason: StopReason): void;
  stop(params: Message): Promise<void>;
  resume(): void;
}

function createStops(host: PauseHost, onStop: () => void): Stops {
  const { target, ask } = host;
  let pause: Pause | undefined;
  let wanted: StopReason = "start";
  return {
    get pause() {
      return pause;
    },
    get expected() {
      return wanted;
    },
    expect(reason) {
      wanted = reason;
    },
    async stop(params) {
      const next = createPause(params, host);
      if (next.isException && !(await next.isUncaught())) return void (await ask("Debugger.resume"));
      const reason = next.isException ? "exception" : next.isBreakpoint ? "breakpoint" : wanted;
      wanted = "statement";
      pause = next;
      const { file, line } = next.place;
      target.emit({ type: "stopped", reason, file, line, ...(next.isException && { text: next.text }) });
      onStop();
    },
    resume() {
      if (pause === undefined) return;
      pause = undefined;
      target.emit({ type: "continued" });
    },
  };
}

function toCdpCommands(
  { target, ask }: Pick<PauseHost, "target" | "ask">,
  stops: Stops,
  breakpoints: Breakpoints,
): DebugCommands {
  const paused = (): Pause => {
    if (stops.pause === undefined) throw fail(target, "the script is running; pause it first");
    return stops.pause;
  };
  const go = async (method: string, reason: StopReason): Promise<void> => {
    const before = paused();
    stops.expect(reason);
    // To look at an exception that is caught would end the step.
    await ask("Debugger.setPauseOnExceptions", { state: reason === "step" ? "uncaught" : "all" });
    await ask(method);
    // It runs before it says so.
    if (stops.pause === before) stops.resume();
  };
  return {
    setBreakpoints: (file, list) => breakpoints.set(file, list, stops.pause),
    continue: () => go("Debugger.resume", "statement"),
    stepOver: () => go("Debugger.stepOver", "step"),
    stepInto: () => go("Debugger.stepInto", "step"),
    stepOut: () => go("Debugger.stepOut", "step"),
    async pause() {
      if (stops.pause !== undefined) return;
      stops.expect("pause");
      await ask("Debugger.setPauseOnExceptions", { state: "uncaught" });
      await ask("Debugger.pause");
      insist(ask, stops);
    },
    stack: async () => paused().stack(),
    scopes: async (frame) => paused().scopes(frame),
    variables: async (reference) => paused().variables(reference),
    evaluate: async (expression, frame = 0) => paused().evaluate(expression, frame),
  };
}

const insistMs = 300;

/** Inspecting an exception in between makes V8 forget that it must pause. */
function insist(ask: Ask, stops: Stops): void {
  const timer = setInterval(() => {
    if (stops.expected !== "pause") clearInterval(timer);
    else ask("Debugger.pause").catch(() => clearInterval(timer));
  }, insistMs);
  timer.unref();
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

/** The breakpoints of a script of Node. */
interface Breakpoints {
  set(file: string, list: readonly BreakpointRequest[], pause: Pause | undefined): Promise<readonly Breakpoint[]>;
  /** One that was waiting for its file is in place. */
  resolve(params: Message): void;
}

/** What breakpoints work with. */
interface BreakpointsHost {
  readonly target: DebugTarget;
  readonly ask: Ask;
  readonly toUrl: (file: string) => string;
  readonly pathOf: (location: unknown) => string;
}

/** Keeps the breakpoints of a script of Node. */
function createBreakpoints({ target, ask, toUrl, pathOf }: BreakpointsHost): Breakpoints {
  const byId = new Map<string, Breakpoint>();

  async function add(file: string, { line, condition }: BreakpointRequest): Promise<Breakpoint> {
    const answer = await ask("Debugger.setBreakpointByUrl", {
      ...{ url: toUrl(file), lineNumber: line - 1 },
      ...(condition !== undefined && { condition }),
    });
    const [location] = getList(answer, "locations");
    const asked = { file, requestedLine: line, ...(condition !== undefined && { condition }) };
    const isThere = location !== undefined;
    const breakpoint: Breakpoint = isThere
      ? { ...asked, line: toPlace(target, pathOf(location), location).line, verified: true }
      : { ...asked, line, verified: false, message: "no code is loaded there yet" };
    byId.set(getString(answer, "breakpointId") ?? "", breakpoint);
    return breakpoint;
  }

  return {
    async set(file, list, pause) {
      const old = [...byId].filter(([, breakpoint]) => breakpoint.file === file).map(([breakpointId]) => breakpointId);
      for (const breakpointId of old) {
        byId.delete(breakpointId);
        await ask("Debugger.removeBreakpoint", { breakpointId });
      }
      const set: Breakpoint[] = [];
      for (const request of list) {
        const message = await findWrong(request, pause);
        const { line, condition } = request;
        if (message === undefined) set.push(await add(file, request));
        else set.push({ file, line, requestedLine: line, ...(condition && { condition }), verified: false, message });
      }
      return set;
    },
    resolve(params) {
      const id = getString(params, "breakpointId") ?? "";
      const waiting = byId.get(id);
      if (waiting === undefined || waiting.verified) return;
      const location = getPart(params, "location");
      const { message: _, ...rest } = waiting;
      const breakpoint = { ...rest, line: toPlace(target, pathOf(location), location).line, verified: true };
      byId.set(id, breakpoint);
      target.emit({ type: "breakpoint", breakpoint });
    },
  };
}

/** V8 takes any text for a condition, and never stops if it is not an expression. */
async function findWrong({ condition }: BreakpointRequest, pause: Pause | undefined): Promise<string | undefined> {
  if (condition === undefined || pause === undefined) return undefined;
  const read = await pause.evaluate(`void (() => (${condition}\n))`, 0);
  return read.ok ? undefined : `the condition cannot be read: ${read.message}`;
}
