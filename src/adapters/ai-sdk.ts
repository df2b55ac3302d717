/**
 * Tools for the AI SDK, and its tools for Kitbag.
 *
 * @module
 */
export type { AdapterOptions, ToolSource } from "./bridged-tools.ts";
export { fromAiSdkTools, toAiSdkTools } from "./to-ai-sdk.ts";
export type { AiSdkCall, AiSdkParts, AiSdkTool, AiSdkToolDefinition } from "./to-ai-sdk.ts";
