import type { FileParameters } from "../../core/call-files.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { McpServerEntry } from "../../core/mcp-source.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { ListedDependencies } from "../../core/script-code.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ToolAnnotations, ToolCache, ToolRate } from "../../core/tool.ts";

/** What the source of a WASM module can be written in. */
export const sourceLanguages = ["c", "c++", "rust", "assemblyscript", "zig", "go", "javascript"] as const;

/** A tool as a manifest describes it. */
export interface ManifestTool {
  readonly name: string;
  readonly kind: "script" | "wasm" | "pipeline" | "reuse";
  readonly description?: string;
  /** The script or the WASM module, relative to the folder. */
  readonly file?: string;
  readonly interpreter?: string;
  /** What the WASM module is built from, relative to the folder. */
  readonly source?: string;
  /** Of the source, if its name does not tell. */
  readonly language?: (typeof sourceLanguages)[number];
  readonly input?: JsonSchema;
  readonly output?: JsonSchema;
  /** The parameters that name files. */
  readonly files?: FileParameters;
  readonly annotations?: ToolAnnotations;
  readonly limitMs?: number;
  /** Only of a tool that is idempotent or read-only. */
  readonly retries?: number;
  readonly rate?: ToolRate;
  readonly cache?: Omit<ToolCache, "key">;
  readonly needsApproval?: boolean;
  /** Of a pipeline. */
  readonly steps?: readonly JsonObject[];
  /** Of a tool that is taken over from another skill. */
  readonly uses?: string;
  readonly locked?: JsonObject;
  readonly version?: string;
}

/** A call that must succeed, and what comes of it. */
export interface ManifestTest {
  /** The name of one of the skill's tools. */
  readonly tool: string;
  readonly description?: string;
  readonly input: JsonObject;
  /** If it is given, exactly this must come. */
  readonly output?: JsonValue;
}

/** What a manifest says about a skill, whichever of the formats it is written in. */
export interface SkillManifest {
  /** The manifest's file, for messages. */
  readonly file: string;
  readonly name?: string;
  readonly displayName?: string;
  readonly version?: string;
  readonly description?: string;
  readonly capabilities: readonly string[];
  readonly exclusive: boolean;
  readonly requires: readonly string[];
  readonly uses: readonly string[];
  /** The versions and systems without which it is not loaded. @default any */
  readonly needs?: { readonly kitbag?: string; readonly node?: string; readonly system?: readonly string[] };
  readonly permissions: Permissions;
  /** The author: free text; with `authorScopes`, the user who made the skill with the forge. */
  readonly author?: string;
  /**
   * What its author could call when it was made. The forge writes it into every skill of a user: its tools call only what these
   * scopes allow, and what the author may call now. Leaving it out changes the file, so the skill must be trusted again.
   */
  readonly authorScopes?: readonly string[];
  /** The user for whom alone it is there, unless it is shared. @default it is there for every user */
  readonly owner?: string;
  readonly shared?: boolean;
  readonly tools: readonly ManifestTool[];
  readonly dependencies?: ListedDependencies;
  /** They become examples of the tools. */
  readonly tests?: readonly ManifestTest[];
  /** Other MCP servers, by name. */
  readonly mcp?: Readonly<Record<string, McpServerEntry>>;
  /** Whether it says that there is a SKILL.md. */
  readonly needsDocument: boolean;
  /** Whether the scripts' own environment variables are granted (`env_read` of other systems names none). */
  readonly grantsSeenEnvironment: boolean;
}

/** A manifest that says nothing. */
export const emptyManifest: Omit<SkillManifest, "file"> = {
  capabilities: [],
  exclusive: false,
  requires: [],
  uses: [],
  permissions: {},
  tools: [],
  needsDocument: false,
  grantsSeenEnvironment: false,
};
