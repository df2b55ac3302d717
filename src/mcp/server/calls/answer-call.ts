import { createHash } from "node:crypto";

import {
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";

import { describeCause } from "../../../core/errors.ts";
import { toScopesKey } from "../../../core/scopes.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import type { ToolClient } from "../tool-client.ts";
import type { AdoptedCall, AdoptedCalls } from "./adopted-calls.ts";
import { askApproval } from "./ask-approval.ts";
import { fillIn } from "./ask-missing-input.ts";
import { createCallNotices } from "./call-notices.ts";
import { findTarget, type CallTarget } from "./call-target.ts";
import { createClientAccess } from "./client-access.ts";
import { canElicit } from "./client-questions.ts";
import { startFlight, type Flight, type FlightParts } from "./flight.ts";
import type { ParkedFlights } from "./parked-flights.ts";
import type { Ask } from "./question-line.ts";
import type { RunningCalls } from "./running-calls.ts";
import { toTargetResult } from "./to-target-result.ts";

/** What calls of all clients share. */
export interface CallParts {
  readonly parked: ParkedFlights<CallToolResult>;
  readonly adopted: AdoptedCalls;
  readonly running: RunningCalls;
}

/** A call of a client, as `tools/call` brings it. */
export interface ToolRequest {
  readonly name: string;
  readonly input: unknown;
}

/**
 * Answers a `tools/call`: makes the call, or goes on with one that waited for answers.
 *
 * @throws {ProtocolError} if there is no such tool, the client lacks a capability that the tool needs, or no call waits for what it
 * sent.
 */
export async function answerCall(
  parts: CallParts,
  client: ToolClient,
  request: ToolRequest,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const adopted = parts.adopted.take(client, context.mcpReq.id);
  if (adopted !== undefined) return adopt(adopted, context);
  const state = context.mcpReq.requestState();
  if (state !== undefined) return goOn(parts, client, { request, state }, context);
  const target = findTarget(client, request.name);
  const capabilities = client.capabilities(context);
  if (!canBeAsked(capabilities)) {
    const stop = new AbortController();
    const end = parts.running.begin(client.caller, (reason) => stop.abort(reason));
    const signal = AbortSignal.any([context.mcpReq.signal, stop.signal]);
    const flight = { signal, ask: refuseToAsk, context: () => context };
    return runCall(client, { target, input: request.input, capabilities }, flight).finally(end);
  }
  const flight = startFlight(context, client.generation, (flying) =>
    runCall(client, { target, input: request.input, capabilities }, flying),
  );
  return toAnswer(parts, client, request, flight);
}

/** Answers a call that runs already. */
async function adopt({ result, listen, stop }: AdoptedCall, context: ServerContext): Promise<CallToolResult> {
  const { signal } = context.mcpReq;
  const notices = createCallNotices(() => context);
  listen(notices.onEvent);
  const onAbort = (): void => stop(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await result;
  } finally {
    await notices.flush();
    signal.removeEventListener("abort", onAbort);
  }
}

async function goOn(
  parts: CallParts,
  client: ToolClient,
  { request, state }: { readonly request: ToolRequest; readonly state: unknown },
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const flight = typeof state === "string" ? parts.parked.take(state, toOwner(client, request)) : undefined;
  if (flight === undefined) {
    const reason = { reason: "invalid_request_state" };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", reason);
  }
  flight.attach(context);
  flight.answer(context.mcpReq.inputResponses ?? {});
  return toAnswer(parts, client, request, flight);
}

async function toAnswer(
  { parked, running }: CallParts,
  client: ToolClient,
  request: ToolRequest,
  flight: Flight<CallToolResult>,
): Promise<CallToolResult | InputRequiredResult> {
  const step = await flight.next().finally(running.begin(client.caller, flight.abort));
  if (step.status === "done") return step.result;
  // A 2025 client is asked while its request waits, and may still cancel it.
  if (client.generation === "2026") flight.detach();
  try {
    const requestState = parked.park(flight, toOwner(client, request));
    return inputRequired({ inputRequests: step.questions, requestState });
  } catch (cause) {
    // An input that is too deep to be written down cannot be recognised again.
    flight.abort(new Error("The call cannot wait for an answer"));
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Cannot ask for more: ${describeCause(cause)}`);
  }
}

/** Whose call it is: nobody else can go on with it, nor with other scopes, another tool or another input. */
function toOwner({ caller }: ToolClient, { name, input }: ToolRequest): string {
  const text = JSON.stringify([caller.id, toScopesKey(caller.scopes), name, input]);
  return createHash("sha256").update(text).digest("base64");
}

interface RunningCall {
  readonly target: CallTarget;
  readonly input: unknown;
  readonly capabilities: ClientCapabilities | undefined;
}

async function runCall(
  client: ToolClient,
  { target, input: given, capabilities }: RunningCall,
  { signal, ask, context }: FlightParts,
): Promise<CallToolResult> {
  const first = context();
  const notices = first !== undefined && wantsNotices(client, first) ? createCallNotices(context) : undefined;
  const watched = createClientAccess(ask, capabilities);
  const isPersonThere = canElicit(capabilities);
  const options: CallOptions = {
    signal,
    user: client.caller.id,
    // It is the decision of somebody where Kitbag runs, if there is one; the client is never asked in their place.
    ...(isPersonThere && { approveIfNobody: askApproval(ask) }),
    ...toTrace(first),
    ...(notices !== undefined && { onEvent: notices.onEvent }),
    injected: { mcp: watched.access, sampling: watched.access },
  };
  const input = isPersonThere ? await fillIn(target, given, ask) : given;
  const form = target.findForm(input);
  const outcome = await target.run(input, options);
  await notices?.flush();
  const missing = outcome.status === "failed" ? watched.missing() : undefined;
  if (missing !== undefined && client.generation === "2026") throw missing;
  return toTargetResult(target, outcome, form);
}

/** Where a request of 2026 says that it wants logs. */
const logLevelKey = "io.modelcontextprotocol/logLevel";

/** Events are only made for somebody who hears of them. Clients of 2025 get logs unasked. */
function wantsNotices({ generation }: ToolClient, { mcpReq }: ServerContext): boolean {
  return (
    generation === "2025" ||
    mcpReq._meta?.progressToken !== undefined ||
    (mcpReq.envelope !== undefined && logLevelKey in mcpReq.envelope)
  );
}

function toTrace(context: ServerContext | undefined): Pick<CallOptions, "traceparent" | "tracestate"> {
  const { [TRACEPARENT_META_KEY]: traceparent, [TRACESTATE_META_KEY]: tracestate } = (context?.mcpReq._meta ??
    {}) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof traceparent === "string" && { traceparent }),
    ...(typeof tracestate === "string" && { tracestate }),
  };
}

/** Tells whether a client says that it can be asked something while it waits for an answer. */
export function canBeAsked(capabilities: ClientCapabilities | undefined): boolean {
  return (
    capabilities?.elicitation !== undefined || capabilities?.sampling !== undefined || capabilities?.roots !== undefined
  );
}

/** Asks a client that cannot be asked. */
export const refuseToAsk: Ask = () =>
  Promise.reject(new Error("Cannot ask the client: it does not say that it can be asked"));
