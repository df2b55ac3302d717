/**
 * Tools for OpenAI Agents, and its tools for Kitbag.
 *
 * @module
 */
export type { AdapterOptions, ToolSource } from "./bridged-tools.ts";
export { fromOpenAiAgentsTools, toOpenAiAgentsTools } from "./to-openai-agents.ts";
export type { OpenAiAgentsFields, OpenAiAgentsTool } from "./to-openai-agents.ts";
