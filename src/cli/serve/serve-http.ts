import { isatty } from "node:tty";

import { describeCause } from "../../core/errors.ts";
import { toTokenCount } from "../../agent/cost/usage-counter.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { Store } from "../../core/store.ts";
import type { GateEvent, Gate, GateOptions, RequestEnd, Route } from "../../gate/gate.ts";
import { createMetricsRoute, type MetricsRoute } from "../../gate/metrics/metrics-route.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import type { Invocation } from "../cli-command.ts";
import type { LogFields, Logger } from "../logs/create-logger.ts";
import { readLogLevel } from "../options.ts";
import { toPrintableLine } from "../printable.ts";
import { toShownPath } from "../render.ts";
import { defaultStore, findNamedStore, nameStore } from "../store/choose-store.ts";
import { reachStore } from "../store/reach-store.ts";
import type { Terminal } from "../terminal.ts";
import type { LiveTokens, FollowedTokens } from "./tokens.ts";
import type { Served } from "./open-served.ts";
import type { HttpOptions } from "./serve-options.ts";
import { openGate } from "../../gate/open-gate.ts";
import { interrupt } from "../until-interrupted.ts";

/** What is served, and with what. */
export interface ServedParts {
  readonly served: Served;
  readonly runtimes: Runtimes;
  /** Nothing if no token is asked for, or callers log in elsewhere. */
  readonly tokens: LiveTokens | undefined;
}

/** Serves over HTTP until `signal` is aborted, then lets calls finish. Follows the files of its tokens. */
export async function serveHttp(
  invocation: Invocation,
  wanted: HttpOptions,
  parts: ServedParts,
  signal: AbortSignal,
): Promise<void> {
  const { served, tokens } = parts;
  const facts = await gatherFacts(invocation, wanted, parts);
  const metrics = createMetricsRoute(served);
  const api = await served.openApi({
    onError: (error) => invocation.terminal.note(`${toPrintableLine(`HTTP API: ${describeCause(error)}`)}\n`),
    onRunEvent: (event) => countAnswer(event, metrics),
  });
  const gate = await openServiceGate(invocation, {
    http: wanted,
    tokens,
    routes: [served.server.route("/mcp"), api, metrics],
    ...createReports(invocation.terminal, await openLogger(invocation), metrics),
    ...(served.store !== undefined && { findProblem: createProblemFinder(served.store) }),
  });
  try {
    const { url, token } = gate;
    show(invocation, { url: `${url}/mcp`, api: `${url}/api`, ...(token !== undefined && { token }), ...facts });
    await aborted(signal);
    if (gate.running > 0) invocation.terminal.note("Waiting for what is running; Ctrl-C again to cut it\n");
  } finally {
    await gate.close();
    await api.close();
  }
}

function show(invocation: Invocation, facts: ServingFacts): void {
  const { terminal, json } = invocation;
  if (json) terminal.print(`${JSON.stringify(facts)}\n`);
  else if (terminal.isScreen) terminal.print(`${renderServing(facts, terminal)}\n`);
  else terminal.print(`${[facts.url, ...(facts.token === undefined ? [] : [`Token ${facts.token}`])].join("\n")}\n`);
  if (facts.token !== undefined && !terminal.isScreen) {
    terminal.note("The token is not shown again; kitbag token add <name> makes others\n");
  }
}

async function gatherFacts(
  invocation: Invocation,
  { tokens, oauth, publicUrl }: HttpOptions,
  { served: { workspace, store }, runtimes }: ServedParts,
): Promise<Omit<ServingFacts, "url" | "api">> {
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
    access: [...(tokens === undefined ? [] : ["token"]), ...(oauth === undefined ? [] : ["oauth"])],
  };
}

/** Says to everybody that the store is away, and no more: the failure names its address. */
function createProblemFinder(store: Store): () => Promise<string | undefined> {
  return () =>
    reachStore(store).then(
      () => undefined,
      () => "the store cannot be reached",
    );
}

function countAnswer(event: AgentEvent, metrics: MetricsRoute): void {
  if (event.type !== "model-answer") return;
  const { model, usage, cost } = event;
  metrics.addAnswer({
    model,
    inputTokens: toTokenCount(usage.inputTokens.total),
    outputTokens: toTokenCount(usage.outputTokens.total),
    ...(cost !== undefined && { costUsd: cost }),
  });
}

/** The routes whose requests have a line in the log: probes and metrics are asked for all the time. */
const logged = /^\/(?:mcp|api)(?:\/|$)/u;

async function openLogger(invocation: Invocation): Promise<Logger> {
  const { terminal } = invocation;
  const { createLogger } = await import("../logs/create-logger.ts");
  return createLogger({ level: readLogLevel(invocation), write: terminal.note, isWatched: terminal.isWatched });
}

/** Requests are worth a line only to those who read the log; what failed here is to everybody. */
function createReports(terminal: Pick<Terminal, "note">, logger: Logger, metrics: MetricsRoute): Required<Reports> {
  const report = (event: GateEvent): void => {
    switch (event.type) {
      case "request-refused":
        logger.log("warn", "request refused", toRefused(event));
        break;
      case "client-cut":
        logger.log("warn", "client cut off", { reason: event.reason, address: event.address });
        break;
      case "request-crashed":
        terminal.note(`${toPrintableLine(`Cannot answer ${event.path}: ${describeCause(event.error)}`)}\n`);
        break;
    }
  };
  return {
    report,
    onRequestEnd(end) {
      metrics.addRequest(end);
      if (logged.test(end.path)) logger.log("info", "request", toAnswered(end));
    },
  };
}

type Refused = Extract<GateEvent, { readonly type: "request-refused" }>;

function toRefused({ status, reason, address, requestId }: Refused): LogFields {
  return { status, reason, address, request: requestId };
}

function toAnswered({ method, path, status, durationMs, caller, requestId }: RequestEnd): LogFields {
  return { method, path, status, ms: Number(durationMs.toFixed(3)), user: caller, request: requestId };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** What is served, for a person. */
export interface ServingFacts {
  readonly url: string;
  /** The HTTP API; its page says what it can do. */
  readonly api: string;
  readonly publicUrl?: string;
  /** The token that the first start made: it is shown this once. */
  readonly token?: string;
  /** Tools that are there at once. */
  readonly tools: number;
  readonly skills: number;
  /** Tools that are there while their skill is open. */
  readonly skillTools: number;
  /** The name of the sandbox; `off` without one, `missing` if none works. */
  readonly sandbox: string;
  readonly store: string;
  /** What callers need; nothing if everybody on this machine is let in. */
  readonly access: readonly string[];
}

/** Lays out what is served. What is dangerous is red. */
export function renderServing(facts: ServingFacts, terminal: Pick<Terminal, "style">): string {
  const lines: readonly (readonly [name: string, value: string])[] = [
    ["URL", terminal.style("bold", toPrintableLine(facts.url))],
    ["API", toPrintableLine(facts.api)],
    ...(facts.publicUrl === undefined ? [] : [["Public", toPrintableLine(facts.publicUrl)] as const]),
    ...(facts.token === undefined ? [] : [["Token", toPrintableLine(facts.token)] as const]),
    ["Tools", String(facts.tools)],
    ["Skills", `${facts.skills}, with ${facts.skillTools} tools`],
    ["Sandbox", showSandbox(facts.sandbox, terminal)],
    ["Store", toPrintableLine(facts.store)],
    ["Access", showAccess(facts.access)],
  ];
  const hint =
    "Clients send the token as Authorization: Bearer. It is not shown again; kitbag token add <name> makes others.";
  return [
    ...lines.map(([name, value]) => `${name.padEnd(9)}${value}`),
    "",
    ...(facts.token === undefined ? [] : [hint]),
    "Ctrl-C stops it; calls may finish.",
  ].join("\n");
}

function showSandbox(name: string, { style }: Pick<Terminal, "style">): string {
  if (name === "off") return style("red", "off: what runs can read and change all that you can");
  return name === "missing" ? style("red", "none works, so no script runs; see kitbag doctor") : toPrintableLine(name);
}

function showAccess(access: readonly string[]): string {
  const names = access.map((kind) => (kind === "token" ? "a token" : "a JWT (OAuth)"));
  return names.length === 0 ? "everybody on this machine; no token" : `with ${names.join(" or ")}`;
}

/** What hears of requests. */
type Reports = Pick<GateOptions, "report" | "onRequestEnd">;

/** What a service listens with. */
interface ServiceGateParts extends Reports {
  readonly http: HttpOptions;
  /** Nothing if no token is asked for, or callers log in elsewhere. */
  readonly tokens: LiveTokens | undefined;
  readonly routes: readonly Route[];
  /** Why there is no service yet. */
  readonly unavailable?: string;
  readonly findProblem?: () => Promise<string | undefined>;
}

/** The gate of a service, which follows its tokens. */
interface ServiceGate extends Pick<Gate, "url" | "running" | "close"> {
  /** The token that the first start made. */
  readonly token: string | undefined;
}

/** Opens the gate of a service. While it is open the token files are followed, and read at once on SIGHUP. */
export async function openServiceGate(invocation: Invocation, parts: ServiceGateParts): Promise<ServiceGate> {
  const { http, tokens, routes, unavailable, report, onRequestEnd, findProblem } = parts;
  const { host, port, hosts, origins, oauth } = http;
  let followed: FollowedTokens | undefined;
  const gate = await openGate({
    routes,
    host,
    port,
    hosts,
    origins,
    ...(tokens !== undefined && { tokens: tokens.current }),
    ...(oauth !== undefined && { oauth }),
    ...(unavailable !== undefined && { unavailable }),
    ...(report !== undefined && { report }),
    ...(onRequestEnd !== undefined && { onRequestEnd }),
    ...(findProblem !== undefined && { findProblem }),
    refreshTokens: () => followed?.refresh(),
  });
  try {
    const token = await tokens?.keepFirst();
    // Another start of the first time may have made the token.
    if (tokens !== undefined) gate.setTokens(tokens.current);
    followed = tokens?.follow(gate.setTokens, (problem) => invocation.terminal.note(`${toPrintableLine(problem)}\n`));
    const stopListening = onHangup(() => followed?.reread());
    return {
      url: gate.url,
      token,
      get running() {
        return gate.running;
      },
      async close(options) {
        await gate.close(options);
        stopListening();
        followed?.stop();
      },
    };
  } catch (cause) {
    await gate.close();
    throw cause;
  }
}

function onHangup(reread: () => void): () => void {
  const hadTerminal = isatty(0);
  const onSignal = (): void => {
    // The same signal says that the terminal was closed.
    if (hadTerminal && !isatty(0)) interrupt();
    else reread();
  };
  process.on("SIGHUP", onSignal);
  return () => process.off("SIGHUP", onSignal);
}
