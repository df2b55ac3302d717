/**
 * Kitbag's agent: a loop over any model, whose run is its log.
 *
 * @module
 */
export type { Agent } from "./agent/agent-interface.ts";
export type {
  AgentOptions,
  Decision,
  ExposureName,
  InputRedaction,
  ModelSettings,
  OutputOf,
  RunLimits,
  RunOptions,
  Task,
} from "./agent/agent-options.ts";
export type { AgentRun } from "./agent/agent-run.ts";
export type { CostKind, CostRow } from "./agent/cost/usage-counter.ts";
export { readRunCosts } from "./agent/cost/cost-table.ts";
export { billPrompt, type PromptPart } from "./agent/cost/prompt-bill.ts";
export { renderCosts, type CostLine } from "./agent/cost/render-costs.ts";
export type { RunUsage } from "./agent/run-result.ts";
export { createAgent } from "./agent/create-agent.ts";
export { createDebugger } from "./agent/debug/create-debugger.ts";
export type { Breakpoint, DebugAction, DebuggerOptions, DebugStop } from "./agent/debug/create-debugger.ts";
export type { AgentEvent } from "./agent/events.ts";
export type { AgentCall, AgentHooks, AnswerVerdict, CallVerdict, ModelVerdict, OutcomeVerdict } from "./agent/hooks.ts";
export type { ForkChanges } from "./agent/log/fork-run.ts";
export type { Divergence } from "./agent/log/replay-run.ts";
export type { ReplayReport } from "./agent/log/replay-run.ts";
export { deleteConversation } from "./agent/memory/conversations/read-conversation.ts";
export { listConversations, type ConversationSummary } from "./agent/memory/conversations/read-conversation.ts";
export { readConversation } from "./agent/memory/conversations/read-conversation.ts";
export type { Conversation, ConversationRun } from "./agent/memory/conversations/read-conversation.ts";
export { createMemorySkill, createMemoryTools } from "./agent/memory/long-term/memory-skill.ts";
export type { MemoryToolsOptions } from "./agent/memory/long-term/memory-skill.ts";
export { openLongTermMemory } from "./agent/memory/long-term/open-long-term-memory.ts";
export type {
  Fact,
  FactExtractor,
  FactProposal,
  Forgotten,
  ForgetRequest,
  LongTermMemory,
  LongTermMemoryOptions,
  MemoryOwner,
  MemoryRecord,
  RecalledTurn,
  RecallOptions,
  Recollection,
  Remembered,
  UserMemory,
} from "./agent/memory/long-term/long-term-memory.ts";
export type { FactQuery, NewFact } from "./agent/memory/long-term/facts.ts";
export type { FileCommand, MemoryFile, MemoryFiles } from "./agent/memory/long-term/memory-files.ts";
export type { MemoryLimits, MemorySource, MemoryTrust } from "./agent/memory/long-term/memory-rows.ts";
export type { Turn, TurnSource } from "./agent/memory/long-term/turns.ts";
export type { WorkingMemory } from "./agent/memory/long-term/working-memory.ts";
export type { MemoryOptions, SummaryKind } from "./agent/memory/memory-options.ts";
export type { AnswerCacheOptions } from "./agent/run/answer-cache.ts";
export type { AgentTelemetryOptions } from "./agent/telemetry/model-metrics.ts";
export { agentTool, handoff } from "./agent/sub-agents/agent-tool.ts";
export type { AgentSource, AgentToolOptions, HandoffOptions } from "./agent/sub-agents/agent-tool.ts";
export type { Guard, Guarded, GuardPlace, GuardVerdict } from "./core/guards.ts";
export type { RunResult, StopReason } from "./agent/run-result.ts";
