/**
 * Names that the conventions of OpenTelemetry have. Those of `gen_ai.*` and `mcp.*` are not final, and no package has them: they
 * are in this one place, so that they can follow.
 */
export const conventions = {
  errorType: "error.type",
  userId: "user.id",
  operationName: "gen_ai.operation.name",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  /** Only if the contents are wanted. */
  toolCallArguments: "gen_ai.tool.call.arguments",
  /** Only if the contents are wanted. */
  toolCallResult: "gen_ai.tool.call.result",
  mcpMethodName: "mcp.method.name",
  mcpProtocolVersion: "mcp.protocol.version",
  mcpSessionId: "mcp.session.id",
  mcpResourceUri: "mcp.resource.uri",
  jsonRpcRequestId: "jsonrpc.request.id",
  networkTransport: "network.transport",
} as const;

/** The operation of a span that is a tool call. */
export const executeTool = "execute_tool";

/** Names of our own. */
export const own = {
  callParent: "kitbag.call.parent",
  callDepth: "kitbag.call.depth",
  callRan: "kitbag.call.ran",
  callRecalled: "kitbag.call.recalled",
  callQueueMs: "kitbag.call.queue_ms",
  outputBytes: "kitbag.call.output_bytes",
  toolSource: "kitbag.tool.source",
  toolOwner: "kitbag.tool.owner",
  toolVersion: "kitbag.tool.version",
  runtimeKind: "kitbag.runtime.kind",
  sandbox: "kitbag.sandbox",
  storeOperation: "kitbag.store.operation",
} as const;
