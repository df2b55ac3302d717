import type { Duplex } from "node:stream";

import { shortenText } from "../../core/cut-text.ts";
import { KitbagError } from "../../core/errors.ts";
import { type Message, createRequests, getList, getNumber, getPart, getString, openFrames } from "./debug-messages.ts";
import type {
  Breakpoint,
  BreakpointRequest,
  DebugCommands,
  Evaluation,
  Scope,
  StackFrame,
  StopReason,
  Variable,
} from "./debug-session.ts";
import { type Adapter, type Ask, type DebugTarget, fail, toInsideFile, toShownFile } from "./debug-target.ts";

/** How to get what debugs Python. */
const cure =
  "install it with apt install python3-debugpy, with pip install debugpy for the Python that runs the script, or list debugpy in the script's dependencies";

const attachment = {
  justMyCode: false,
  redirectOutput: false,
  showReturnValue: false,
  subProcess: false,
  variablePresentation: { special: "hide", function: "hide", class: "hide", protected: "inline" },
};

/** Debugs a script of Python over `stream`, on which debugpy speaks the Debug Adapter Protocol. */
export function openDapSession(stream: Duplex, target: DebugTarget): Adapter {
  const requests = createRequests<Message>(() => fail(target, "the script has ended"));
  const messages = openFrames(stream, onMessage);
  const ask: Ask = (command, parameters = {}) =>
    requests.ask((seq) => messages.send({ seq, type: "request", command, arguments: parameters }));
  const ready = Promise.withResolvers<void>();
  const initialized = Promise.withResolvers<void>();
  const stops = createStops(target, ask, ready.resolve);
  messages.onEnd(() => {
    requests.end();
    ready.resolve();
  });
  // The caller that awaits it gets the failure.
  ready.promise.catch(() => {});

  function onMessage(message: Message): void {
    const body = getPart(message, "body");
    if (getString(message, "type") === "response") return settle(message, body);
    switch (getString(message, "event") ?? "") {
      case "kitbag":
        return void begin(body).catch(() => ready.resolve());
      case "initialized":
        return initialized.resolve();
      case "stopped":
        return stops.stop(body);
      case "continued":
        return stops.goOn();
      default:
    }
  }

  function settle(message: Message, body: Message): void {
    const id = getNumber(message, "request_seq");
    if (message["success"] !== false) return requests.answer(id, body);
    const reason = getString(message, "message") ?? getString(getPart(body, "error"), "format") ?? "it was refused";
    requests.refuse(id, fail(target, reason));
  }

  async function begin(body: Message): Promise<void> {
    const missing = getString(body, "missing");
    if (missing !== undefined) return ready.reject(fail(target, `Python has no debugpy (${missing}); ${cure}`));
    await ask("initialize", { adapterID: "kitbag", linesStartAt1: true, columnsStartAt1: true, pathFormat: "path" });
    const attached = ask("attach", attachment);
    await initialized.promise;
    const entry = getNumber(body, "entry") ?? 0;
    const source = { path: toInsideFile(target, target.script) };
    if (entry > 0) await ask("setBreakpoints", { source, breakpoints: [{ line: entry }] });
    await ask("setExceptionBreakpoints", { filters: ["uncaught"] });
    await ask("configurationDone");
    await attached;
    // A script without a single line, or one that cannot be read, ends by itself.
    if (entry === 0) ready.resolve();
  }

  return { ready: ready.promise, commands: toDapCommands(target, ask, stops) };
}

/** Where a script of Python is stopped, while it is. */
export interface Stops {
  readonly now: { readonly thread: number; readonly stack: readonly StackFrame[] } | undefined;
  stop(body: Message): void;
  goOn(): void;
}

const reasons: Readonly<Record<string, StopReason>> = {
  breakpoint: "breakpoint",
  step: "step",
  pause: "pause",
  exception: "exception",
};

/** Follows where a script stops. The first stop is the one before its first line; `onFirst` hears of it. */
function createStops(target: DebugTarget, ask: Ask, onFirst: () => void): Stops {
  let now: Stops["now"];
  let isFirst = true;

  async function tell(body: Message): Promise<void> {
    const thread = getNumber(body, "threadId") ?? 1;
    const reason = isFirst ? "start" : (reasons[getString(body, "reason") ?? ""] ?? "statement");
    // The breakpoint at the first line was ours.
    if (isFirst)
      await ask("setBreakpoints", { source: { path: toInsideFile(target, target.script) }, breakpoints: [] });
    isFirst = false;
    const answer = await ask("stackTrace", { threadId: thread, levels: 200 });
    const stack = getList(answer, "stackFrames")
      .map((frame) => toFrame(target, frame))
      .filter(({ file }) => !file.endsWith("/debug/inside/attach.py") && !file.startsWith("/opt/kitbag/"));
    // Behind the last line of the script there is only our own program.
    if (stack.length === 0) return void (await ask("continue", { threadId: thread }));
    const text = reason === "exception" ? await describe(thread, body) : undefined;
    const [top] = stack;
    now = { thread, stack };
    target.emit({
      ...{ type: "stopped", reason, file: top?.file ?? "", line: top?.line ?? 0 },
      ...(text !== undefined && { text }),
    });
    onFirst();
  }

  async function describe(threadId: number, body: Message): Promise<string> {
    const info = await ask("exceptionInfo", { threadId }).catch((): Message => ({}));
    // Behind the name comes a remark about how it is shown.
    const [name = ""] = (getString(info, "exceptionId") ?? getString(body, "text") ?? "").split(/\s/u);
    const description = getString(info, "description") ?? getString(body, "description") ?? "";
    return description === "" ? name : `${name}: ${description}`;
  }

  return {
    get now() {
      return now;
    },
    stop: (body) => void tell(body).catch(() => {}),
    goOn() {
      if (now === undefined) return;
      now = undefined;
      target.emit({ type: "continued" });
    },
  };
}

function toFrame(target: DebugTarget, frame: unknown): StackFrame {
  const path = getString(getPart(frame, "source"), "path") ?? "";
  const name = getString(frame, "name") ?? "";
  return {
    id: getNumber(frame, "id") ?? 0,
    name: name === "<module>" ? "(top level)" : name,
    ...toShownFile(target, path),
    line: getNumber(frame, "line") ?? 0,
  };
}

/** The longest value that is shown. */
const longest = 2000;

/** Makes the commands of a script that speaks the Debug Adapter Protocol. */
function toDapCommands(target: DebugTarget, ask: Ask, stops: Stops): DebugCommands {
  const stopped = (): NonNullable<Stops["now"]> => {
    if (stops.now === undefined) throw fail(target, "the script is running; pause it first");
    return stops.now;
  };
  const go = async (command: string): Promise<void> => {
    await ask(command, { threadId: stopped().thread });
  };

  async function findWrong({ condition }: BreakpointRequest): Promise<string | undefined> {
    if (condition === undefined || stops.now === undefined) return undefined;
    const read = await evaluate(`compile(${JSON.stringify(condition)}, "condition", "eval")`);
    return read.ok ? undefined : `the condition cannot be read: ${read.message}`;
  }

  async function evaluate(expression: string, frame?: number): Promise<Evaluation> {
    const frameId = frame ?? stopped().stack[0]?.id ?? 0;
    stopped();
    try {
      const answer = await ask("evaluate", { expression, frameId, context: "repl" });
      const { name: _, ...value } = toVariable({ ...answer, value: answer["result"] });
      return { ok: true, ...value };
    } catch (cause) {
      // A script that ended, or goes on, is no answer to the expression.
      if (stops.now === undefined || !(cause instanceof KitbagError)) throw cause;
      return { ok: false, message: toMessage(cause) };
    }
  }

  return {
    setBreakpoints: (file, list) => setBreakpoints({ target, ask, findWrong }, file, list),
    continue: () => go("continue"),
    stepOver: () => go("next"),
    stepInto: () => go("stepIn"),
    stepOut: () => go("stepOut"),
    async pause() {
      if (stops.now !== undefined) return;
      const threads = getList(await ask("threads"), "threads");
      await ask("pause", { threadId: getNumber(threads[0], "id") ?? 1 });
    },
    stack: async () => stopped().stack,
    async scopes(frameId) {
      stopped();
      return toScopes(await ask("scopes", { frameId }));
    },
    async variables(variablesReference) {
      stopped();
      return getList(await ask("variables", { variablesReference }), "variables").map(toVariable);
    },
    evaluate,
  };
}

function toScopes(answer: unknown): readonly Scope[] {
  return getList(answer, "scopes")
    .map((scope) => ({
      name: (getString(scope, "name") ?? "").toLowerCase(),
      reference: getNumber(scope, "variablesReference") ?? 0,
    }))
    .filter(({ reference }) => reference > 0);
}

interface Setting {
  readonly target: DebugTarget;
  readonly ask: Ask;
  readonly findWrong: (request: BreakpointRequest) => Promise<string | undefined>;
}

async function setBreakpoints(
  { target, ask, findWrong }: Setting,
  file: string,
  list: readonly BreakpointRequest[],
): Promise<readonly Breakpoint[]> {
  const wrong = await Promise.all(list.map(findWrong));
  const good = list.filter((_, index) => wrong[index] === undefined);
  const answer = await ask("setBreakpoints", {
    source: { path: toInsideFile(target, file) },
    breakpoints: good.map(({ line, condition }) => ({ line, ...(condition !== undefined && { condition }) })),
  });
  const set = getList(answer, "breakpoints");
  return list.map((request, index) => {
    const message = wrong[index];
    if (message !== undefined) return unverified(file, request, message);
    return toBreakpoint(file, request, set[good.indexOf(request)]);
  });
}

function toBreakpoint(file: string, request: BreakpointRequest, set: unknown): Breakpoint {
  const line = getNumber(set, "line");
  const isVerified = (set as { verified?: unknown } | undefined)?.verified === true;
  if (!isVerified || line === undefined)
    return unverified(file, request, getString(set, "message") ?? "there is no code");
  const { line: requestedLine, condition } = request;
  return { file, line, requestedLine, ...(condition !== undefined && { condition }), verified: true };
}

function unverified(file: string, { line, condition }: BreakpointRequest, message: string): Breakpoint {
  return { file, line, requestedLine: line, ...(condition !== undefined && { condition }), verified: false, message };
}

function toVariable(given: unknown): Variable {
  const value = getString(given, "value") ?? "";
  const type = getString(given, "type");
  const reference = getNumber(given, "variablesReference") ?? 0;
  return {
    name: getString(given, "name") ?? "",
    value: shortenText(value, longest),
    ...(type !== undefined && type !== "" && { type }),
    ...(reference > 0 && { reference }),
  };
}

/** The last line of a traceback says what is wrong. */
function toMessage(cause: KitbagError): string {
  const { reason } = cause.details as { readonly reason: string };
  return reason.trim().split("\n").at(-1) ?? reason;
}
