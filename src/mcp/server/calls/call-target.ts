import type { ToolOutcome } from "../../../core/outcome.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import type { DispatchTool } from "../../../workspace/dispatch/dispatch-tool.ts";
import type { RegisteredTool } from "../../../workspace/registered-tool.ts";
import { findSession, runInSession } from "../sessions/handle-dispatch.ts";
import { getDispatchTools } from "../sessions/session-tools.ts";
import type { ToolClient } from "../tool-client.ts";
import { findStructuredForm, type StructuredForm } from "../tools/structured-output.ts";

/** What a name of `tools/call` means. */
export interface CallTarget {
  readonly name: string;
  /** One of the fixed few, or a tool of the workspace; that one may not be there, which the call says. */
  readonly kind: "dispatch" | "direct";
  readonly entry: RegisteredTool | undefined;
  /** How what it gives for an input is structured, as things are before the call. */
  findForm(input: unknown): StructuredForm;
  run(input: unknown, options: CallOptions): Promise<ToolOutcome>;
}

/** Finds what a name means to a client. The fixed few go first, where they are shown. */
export function findTarget(client: ToolClient, name: string): CallTarget {
  const { session, generation } = client;
  const dispatch = client.exposure() === "direct" ? undefined : getDispatchTools(session).get(name);
  if (dispatch !== undefined) return toDispatchTarget(client, dispatch);
  const entry = session.getTool(name);
  return {
    name,
    kind: "direct",
    entry,
    findForm: () => findStructuredForm(entry?.tool.outputSchema, generation),
    run: (input, options) => session.call(name, input, options),
  };
}

function toDispatchTarget(client: ToolClient, tool: DispatchTool): CallTarget {
  const { name, outputSchema } = tool;
  const isCaller = tool.findCalled !== undefined;
  const { generation } = client;
  const run: CallTarget["run"] =
    generation === "2026" ? (input, options) => runInSession(client, name, input, options) : tool.run;
  return {
    name,
    kind: "dispatch",
    entry: undefined,
    findForm: (input) =>
      findStructuredForm(isCaller ? findCalledTool(client, name, input)?.tool.outputSchema : outputSchema, generation),
    run,
  };
}

/** The tool that one of the fixed few would call with an input, if it is for that and there is one. */
export function findCalledTool(client: ToolClient, name: string, input: unknown): RegisteredTool | undefined {
  const session = client.generation === "2026" ? findSession(client, input) : client.session;
  return getDispatchTools(session).get(name)?.findCalled?.(input);
}
