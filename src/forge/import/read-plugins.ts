import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { isInnerPath } from "../../skills/trust/trust-format.ts";
import { parsePluginSource, type PluginPlace } from "./parse-plugin-source.ts";

/** A plugin that a marketplace lists, or that a source is. */
export interface ListedPlugin {
  readonly name: string;
  readonly description?: string;
  readonly version?: string;
  readonly place: PluginPlace;
  /** The folders of its skills that are named one by one, relative to the plugin. */
  readonly skills: readonly string[];
  /** Only the skills that are named belong to it, not everything that lies in `skills`. */
  readonly isComplete: boolean;
  /** What it has beside skills; none of that is imported. */
  readonly others: readonly string[];
}

/** What a source says about itself. */
export interface PluginCatalog {
  readonly marketplace?: string;
  readonly plugins: readonly ListedPlugin[];
}

const marketplaceFiles = [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"];
const pluginFiles = [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"];

/** What a plugin may have that runs or changes something, and that skills do not need. */
const otherParts = ["commands", "agents", "hooks", "mcpServers", "lspServers", "apps", "outputStyles", "workflows"];

/**
 * Reads the files of plugins and marketplaces in a folder: those of Claude Code and of Codex. A folder without any has no plugins.
 *
 * @throws {KitbagError} `import-failed` if such a file is broken: guessing what it means would import something else.
 */
export function readPlugins(directory: string, shown: string): PluginCatalog {
  for (const file of marketplaceFiles) {
    const content = readJson(directory, file, shown);
    if (content !== undefined) return readMarketplace(content, file, shown);
  }
  const plugin = readPlugin(directory, shown);
  return { plugins: plugin === undefined ? [] : [plugin] };
}

/** Reads the file of the plugin that a folder is; none if it is no plugin. */
export function readPlugin(directory: string, shown: string): ListedPlugin | undefined {
  for (const file of pluginFiles) {
    const content = readJson(directory, file, shown);
    if (content === undefined) continue;
    const name = toText(content["name"]);
    if (name === undefined) throw broken(shown, `${file} names no plugin`);
    return { name, ...describe(content, shown), place: { folder: "" }, isComplete: false };
  }
  return undefined;
}

function readMarketplace(content: Content, file: string, shown: string): PluginCatalog {
  const { name, plugins, metadata } = content;
  if (!Array.isArray(plugins)) throw broken(shown, `${file} lists no plugins`);
  const root = isContent(metadata) ? toText(metadata["pluginRoot"]) : undefined;
  const listed = plugins.slice(0, mostPlugins).flatMap((entry: unknown) => {
    const plugin = isContent(entry) ? toText(entry["name"]) : undefined;
    if (!isContent(entry) || plugin === undefined) return [];
    const { strict, source } = entry;
    const place = parsePluginSource(source, root);
    return [{ name: plugin, ...describe(entry, shown), place, isComplete: strict === false }];
  });
  return { marketplace: toText(name) ?? "", plugins: listed };
}

const mostPlugins = 2000;

type Content = Readonly<Record<string, unknown>>;

function describe(
  content: Content,
  shown: string,
): Pick<ListedPlugin, "description" | "version" | "skills" | "others"> {
  const [description, version] = [toText(content["description"]), toText(content["version"])];
  return {
    ...(description !== undefined && { description }),
    ...(version !== undefined && { version }),
    skills: toPaths(content["skills"], shown),
    others: otherParts.filter((part) => content[part] !== undefined),
  };
}

/** `"./skills"`, or a list of such. */
function toPaths(value: unknown, shown: string): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.map((path) => {
    const inner = typeof path === "string" ? path.replace(/^\.\//u, "").replace(/\/+$/u, "") : undefined;
    if (inner === "" || inner === ".") return "";
    if (isInnerPath(inner) && !inner.includes("\\")) return inner;
    throw broken(shown, `the plugin names skills at ${JSON.stringify(path)?.slice(0, 200)}, which is no path in it`);
  });
}

const maxFileBytes = 4 * 1024 * 1024;

function readJson(directory: string, file: string, shown: string): Content | undefined {
  const reading = readRegularFile(join(directory, file), { maxBytes: maxFileBytes });
  if (!reading.ok) {
    if (reading.reason === "ENOENT" || reading.reason === "ENOTDIR") return undefined;
    throw broken(shown, `${file} cannot be read: ${reading.reason}`);
  }
  let content: unknown;
  try {
    content = JSON.parse(new TextDecoder().decode(reading.bytes));
  } catch (cause) {
    throw broken(shown, `${file} is no JSON`, cause);
  }
  if (isContent(content)) return content;
  throw broken(shown, `${file} is not an object`);
}

function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.slice(0, 2000) : undefined;
}

function broken(source: string, reason: string, cause?: unknown): KitbagError {
  return new KitbagError("import-failed", { source, reason }, { cause });
}
