/**
 * Names of span attributes. Those of `gen_ai.*` and `mcp.*` are not final, and no package has them: they are in this one place,
 * so that they can follow the conventions of OpenTelemetry.
 */
export const genAi = {
  operationName: "gen_ai.operation.name",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  /** Only if the contents are wanted. */
  toolCallArguments: "gen_ai.tool.call.arguments",
  /** Only if the contents are wanted. */
  toolCallResult: "gen_ai.tool.call.result",
} as const;

/** The operation of a span that is a tool call. */
export const executeTool = "execute_tool";

/** Names that the conventions have for every kind of span. */
export const general = {
  errorType: "error.type",
  userId: "user.id",
} as const;

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
