/**
 * Skill folders: read, checked, turned into skills, followed while they change.
 *
 * @module
 */
export { parseSkillDocument } from "./skills/document/parse-skill-document.ts";
export { renderSkillBody } from "./skills/document/render-skill-body.ts";
export type { SkillDocument, SkillReading } from "./skills/document/skill-document.ts";
export type { LoadedSkills, LoadSkillsOptions } from "./skills/load/load-skills.ts";
export type { SkillReport, ToolReport } from "./skills/load/skill-report.ts";
export { createFolderTrust } from "./skills/trust/folder-trust.ts";
export type { FolderTrust, FolderTrustOptions } from "./skills/trust/folder-trust.ts";
export { openProjectLock } from "./skills/trust/lock-file.ts";
export type { LockReader } from "./skills/trust/lock-file.ts";
export type { ScriptInterface } from "./skills/scripts/script-interface.ts";
export type { SkillSource, SkillSourceOptions } from "./skills/watch/skill-source.ts";
export { followSkills } from "./workspace/skills/folder-skills.ts";
export type { FollowedSkills, SkillHolder } from "./workspace/skills/folder-skills.ts";
export { createSkillSource, loadSkills } from "./workspace/skills/folder-skills.ts";
