import { createHash, randomUUID } from "node:crypto";

import {
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
  type CallToolResult,
  type InputRequests,
  type InputRequiredResult,
} from "@modelcontextprotocol/server";

import { describeCause } from "../../../core/errors.ts";
import { toScopesKey } from "../../../core/scopes.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import type { ToolClient } from "../client.ts";
import { canElicit, createClientAccess } from "./ask-client.ts";
import { askAboutDraft } from "./ask-draft.ts";
import { askApproval, askMissingInput } from "./ask-person.ts";
import { createCallNotices } from "./call-notices.ts";
import { findTarget, toTargetResult } from "./call-target.ts";
import { ServerClosingError, type PausedCalls, type RunningCalls } from "./open-calls.ts";
import { knowsTasks, type CreatedTask, type Tasks } from "./tasks.ts";
import { toErrorResult } from "../tools/to-call-result.ts";
import { PausableCall, type CallContext, type CallStep } from "./pausable-call.ts";

/** The calls of all clients that are not over. */
export interface OpenCalls {
  readonly running: RunningCalls;
  readonly paused: PausedCalls;
  /** Those that go on after their request. */
  readonly tasks: Tasks;
}

/** What a `tools/call` asks for. */
export interface ToolRequest {
  readonly name: string;
  readonly input: unknown;
}

/**
 * Answers `tools/call`, for stdio and HTTP and both generations: makes the call, or continues one that waited for answers. The SDK and
 * the plain envelope both come here, and only write down what it answers.
 *
 * @throws {ProtocolError} if there is no such tool, the client lacks a capability that the tool needs, or no call waits for the answers.
 */
export async function callTool(
  { paused, running, tasks }: OpenCalls,
  client: ToolClient,
  request: ToolRequest,
  context: CallContext,
): Promise<CallToolResult | InputRequiredResult | CreatedTask> {
  const state = context.mcpReq.requestState();
  const call =
    state === undefined
      ? new PausableCall(context, client.generation, (made) => runTool(client, request, made))
      : continueCall(typeof state === "string" ? paused.take(state, toOwner(client, request)) : undefined, context);
  const { send } = context.mcpReq;
  const ask = client.generation === "2025" && send !== undefined ? toAsker(send) : undefined;
  const canBeTask = knowsTasks(client, client.capabilities(context));
  const end = running.begin(client.caller, (reason) => call.abort(reason));
  const step = await (canBeTask ? advanceOrBegin(call, tasks, client) : advance(call, ask)).finally(end);
  if (step.status === "task") return step.task;
  if (step.status === "done") return step.result;
  call.detach();
  try {
    const requestState = paused.keep(call, toOwner(client, request));
    return inputRequired({ inputRequests: step.questions, requestState });
  } catch (cause) {
    // An input that is nested too deeply for JSON cannot be recognised again.
    call.abort(new Error("The call cannot wait for an answer"));
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Cannot ask for more: ${describeCause(cause)}`);
  }
}

/**
 * Goes on until the call is over, or has questions that its client answers with another request. A client of 2025 is asked while its
 * request waits. If it fails to answer, the call goes on without an answer, and says what it lacks.
 */
async function advance(call: PausableCall, ask: AskQuestion | undefined): Promise<CallStep> {
  let step = await call.next();
  if (ask === undefined) return step;
  while (step.status === "asking") {
    try {
      const asked = Object.entries(step.questions).map(async ([key, question]) => [key, await ask(question)] as const);
      call.answer(Object.fromEntries(await Promise.all(asked)));
    } catch (cause) {
      if (call.signal.aborted) throw cause;
      call.refuse(`the client did not answer the question: ${describeCause(cause)}`);
    }
    step = await call.next();
  }
  return step;
}

/** Where a call is; a call that takes long is a task from now on, if there is room for one more. */
async function advanceOrBegin(
  call: PausableCall,
  tasks: Tasks,
  client: ToolClient,
): Promise<CallStep | { readonly status: "task"; readonly task: CreatedTask }> {
  const step = call.next();
  const timer = setTimeout(() => {
    if (!call.isAsking) call.wantTask();
  }, tasks.afterMs);
  const first = await Promise.race([step, call.taskWanted]).finally(() => clearTimeout(timer));
  if (first !== undefined) return first;
  const task = tasks.begin(call, client);
  return task === undefined ? step : { status: "task", task };
}

type AskQuestion = (question: InputRequests[string]) => Promise<unknown>;

/** How long a person may think. */
const answerMs = 10 * 60_000;

function toAsker(send: NonNullable<CallContext["mcpReq"]["send"]>): AskQuestion {
  return ({ method, params }) => {
    // The protocol of 2025 gives each question that leads to a page a name; that of 2026 gives it none.
    const isPage = method === "elicitation/create" && params.mode === "url";
    const question = { method, params: isPage ? { ...params, elicitationId: randomUUID() } : params };
    return send(question as never, { timeout: answerMs, resetTimeoutOnProgress: true });
  };
}

function continueCall(call: PausableCall | undefined, context: CallContext): PausableCall {
  if (call === undefined) {
    const reason = { reason: "invalid_request_state" };
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", reason);
  }
  call.attach(context);
  call.answer(context.mcpReq.inputResponses ?? {});
  return call;
}

/** Only the caller of a call can continue it, with the same scopes, tool and input. */
function toOwner({ caller }: ToolClient, { name, input }: ToolRequest): string {
  const text = JSON.stringify([caller.id, toScopesKey(caller.scopes), name, input]);
  return createHash("sha256").update(text).digest("base64");
}

async function runTool(client: ToolClient, request: ToolRequest, call: PausableCall): Promise<CallToolResult> {
  // The request that begins a call is attached to it.
  const context = call.context as CallContext;
  const target = findTarget(client, request.name);
  const capabilities = client.capabilities(context);
  const isTaskPossible = knowsTasks(client, capabilities);
  const { access, missing } = createClientAccess(
    (questions, options) => call.ask(questions, options),
    capabilities,
    isTaskPossible ? () => call.wantTask() : undefined,
  );
  const notices = wantsNotices(client, context) ? createCallNotices(() => call.context) : undefined;
  const isPersonThere = canElicit(capabilities);
  const options: CallOptions = {
    signal: call.signal,
    user: client.caller.id,
    // The workspace decides if it has an approver; only then is the person at the client not asked.
    ...(isPersonThere && { approveIfNobody: askApproval((questions, asked) => call.ask(questions, asked)) }),
    ...toTrace(context),
    ...((notices !== undefined || isTaskPossible) && {
      onEvent(event) {
        notices?.onEvent(event);
        if (event.type === "call-progress") call.report(event.progress);
      },
    }),
    injected: { mcp: access, sampling: access },
  };
  const input = isPersonThere
    ? await askMissingInput(target, request.input, (questions, asked) => call.ask(questions, asked))
    : request.input;
  const form = target.findForm(input);
  const since = Date.now();
  const made = await target.run(input, options);
  const outcome = isPersonThere
    ? await askAboutDraft(client, { outcome: made, since }, (...asked) => call.ask(...asked))
    : made;
  await notices?.flush();
  const stopped: unknown = call.signal.reason;
  if (outcome.status === "failed" && stopped instanceof ServerClosingError) return toErrorResult(stopped.message);
  const lacking = outcome.status === "failed" ? missing() : undefined;
  if (lacking !== undefined && client.generation === "2026") throw lacking;
  return toTargetResult(target, { outcome, input }, form);
}

/** Where a request of 2026 says that it wants logs. */
const logLevelKey = "io.modelcontextprotocol/logLevel";

/** Events are made only for a client that gets them. Clients of 2025 get logs without asking. */
function wantsNotices({ generation }: ToolClient, { mcpReq }: CallContext): boolean {
  return (
    generation === "2025" ||
    mcpReq._meta?.progressToken !== undefined ||
    (mcpReq.envelope !== undefined && logLevelKey in mcpReq.envelope)
  );
}

/** Where in a trace the request is: as its message says, else as the headers of its HTTP request do. */
function toTrace({ mcpReq, http }: CallContext): Pick<CallOptions, "traceparent" | "tracestate"> {
  const meta = (mcpReq._meta ?? {}) as Readonly<Record<string, unknown>>;
  const isInMeta = typeof meta[TRACEPARENT_META_KEY] === "string";
  const read = (name: string): unknown => (isInMeta ? meta[name] : http?.req?.headers.get(name));
  const [traceparent, tracestate] = [read(TRACEPARENT_META_KEY), read(TRACESTATE_META_KEY)];
  return {
    ...(typeof traceparent === "string" && { traceparent }),
    ...(typeof tracestate === "string" && { tracestate }),
  };
}
