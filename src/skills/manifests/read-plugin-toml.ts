import type { Diagnostic } from "../../core/diagnostics.ts";
import type { JsonObject } from "../../core/json.ts";
import { joinPermissions, type Permissions } from "../../core/permissions.ts";
import { parseManifestText } from "./parse-manifest-text.ts";
import { emptyManifest, type ManifestTool, type SkillManifest } from "./skill-manifest.ts";

const text = { type: "string", minLength: 1 };
const texts = { type: "array", items: text };

/** What `manifest.toml` of a plugin may hold. Keys that we do not know belong to other systems and are left alone. */
export const pluginTomlSchema = {
  type: "object",
  properties: {
    name: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$" },
    version: text,
    description: text,
    wasm_path: text,
    capabilities: texts,
    permissions: texts,
    hosts: texts,
    tools: {
      type: "array",
      maxItems: 1000,
      items: {
        type: "object",
        properties: {
          name: text,
          description: text,
          input_schema: { type: "object" },
          output_schema: { type: "object" },
        },
        required: ["name"],
      },
    },
  },
  required: ["name", "capabilities"],
};

/** What a plugin may be for us. */
const knownCapabilities = ["skill", "tool"];

/** Reads `manifest.toml` of a plugin: each part that it declares must be there and be right. */
export function readPluginToml(
  file: string,
  bytes: Uint8Array,
  files: ReadonlySet<string>,
): { manifest?: SkillManifest; diagnostics: readonly Diagnostic[] } {
  const parsed = parseManifestText<PluginToml>(file, bytes, pluginTomlSchema);
  if (!parsed.ok) return { diagnostics: parsed.diagnostics };
  const plugin = parsed.value;
  const words = mapPermissionWords(file, plugin.permissions ?? [], plugin.hosts ?? []);
  const diagnostics = [...checkParts(file, plugin, files), ...words.diagnostics];
  if (diagnostics.some((one) => one.severity === "error")) return { diagnostics };
  return {
    manifest: {
      ...emptyManifest,
      file,
      name: plugin.name,
      ...(plugin.version !== undefined && { version: plugin.version }),
      ...(plugin.description !== undefined && { description: plugin.description }),
      permissions: words.permissions satisfies Permissions,
      grantsSeenEnvironment: words.grantsSeenEnvironment,
      needsDocument: plugin.capabilities.includes("skill"),
      tools: toTools(plugin),
    },
    diagnostics,
  };
}

interface PluginToml {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly wasm_path?: string;
  readonly capabilities: readonly string[];
  readonly permissions?: readonly string[];
  /** Where `http_client` and its relatives may connect to, as rules of the permission `network`. */
  readonly hosts?: readonly string[];
  readonly tools?: readonly {
    name: string;
    description?: string;
    input_schema?: JsonObject;
    output_schema?: JsonObject;
  }[];
}

function checkParts(file: string, plugin: PluginToml, files: ReadonlySet<string>): Diagnostic[] {
  const missing: string[] = [];
  for (const capability of plugin.capabilities) {
    if (!knownCapabilities.includes(capability))
      missing.push(`Kitbag has no capability "${capability}"; it has ${knownCapabilities.join(" and ")}`);
  }
  if (plugin.capabilities.length === 0)
    missing.push('it declares no capability; write capabilities = ["skill", "tool"]');
  if (plugin.capabilities.includes("skill") && ![...files].some((path) => /^skill\.md$/iu.test(path))) {
    missing.push('it declares the capability "skill" and has no SKILL.md');
  }
  if (plugin.capabilities.includes("tool")) {
    if (plugin.wasm_path === undefined) missing.push('it declares the capability "tool" and has no wasm_path');
    else if (!files.has(plugin.wasm_path.replace(/^\.\//u, "")))
      missing.push(`wasm_path names "${plugin.wasm_path}", which is not in the folder`);
  }
  return missing.map((reason) => ({
    severity: "error",
    code: "manifest-incomplete",
    message: `Cannot use ${file}: ${reason}`,
    file,
  }));
}

function toTools(plugin: PluginToml): ManifestTool[] {
  if (!plugin.capabilities.includes("tool") || plugin.wasm_path === undefined) return [];
  const path = plugin.wasm_path.replace(/^\.\//u, "");
  // A plugin that does not list its tools is one tool itself.
  const listed = plugin.tools ?? [{ name: plugin.name }];
  return listed.map((tool) => ({
    name: tool.name,
    kind: "wasm",
    file: path,
    ...(tool.description !== undefined && { description: tool.description }),
    ...(tool.input_schema !== undefined && { input: tool.input_schema }),
    ...(tool.output_schema !== undefined && { output: tool.output_schema }),
  }));
}

/** The words that other systems use for permissions, and what they mean here. */
const words: Readonly<Record<string, Permissions>> = {
  // The hosts are those of the manifest; without any, a person is asked for them.
  http_client: {},
  http_request: {},
  websocket_client: {},
  network: {},
  file_read: { read: ["."] },
  file_write: { read: ["."], write: ["."] },
  // The variables are those that the scripts are seen to read.
  env_read: {},
  config_read: {},
  // State belongs to each tool and needs no permission.
  memory_read: {},
  memory_write: {},
};

const networkWords = new Set(["http_client", "http_request", "websocket_client", "network"]);

/** Permissions in our own words. */
interface MappedPermissions {
  readonly permissions: Permissions;
  readonly grantsSeenEnvironment: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** Translates other systems' permission words. One that nothing here can enforce is refused by name. */
function mapPermissionWords(file: string, given: readonly string[], hosts: readonly string[]): MappedPermissions {
  const network = given.find((word) => networkWords.has(word));
  const isOpen = network !== undefined && hosts.length === 0;
  const known = given.filter((word) => Object.hasOwn(words, word));
  const unknown = given.filter((word) => !Object.hasOwn(words, word));
  return {
    permissions: joinPermissions([
      ...known.map((word) => words[word] ?? {}),
      ...(network !== undefined && hosts.length > 0 ? [{ network: hosts }] : []),
    ]),
    grantsSeenEnvironment: known.includes("env_read") || known.includes("config_read"),
    diagnostics: [...(isOpen ? [toHostsMissing(file, network)] : []), ...unknown.map((word) => toUnknown(file, word))],
  };
}

function toUnknown(file: string, word: string): Diagnostic {
  return {
    severity: "error",
    code: "permission-unknown",
    message: `Cannot use ${file}: nothing here enforces the permission "${word}"`,
    file,
    cure: `use one of ${Object.keys(words).join(", ")}, or write kitbag.toml`,
  };
}

/** The code of the diagnostic for a plugin that wants the network and names no hosts. */
export const hostsMissing = "hosts-missing";

function toHostsMissing(file: string, word: string): Diagnostic {
  return {
    severity: "info",
    code: hostsMissing,
    message: `It asks for ${word} and names no hosts, so it reaches none until a person grants them`,
    file,
    cure: 'name them in the manifest: hosts = ["api.example.com"]; "*" is every public host',
  };
}
