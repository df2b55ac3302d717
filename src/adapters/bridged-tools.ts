import type { Progress } from "../core/events.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import { renderWrittenFiles } from "../core/call-files.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import type { JsonSchema } from "../core/schema/json-schema.ts";
import type { CallOptions } from "../workspace/call/call-options.ts";
import { createDispatchTools } from "../workspace/dispatch/create-dispatch-tools.ts";
import type { Session } from "../workspace/workspace.ts";

/** Where tools come from: a workspace, or a session of it. */
export type ToolSource = Pick<Session, "getAvailableTools" | "call" | "onChange">;

/** What may be said when tools are handed to a framework. */
export interface AdapterOptions {
  /** Goes with each call: `user`, `scopes`, `approve`, `limitMs`. */
  readonly call?: CallOptions;
  /**
   * Also hands over the few tools with which a model finds and opens skills and calls their tools, for frameworks whose list of tools
   * does not change while an agent works. Needs a session. @default none
   */
  readonly skills?: Session;
}

/** What goes with one call of a framework. */
export interface BridgedCall {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: Progress) => void;
  /** Whether the framework has asked a person about this call. */
  readonly isApproved?: boolean;
}

/** A tool, as every framework can take it. */
export interface BridgedTool {
  /** The name on the wire: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** A copy: frameworks change what they are handed. */
  readonly inputSchema: JsonObject & { type: "object" };
  readonly needsApproval: boolean;
  call(input: unknown, call?: BridgedCall): Promise<ToolOutcome>;
}

/** The tools that are available now. A call goes through all checks of the workspace, also if the tool is not available any more. */
export function bridgeTools(source: ToolSource, { call = {}, skills }: AdapterOptions = {}): readonly BridgedTool[] {
  const tools = source.getAvailableTools().map(({ tool, wireName, address }): BridgedTool => ({
    name: wireName,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description,
    inputSchema: copySchema(tool.inputSchema),
    needsApproval: tool.needsApproval,
    call: (input, given = {}) => source.call(address, input ?? {}, toOptions(call, given)),
  }));
  return skills === undefined ? tools : [...tools, ...bridgeDispatchTools(skills, call)];
}

function bridgeDispatchTools(session: Session, call: CallOptions): readonly BridgedTool[] {
  return createDispatchTools(session).map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: copySchema(tool.inputSchema),
    needsApproval: false,
    call: (input, given = {}) => tool.run(input, toOptions(call, given)),
  }));
}

function toOptions(common: CallOptions, { signal, onProgress, isApproved = false }: BridgedCall): CallOptions {
  const signals = [common.signal, signal].filter((one) => one !== undefined);
  return {
    ...common,
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    ...(isApproved && { approve: () => ({ decision: "approve" }) }),
    ...(onProgress !== undefined && {
      onEvent(event) {
        common.onEvent?.(event);
        if (event.type === "call-progress") onProgress(event.progress);
      },
    }),
  };
}

function copySchema(schema: JsonSchema): JsonObject & { type: "object" } {
  return { ...(structuredClone(schema) as JsonObject), type: "object" };
}

/** What a model reads of an outcome: its output as text, the files that the tool wrote, or why it failed. */
export function textOfOutcome(outcome: ToolOutcome): string {
  const files = renderWrittenFiles(outcome.files);
  const text = outcome.status === "failed" ? outcome.error.message : toText(outcome.output);
  return files === "" ? text : `${text}\n\n${files}`;
}

function toText(output: JsonValue): string {
  return typeof output === "string" ? output : JSON.stringify(output);
}
