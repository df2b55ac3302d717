import type { Duplex } from "node:stream";

import { fail, type Adapter, type Ask } from "./adapter.ts";
import { createStops } from "./dap-stops.ts";
import { toDapCommands } from "./dap-commands.ts";
import { getNumber, getPart, getString, openFrames, type Message } from "./debug-messages.ts";
import { toInsideFile, type DebugTarget } from "./debug-target.ts";
import { createRequests } from "./requests.ts";

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
  // Whoever waits for it hears of a failure.
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
