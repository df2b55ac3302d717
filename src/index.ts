/**
 * Kitbag: skill folders become typed, permissioned, sandboxed tools for any model and any MCP client.
 *
 * @module
 */
export type { FileNamer, FileParameters, FilePolicy, FileUse, NamedFile, WrittenFile } from "./core/call-files.ts";
export { defineSkill } from "./core/define-skill.ts";
export type { ReuseDefinition, SkillDefinition } from "./core/define-skill.ts";
export { defineTool } from "./core/define-tool.ts";
export type { Diagnostic } from "./core/diagnostics.ts";
export { errorCodes, isKitbagError, KitbagError } from "./core/errors.ts";
export type { ErrorCode, ErrorDetails, Failure, Problem } from "./core/errors.ts";
export type { CallEnd, CallEvent, CallLog, CallStart, Progress, ToolSource } from "./core/events.ts";
export type { JsonObject, JsonValue } from "./core/json.ts";
export type { CappedOutput, FailedOutcome, OkOutcome, OutputHead, Recalled, ToolOutcome } from "./core/outcome.ts";
export type { Permissions } from "./core/permissions.ts";
export { redactText, redactValue } from "./core/redaction/redact.ts";
export type { RedactOptions } from "./core/redaction/redact.ts";
export type { RedactionKind } from "./core/redaction/rules.ts";
export type { Queue } from "./core/store.ts";
export type { Runtime, RuntimeContext, RuntimeDescription } from "./core/runtime.ts";
export type { Coercion } from "./core/schema/coerce.ts";
export type { JsonSchema } from "./core/schema/json-schema.ts";
export type { Skill, SkillContext, SkillFile, SkillFolder, ToolReuse, ToolUse } from "./core/skill.ts";
export type { Store } from "./core/store.ts";
export { progress } from "./core/tool.ts";
export type { ToolContext } from "./core/tool.ts";
export type { StateEntry, StateExpectation, StateListOptions, StateOptions, ToolState } from "./core/tool-state.ts";
export { injected } from "./core/tool.ts";
export type {
  Tool,
  ToolAnnotations,
  ToolAuthor,
  ToolCache,
  ToolDefinition,
  ToolExample,
  ToolLimits,
  ToolRate,
  TypedTool,
} from "./core/tool.ts";
export { codeRuntime } from "./runtimes/code/code-runtime.ts";
export type { CodeRuntime, CodeRuntimeOptions } from "./runtimes/code/code-runtime.ts";
export type { CodeLimits } from "./runtimes/code/program-session.ts";
export { createCodeTool } from "./runtimes/code/create-code-tool.ts";
export type { CodeInput, CodeLanguage, CodeToolOptions } from "./runtimes/code/create-code-tool.ts";
export type { CodeCall } from "./runtimes/code/program-session.ts";
export { renderToolDeclarations } from "./runtimes/code/render-tool-declarations.ts";
export type { CodeOutput } from "./runtimes/code/program-session.ts";
export type { AvailableTool } from "./runtimes/code/render-tool-declarations.ts";
export { branch } from "./runtimes/pipeline/branch.ts";
export { mapReduce } from "./runtimes/pipeline/map-reduce.ts";
export { parallel } from "./runtimes/pipeline/parallel.ts";
export { pipeline } from "./runtimes/pipeline/pipeline.ts";
export { retry } from "./runtimes/pipeline/retry.ts";
export type { RetryOptions } from "./runtimes/pipeline/retry.ts";
export { definePipeline } from "./runtimes/pipeline/define-pipeline.ts";
export type { DefinePipelineOptions } from "./runtimes/pipeline/define-pipeline.ts";
export { pipelineRuntime } from "./runtimes/pipeline/pipeline-runtime.ts";
export { pipelineSchema } from "./runtimes/pipeline/pipeline-spec.ts";
export type { PipelineSpec, PipelineStep } from "./runtimes/pipeline/pipeline-spec.ts";
export { memoryStore } from "./store/memory-store.ts";
export type { ApprovalDecision, ApprovalRequest, Approve } from "./workspace/call/call-options.ts";
export type { Guard, GuardAct, Guarded, GuardPlace, GuardVerdict } from "./core/guards.ts";
export type { Middleware, PublicCall } from "./workspace/call/middleware.ts";
export { createWorkspace } from "./workspace/create-workspace.ts";
export type { CatalogOptions, RenderedCatalog } from "./workspace/skills/render-skills.ts";
export type { FoundItem, SearchOptions } from "./workspace/skills/search-workspace.ts";
export type {
  InvokeOptions,
  SkillMethods,
  SkillOptions,
  SkillOutcome,
  SkillState,
  SkillToolState,
} from "./workspace/skills/skill-methods.ts";
export type { Scopes, ScopesOf } from "./core/scopes.ts";
export type { CallOptions } from "./workspace/call/call-options.ts";
export type { InjectedRecord, InjectedSource, InjectorCall } from "./workspace/registry/registered-tool.ts";
export type { SkillUsage } from "./workspace/skills/running-calls.ts";
export type { WorkspaceLimits } from "./workspace/options/limits.ts";
export { createOutputTool } from "./workspace/outputs/output-tool.ts";
export type { OutputPage, PageOptions } from "./workspace/outputs/read-output.ts";
export type { OutputMatch, OutputMatches, SearchOutputOptions } from "./workspace/outputs/read-output.ts";
export type { OutputSlice, SliceOutputOptions } from "./workspace/outputs/slice-output.ts";
export { openDeadLetters } from "./workspace/failures/dead-letters.ts";
export type { DeadLetter, DeadLetters, RetryDeadOptions } from "./workspace/failures/dead-letters.ts";
export type { BreakerOptions } from "./workspace/failures/retry-policy.ts";
export type { RetryPolicy } from "./workspace/failures/retry-policy.ts";
export type { QuotaLimits, QuotaOptions } from "./workspace/quotas/quota-options.ts";
export type { Quotas } from "./workspace/quotas/quotas.ts";
export type { RateLimit } from "./workspace/rates/rate-limit.ts";
export type { ForgetOptions } from "./workspace/recall/output-cache.ts";
export type { RegisteredTool, WorkspaceChange } from "./workspace/registry/registered-tool.ts";
export type { RedactionOptions } from "./workspace/options/redaction.ts";
export type { Session, SessionOptions } from "./workspace/workspace.ts";
export type { TelemetryOptions } from "./workspace/telemetry/tracing.ts";
export type { AddOptions, ToolComponent, Workspace, WorkspaceOptions } from "./workspace/workspace.ts";
