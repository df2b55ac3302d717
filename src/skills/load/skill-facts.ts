import type { Diagnostic } from "../../core/diagnostics.ts";
import type { AgentFacts } from "../agents/read-agents.ts";
import type { SkillDocument } from "../document/skill-document.ts";
import type { SkillManifest } from "../manifests/skill-manifest.ts";
import type { ScriptInterface } from "../scripts/script-interface.ts";

/** Everything that is read from a skill's files, and nothing else: the same files give the same facts, so they can be kept. */
export interface SkillFacts {
  readonly document?: SkillDocument;
  readonly manifest?: SkillManifest;
  /** The file with the skill's own code. What it says is no fact: it is known only after it has run. */
  readonly code?: string;
  readonly scripts: readonly ScriptInterface[];
  /** The agents that it brings. @default none */
  readonly agents?: readonly AgentFacts[];
  /** About the folder, the document and the manifest: an `error` among them means that there is no skill. */
  readonly diagnostics: readonly Diagnostic[];
  /** About scripts and agents: an `error` among them costs tools, not the skill. */
  readonly scriptDiagnostics: readonly Diagnostic[];
  /** Every tool of a script was checked as a tool is checked: see {@link checkTools}. */
  readonly areToolsChecked?: true;
}
