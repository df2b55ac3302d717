import { ProtocolError, ProtocolErrorCode, type CallToolResult } from "@modelcontextprotocol/server";

import { quote } from "../../../core/errors.ts";
import { isRecord, type JsonValue } from "../../../core/json.ts";
import { type McpCode, toContentOutput } from "../../../core/mcp-source.ts";
import type { ToolOutcome } from "../../../core/outcome.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import type { DispatchTool } from "../../../workspace/dispatch/dispatch-tool.ts";
import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import type { Session } from "../../../workspace/workspace.ts";
import { linkToServer } from "../resources/kitbag-uri.ts";
import { getDispatchTools } from "../shown-tools.ts";
import type { ToolClient } from "../client.ts";
import {
  findStructuredForm,
  toCallResult,
  toContentBlocks,
  toErrorResult,
  type StructuredForm,
} from "../tools/to-call-result.ts";

/** What a name of `tools/call` means. */
export interface CallTarget {
  readonly name: string;
  /** A dispatch tool (`search_tools`, `call_tool` …), or a tool of the workspace. A missing tool fails when it is called. */
  readonly kind: "dispatch" | "direct";
  readonly entry: RegisteredTool | undefined;
  /** The calls that an input leads to, in its order. */
  findCalls(input: unknown): readonly PlannedCall[];
  /** An input that gives its calls other inputs, in the same order. */
  replaceInputs(input: unknown, inputs: readonly unknown[]): unknown;
  /** How what it gives for an input is structured, as things are before the call. */
  findForm(input: unknown): StructuredForm;
  run(input: unknown, options: CallOptions): Promise<ToolOutcome>;
}

/** A call that a request would make. */
export interface PlannedCall {
  /** There may be no such tool, or not now, which the call says. */
  readonly entry: RegisteredTool | undefined;
  readonly input: unknown;
}

/** Finds what a name means to a client. Dispatch tools go first, where the client sees them. */
export function findTarget(client: ToolClient, name: string): CallTarget {
  const { session, generation } = client;
  const dispatch = getDispatchTools(session, client.exposure()).get(name);
  if (dispatch !== undefined) return toDispatchTarget(client, dispatch);
  const entry = session.getTool(name);
  return {
    name,
    kind: "direct",
    entry,
    findCalls: (input) => [{ entry: availableIn(session, entry), input }],
    replaceInputs: (_input, [input]) => input,
    findForm: () => findStructuredForm(entry?.tool.outputSchema, generation),
    run: async (input, options) => toWireNames(await session.call(name, input, options), session),
  };
}

/** Names similar tools as this client calls them. */
function toWireNames(outcome: ToolOutcome, session: Session): ToolOutcome {
  if (outcome.status === "ok" || outcome.error.code !== "tool-not-found") return outcome;
  const { error } = outcome;
  const message = error.details.nearest.reduce(
    (text, address) => text.replaceAll(quote(address), quote(session.getTool(address)?.wireName ?? address)),
    error.message,
  );
  return { ...outcome, error: { ...error, message } };
}

function toDispatchTarget({ session, generation }: ToolClient, tool: DispatchTool): CallTarget {
  const { name, outputSchema, findCalled } = tool;
  return {
    name,
    kind: "dispatch",
    entry: undefined,
    ...toPlan(session, name),
    findForm: (input) =>
      findStructuredForm(findCalled === undefined ? outputSchema : findCalled(input)?.tool.outputSchema, generation),
    run: tool.run,
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** What `call_tool` and `call_tools` would call. */
function toPlan(session: Session, name: string): Pick<CallTarget, "findCalls" | "replaceInputs"> {
  const planOf = (call: unknown): PlannedCall => ({
    entry: availableIn(session, getDispatchTools(session).get("call_tool")?.findCalled?.(call)),
    input: isRecord(call) ? call["input"] : undefined,
  });
  const replaceIn = (call: unknown, input: unknown): unknown =>
    isRecord(call) && input !== call["input"] ? { ...call, input } : call;
  if (name === "call_tool") {
    return {
      findCalls: (input) => [planOf(input)],
      replaceInputs: (input, [inner]) => replaceIn(input, inner),
    };
  }
  const callsIn = (input: unknown): readonly unknown[] =>
    name === "call_tools" && isRecord(input) && Array.isArray(input["calls"]) ? input["calls"] : [];
  return {
    findCalls: (input) => callsIn(input).map(planOf),
    replaceInputs(input, inputs) {
      if (inputs.length === 0) return input;
      return { ...(input as Fields), calls: callsIn(input).map((call, index) => replaceIn(call, inputs[index])) };
    },
  };
}

/** The person is not asked about a tool that cannot be called. */
function availableIn(session: Session, entry: RegisteredTool | undefined): RegisteredTool | undefined {
  return entry !== undefined && session.isToolAvailable(entry.address) ? entry : undefined;
}

const unknownCodes: ReadonlySet<string> = new Set(["tool-not-found", "address-invalid"]);

/**
 * The answer to a call of a target, in the form that was found before it ran. Links in what a tool of another server gave lead to that server.
 *
 * @throws {ProtocolError} if there is no tool of the name: the protocol wants an error then, not a result.
 */
export function toTargetResult(
  target: CallTarget,
  { outcome: made, input }: { readonly outcome: ToolOutcome; readonly input: unknown },
  form: StructuredForm,
): CallToolResult {
  const outcome = withOwnLinks(
    made,
    target.entry ?? (target.name === "call_tool" ? target.findCalls(input)[0]?.entry : undefined),
  );
  // The head of a large output fits no schema. A tool called through `call_tool` declares none here, so the head is no error.
  if (outcome.status === "ok")
    return toCallResult(outcome, outcome.capped !== undefined && target.kind === "dispatch" ? "none" : form);
  const { code, message } = outcome.error;
  if (code === "approval-missing") return toErrorResult(describeApproval(outcome.error.details.tool));
  const isUnknown = target.kind === "direct" && target.entry === undefined && unknownCodes.has(code);
  if (isUnknown) throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  return toCallResult(outcome, form);
}

/** The resources of servers that skills bring are not passed on, so their links stay as they are. */
function withOwnLinks(outcome: ToolOutcome, called: RegisteredTool | undefined): ToolOutcome {
  if (outcome.status !== "ok" || called?.tool.code.kind !== "mcp") return outcome;
  const { name, skill } = (called.tool.code as McpCode).source;
  const blocks = skill === undefined ? toContentBlocks(outcome.output) : undefined;
  if (blocks === undefined) return outcome;
  const linked = blocks.map((block) => linkToServer(name, block));
  return { ...outcome, output: toContentOutput(linked as unknown as JsonValue[]) };
}

/** Says how to get an approval. Kitbag's own message is written for programmers. */
function describeApproval(tool: string): string {
  // `import` exists only where Kitbag serves; on the command line the same is `kitbag add`.
  const command = tool === "import" ? "kitbag add <source>" : `kitbag call ${tool}`;
  return `Cannot call ${quote(tool)}: it needs an approval, and this client cannot ask its person\n→ Call it from a client that can (elicitation), or have a person run it where Kitbag runs: ${command}`;
}
