/**
 * Tools that are made, tried, versioned and looked after while everything runs.
 *
 * @module
 */
export { openForge } from "./forge/open-forge.ts";
export { createForgeTools } from "./forge/tools/create-forge-tools.ts";
export type {
  ChangeOptions,
  ExampleResult,
  Forge,
  ForgeAnswer,
  ForgeDiagnostic,
  ForgedSkill,
  ForgedTool,
  ForgeEvent,
  ForgeOptions,
  ForgePolicy,
  ForgeVersion,
  LiveSkill,
  LiveTool,
  RefusedTool,
  ReplayDifference,
  ReplayReport,
  RollbackOptions,
  SkillAnswer,
  SkillChangeOptions,
  TestReport,
  UpdateOptions,
  VersionStep,
  WaitingTool,
} from "./forge/forge-interface.ts";
export type {
  CodeDraft,
  DraftHead,
  ForgeLanguage,
  PipelineDraft,
  SkillDraft,
  ToolChanges,
  ToolDraft,
} from "./forge/drafts/tool-draft.ts";
export { createImportTool } from "./forge/import/create-import-tool.ts";
export type { ImportToolOptions } from "./forge/import/create-import-tool.ts";
export type { SkillDifference } from "./forge/import/import-candidate.ts";
export type { FetchOptions } from "./forge/import/fetched.ts";
export type { CandidateTool, ImportCandidate, SkippedFolder } from "./forge/import/import-candidate.ts";
export type { ImportLimits } from "./forge/import/fetched.ts";
export { importSkills } from "./forge/import/import-skills.ts";
export type { ImportOptions, ImportPlugin, ImportReport } from "./forge/import/import-skills.ts";
export { removeSkill, restoreSkill } from "./forge/import/remove-skill.ts";
export { rollbackSkill } from "./forge/import/rollback-skill.ts";
export type { RolledBackSkill } from "./forge/import/rollback-skill.ts";
export type { RemovedSkill, RemoveOptions } from "./forge/import/remove-skill.ts";
export { updateSkills } from "./forge/import/update-skills.ts";
export type { SkillUpdate, UpdateSkillsOptions } from "./forge/import/update-skills.ts";
export { createWorkflowTools } from "./forge/workflow/create-workflow-tools.ts";
export type { WorkflowToolsOptions } from "./forge/workflow/create-workflow-tools.ts";
