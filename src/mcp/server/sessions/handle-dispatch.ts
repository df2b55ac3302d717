import { toFailure } from "../../../core/errors.ts";
import { showValue, type JsonObject } from "../../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../../core/outcome.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import type { Tool } from "../../../core/tool.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import { createBatchTool } from "../../../workspace/dispatch/batch-dispatch.ts";
import { createDispatchTools } from "../../../workspace/dispatch/create-dispatch-tools.ts";
import type { DispatchTool } from "../../../workspace/dispatch/dispatch-tool.ts";
import type { Session } from "../../../workspace/workspace.ts";
import type { ToolClient } from "../client.ts";

const sessionProperty = {
  type: "string",
  minLength: 1,
  description: "The session that activate_skill answered with, to see and use what is open there",
} as const;

/**
 * The parameter that dispatch tools, and tools that run programs, have in the 2026 generation, because there is no connection that could
 * remember.
 */
const sessionKey = "session";

/** A schema with the parameter that names a session. */
export function withSessionParameter(schema: JsonSchema): JsonSchema {
  const properties = { ...(schema["properties"] as JsonObject), [sessionKey]: sessionProperty };
  return { ...schema, properties };
}

/** Tells whether a tool of the workspace takes a session: programs call whatever is open. */
export function takesSession({ code, inputSchema }: Tool): boolean {
  return code.kind === "code" && !Object.hasOwn(inputSchema["properties"] ?? {}, sessionKey);
}

/** Calls a tool of the workspace that takes a session, in the one that its input names. */
export async function callInSession(
  client: ToolClient,
  name: string,
  given: unknown,
  context: CallOptions,
): Promise<ToolOutcome> {
  const { input, named } = takeSession(client, name, given);
  if (named?.status === "failed") return named;
  return (named?.session ?? client.session).call(name, input, context);
}

/** Runs a dispatch tool in the session that its input names. */
export async function runInSession(
  client: ToolClient,
  name: string,
  given: unknown,
  context: CallOptions,
): Promise<ToolOutcome> {
  const { session: shared, caller, handles, limit } = client;
  const { input, named } = takeSession(client, name, given);
  if (named !== undefined) return named.status === "failed" ? named : run(named.session, name, input, context);
  if (name === "deactivate_skill") return refuseSession(name, undefined);
  if (name !== "activate_skill") return run(shared, name, input, context);
  const held = handles.open(caller);
  const outcome = await run(limit(held.session), name, input, context);
  if (outcome.status === "failed") {
    handles.close(held.handle);
    return outcome;
  }
  const output = {
    session: held.handle,
    howToCall: `call_tool with "session": "${held.handle}", and the name and input of a tool below`,
    ...(outcome.output as JsonObject),
  };
  return { ...outcome, output };
}

interface TakenSession {
  /** Without the parameter that names a session. */
  readonly input: unknown;
  /** The session that the input names, or why it cannot be used; `undefined` if the input names no session. */
  readonly named: { readonly status: "ok"; readonly session: Session } | FailedOutcome | undefined;
}

/** Finds the session that an input names. */
function takeSession({ caller, handles, limit }: ToolClient, tool: string, given: unknown): TakenSession {
  const { handle, input } = takeHandle(given);
  if (handle === undefined) return { input, named: undefined };
  if (typeof handle !== "string") return { input, named: refuseSession(tool, handle) };
  const held = handles.find(handle, caller);
  if (held === undefined) return { input, named: failed("session-not-found", { session: handle }) };
  return { input, named: { status: "ok", session: limit(held.session) } };
}

/** The session that an input names; the shared one if it names none that is there. */
export function findSession({ session: shared, caller, handles, limit }: ToolClient, given: unknown): Session {
  const { handle } = takeHandle(given);
  const held = typeof handle === "string" ? handles.find(handle, caller) : undefined;
  return held === undefined ? shared : limit(held.session);
}

function run(session: Session, name: string, input: unknown, context: CallOptions): Promise<ToolOutcome> {
  const tool = getDispatchTools(session).get(name) as DispatchTool;
  return tool.run(input, context);
}

function takeHandle(given: unknown): { readonly handle: unknown; readonly input: unknown } {
  if (typeof given !== "object" || given === null || !Object.hasOwn(given, sessionKey)) {
    return { handle: undefined, input: given };
  }
  const { [sessionKey]: handle, ...input } = given as Readonly<Record<string, unknown>>;
  return { handle, input };
}

function refuseSession(tool: string, found: unknown): FailedOutcome {
  const problem = {
    path: sessionKey,
    expected: "the session that activate_skill answered with",
    found: showValue(found),
  };
  return failed("input-invalid", { tool, problems: [problem] });
}

function failed(...failure: Parameters<typeof toFailure>): FailedOutcome {
  return { status: "failed", error: toFailure(...failure) };
}

const tools = new WeakMap<Session, ReadonlyMap<string, DispatchTool>>();

/** The dispatch tools of a session, by name, in the order they are listed. The same each time. */
export function getDispatchTools(session: Session): ReadonlyMap<string, DispatchTool> {
  const known = tools.get(session);
  if (known !== undefined) return known;
  const [search, describe, call, ...skills] = createDispatchTools(session) as [
    DispatchTool,
    DispatchTool,
    DispatchTool,
    ...DispatchTool[],
  ];
  const all = [search, describe, call, createBatchTool(session), ...skills];
  const made = new Map(all.map((tool) => [tool.name, tool]));
  tools.set(session, made);
  return made;
}
