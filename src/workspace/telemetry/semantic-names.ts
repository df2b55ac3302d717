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
  providerName: "gen_ai.provider.name",
  conversationId: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestTemperature: "gen_ai.request.temperature",
  requestTopP: "gen_ai.request.top_p",
  requestTopK: "gen_ai.request.top_k",
  requestSeed: "gen_ai.request.seed",
  requestStop: "gen_ai.request.stop_sequences",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  tokenType: "gen_ai.token.type",
  /** Only if the contents are wanted. */
  systemInstructions: "gen_ai.system_instructions",
  /** Only if the contents are wanted. */
  inputMessages: "gen_ai.input.messages",
  /** Only if the contents are wanted. */
  outputMessages: "gen_ai.output.messages",
  mcpMethodName: "mcp.method.name",
  mcpProtocolVersion: "mcp.protocol.version",
  mcpSessionId: "mcp.session.id",
  mcpResourceUri: "mcp.resource.uri",
  jsonRpcRequestId: "jsonrpc.request.id",
  networkTransport: "network.transport",
} as const;

/** The operation of a span that is a tool call. */
export const executeTool = "execute_tool";

/** The operation of a span that is a run of an agent. */
export const invokeAgent = "invoke_agent";

/** The operation of a span that is a question to a model. */
export const chat = "chat";

/** What is measured about questions to models. */
export const metricNames = {
  tokenUsage: "gen_ai.client.token.usage",
  operationDuration: "gen_ai.client.operation.duration",
  /** A name of our own: the conventions have none. */
  cost: "kitbag.client.cost",
} as const;

/** What is measured about the graphics cards of this machine. */
export const gpuMetricNames = {
  memoryLimit: "hw.gpu.memory.limit",
  memoryUsage: "hw.gpu.memory.usage",
  utilization: "hw.gpu.utilization",
} as const;

/** Which graphics card it is. */
export const gpuAttributes = { id: "hw.id", name: "hw.name", vendor: "hw.vendor" } as const;

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
  runId: "kitbag.run.id",
  runStatus: "kitbag.run.status",
  runReason: "kitbag.run.reason",
  runStep: "kitbag.run.step",
  runSteps: "kitbag.run.steps",
  runCalls: "kitbag.run.calls",
  /** In US dollars. */
  cost: "kitbag.cost_usd",
  storeOperation: "kitbag.store.operation",
} as const;
