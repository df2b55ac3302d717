import { ProtocolError, ProtocolErrorCode, type McpServer, type Tool as McpTool } from "@modelcontextprotocol/server";

import { toVisibleText } from "../../../core/hidden-characters.ts";
import { toVisibleSchema } from "../../../core/schema/close-schema.ts";
import type { ToolAnnotations } from "../../../core/tool.ts";
import type { DispatchTool } from "../../../workspace/dispatch/dispatch-tool.ts";
import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import { callTool, type OpenCalls } from "../calls/call-tool.ts";
import type { McpExposure, McpGeneration, ToolClient } from "../client.ts";
import { getDispatchTools } from "../shown-tools.ts";
import { listTtlMs, toCacheFields } from "../resources/attach-resources.ts";
import { findStructuredForm, toStructuredSchema } from "./to-call-result.ts";

/** Serves the tools of a client. Before the server is connected. */
export function attachTools(mcp: McpServer, client: ToolClient, calls: OpenCalls): void {
  const { server } = mcp;
  server.registerCapabilities({ tools: { listChanged: true }, logging: {} });

  server.setRequestHandler("tools/list", ({ params }, context) => {
    client.see(context);
    if (params?.cursor !== undefined) {
      const message = "Cannot go on with the list of tools: it has one page, so there is no cursor";
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    const { tools } = getToolList(client);
    return { tools: tools as ToolList["tools"][number][], ...toCacheFields(client, listTtlMs) };
  });
  server.setRequestHandler("tools/call", ({ params }, context) => {
    client.see(context);
    return callTool(calls, client, { name: params.name, input: params.arguments }, context);
  });

  // The SDK checks headers that repeat arguments, and asks the server itself what a tool takes.
  mcp.toolInputSchemaJson = (name) => client.session.getTool(name)?.tool.inputSchema;
}

/** What `tools/list` answers a client now. The same object while nothing changes. */
export function getToolList(client: ToolClient): ToolList {
  return listTools(client.session.getAvailableTools(), toListForm(client));
}

function toListForm({ generation, session, exposure }: ToolClient): ListForm {
  const shown = exposure();
  const dispatch = [...getDispatchTools(session, shown).values()];
  return { exposure: shown, generation, dispatch };
}

/** What `tools/list` answers with. */
interface ToolList {
  readonly tools: readonly McpTool[];
  /** The same as JSON text, written once: `[{"name":…},…]`. */
  readonly json: string;
}

/** What decides how a list looks, beside the tools. */
export interface ListForm {
  readonly exposure: McpExposure;
  readonly generation: McpGeneration;
  /** The dispatch tools, in their order. */
  readonly dispatch: readonly DispatchTool[];
}

/** By the identity of what is available, which stays the same while nothing changes. */
const lists = new WeakMap<readonly RegisteredTool[], Map<string, ToolList>>();

/**
 * The list of tools for a client: the dispatch tools first, then what is available by name, so that the order never depends on what
 * happened before. A tool with the name of a dispatch tool is left out where those are shown; `call_tool` reaches it.
 */
export function listTools(available: readonly RegisteredTool[], form: ListForm): ToolList {
  const key = `${form.exposure} ${form.generation} ${form.dispatch.length}`;
  const known = lists.get(available) ?? new Map<string, ToolList>();
  lists.set(available, known);
  const list = known.get(key) ?? createList(available, form);
  known.set(key, list);
  return list;
}

function createList(available: readonly RegisteredTool[], { exposure, generation, dispatch }: ListForm): ToolList {
  const taken = new Set(dispatch.map(({ name }) => name));
  const direct = exposure === "dispatch" ? [] : available.filter(({ wireName }) => !taken.has(wireName));
  const sorted = direct.toSorted((one, other) => (one.wireName < other.wireName ? -1 : 1));
  const tools = [...dispatch.map(toListedDispatchTool), ...sorted.map((entry) => toListedTool(entry, generation))];
  let json: string | undefined;
  return {
    tools,
    get json() {
      return (json ??= JSON.stringify(tools));
    },
  };
}

/** A tool as `tools/list` tells it. */
function toListedTool({ wireName: name, tool }: RegisteredTool, generation: McpGeneration): McpTool {
  const { title, description, outputSchema, annotations } = tool;
  const inputSchema = toVisibleSchema(tool.inputSchema);
  const form = findStructuredForm(outputSchema, generation);
  const output = outputSchema === undefined ? undefined : toStructuredSchema(outputSchema, form);
  return {
    name,
    ...(title !== undefined && { title: toVisibleText(title) }),
    description: toVisibleText(description),
    inputSchema: inputSchema as McpTool["inputSchema"],
    ...(output !== undefined && { outputSchema: toVisibleSchema(output) }),
    ...toHints(annotations),
  };
}

/** A dispatch tool as `tools/list` tells it. */
function toListedDispatchTool({ name, description, inputSchema, outputSchema, annotations }: DispatchTool): McpTool {
  return {
    name,
    description,
    inputSchema: inputSchema as McpTool["inputSchema"],
    ...(outputSchema !== undefined && { outputSchema: outputSchema }),
    ...toHints(annotations),
  };
}

function toHints({ readOnly, destructive, idempotent, openWorld }: ToolAnnotations): Pick<McpTool, "annotations"> {
  const hints = {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  };
  return Object.keys(hints).length > 0 ? { annotations: hints } : {};
}
