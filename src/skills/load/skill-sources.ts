import type { SkillFolder } from "../../core/skill.ts";
import type { DefinedSkill } from "../code/to-defined-skill.ts";
import type { SkillManifest } from "../manifests/skill-manifest.ts";
import type { SkillFacts } from "./skill-facts.ts";

/** Everything that says something about a skill. Manifest and document go before the code: they are read before it is trusted. */
export interface SkillSources {
  readonly facts: SkillFacts;
  /** An empty one if the files have none. */
  readonly manifest: SkillManifest;
  /** What its own code says, if that was loaded. */
  readonly defined: DefinedSkill | undefined;
}

/** Where a skill is, for its report. */
export interface SkillPlace {
  readonly path: string;
  readonly folder: SkillFolder;
  /** The name of the folder, or of the plugin and the folder. */
  readonly folderName: string;
}
