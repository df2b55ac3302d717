import { describeCause } from "../../core/errors.ts";
import type { GateEvent } from "../../gate/gate.ts";
import { openGate } from "../../gate/open-gate.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import type { Invocation } from "../cli-command.ts";
import { readLogLevel } from "../logs/log-level.ts";
import { toPrintableLine } from "../printable.ts";
import { defaultStore, findNamedStore, nameStore } from "../store/choose-store.ts";
import { toShownPath } from "../shown-path.ts";
import type { Served } from "./open-served.ts";
import { renderServing, type ServingFacts } from "./render-serving.ts";
import type { HttpWishes } from "./serve-wishes.ts";

/** What is served, and with what. */
export interface ServedParts {
  readonly served: Served;
  readonly runtimes: Runtimes;
}

/** Serves over HTTP until `signal` is aborted, then lets calls finish. */
export async function serveHttp(
  invocation: Invocation,
  wishes: HttpWishes,
  { served, runtimes }: ServedParts,
  signal: AbortSignal,
): Promise<void> {
  const { host, port, tokens, oauth, hosts, origins } = wishes;
  const gate = await openGate({
    routes: [served.server.route("/mcp")],
    host,
    port,
    hosts,
    origins,
    tokens,
    ...(oauth !== undefined && { oauth }),
    report: await createReport(invocation),
  });
  try {
    const facts = await gatherFacts(invocation, wishes, { served, runtimes });
    show(invocation, { url: `${gate.url}/mcp`, ...facts });
    await aborted(signal);
    if (gate.running > 0) invocation.terminal.note("Waiting for what is running; Ctrl-C again to cut it\n");
  } finally {
    await gate.close();
  }
}

function show(invocation: Invocation, facts: ServingFacts): void {
  const { terminal, json } = invocation;
  if (json) terminal.print(`${JSON.stringify(facts)}\n`);
  else terminal.print(`${terminal.isScreen ? renderServing(facts, terminal) : facts.url}\n`);
}

async function gatherFacts(
  invocation: Invocation,
  { tokens, oauth, publicUrl }: HttpWishes,
  { served: { workspace, store }, runtimes }: ServedParts,
): Promise<Omit<ServingFacts, "url">> {
  const named = findNamedStore(invocation);
  const choice = named ?? defaultStore(invocation);
  const name = nameStore(choice);
  return {
    ...(publicUrl !== undefined && { publicUrl }),
    tools: workspace.getAvailableTools().length,
    skills: workspace.getSkills().length,
    skillTools: workspace.getAllSkillToolStates().reduce((count, { tools }) => count + tools.length, 0),
    sandbox: await runtimes.findSandbox().then(
      (sandbox) => sandbox.name,
      () => "missing",
    ),
    store: store === undefined ? "none" : choice.kind === "sqlite" ? toShownPath(name, invocation.cwd) : name,
    access: [...(tokens.length > 0 ? ["token"] : []), ...(oauth === undefined ? [] : ["oauth"])],
  };
}

/** Refused requests are worth a line only to those who read the log; what failed here is to everybody. */
async function createReport(invocation: Invocation): Promise<(event: GateEvent) => void> {
  const { terminal } = invocation;
  const level = readLogLevel(invocation);
  const { createLogger } = await import("../logs/create-logger.ts");
  const logger = createLogger({ level, write: terminal.note, isWatched: terminal.isWatched });
  return (event) => {
    switch (event.type) {
      case "request-refused":
        logger.log("warn", "request refused", { status: event.status, reason: event.reason, address: event.address });
        break;
      case "client-cut":
        logger.log("warn", "client cut off", { reason: event.reason, address: event.address });
        break;
      case "request-crashed":
        terminal.note(`${toPrintableLine(`Cannot answer ${event.path}: ${describeCause(event.error)}`)}\n`);
        break;
    }
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
