import { join, posix } from "node:path";

import { isKitbagError } from "../../core/errors.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { isInnerPath } from "../../skills/trust/trust-format.ts";
import { importFailed } from "./fetched.ts";
import { type ImportSource, parseSource } from "./import-source.ts";

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
    if (name === undefined) throw importFailed(shown, `${file} names no plugin`);
    return { name, ...describe(content, shown), place: { folder: "" }, isComplete: false };
  }
  return undefined;
}

function readMarketplace(content: Content, file: string, shown: string): PluginCatalog {
  const { name, plugins, metadata } = content;
  if (!Array.isArray(plugins)) throw importFailed(shown, `${file} lists no plugins`);
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
    throw importFailed(
      shown,
      `the plugin names skills at ${JSON.stringify(path)?.slice(0, 200)}, which is no path in it`,
    );
  });
}

const maxFileBytes = 4 * 1024 * 1024;

function readJson(directory: string, file: string, shown: string): Content | undefined {
  const reading = readRegularFile(join(directory, file), { maxBytes: maxFileBytes });
  if (!reading.ok) {
    if (reading.reason === "ENOENT" || reading.reason === "ENOTDIR") return undefined;
    throw importFailed(shown, `${file} cannot be read: ${reading.reason}`);
  }
  let content: unknown;
  try {
    content = JSON.parse(new TextDecoder().decode(reading.bytes));
  } catch (cause) {
    throw importFailed(shown, `${file} is no JSON`, cause);
  }
  if (isContent(content)) return content;
  throw importFailed(shown, `${file} is not an object`);
}

function isContent(value: unknown): value is Content {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.slice(0, 2000) : undefined;
}

/** Where a plugin is: a folder of the same source (`""` for all of it), or elsewhere, or why that cannot be told. */
type PluginPlace = { readonly folder: string } | { readonly source: ImportSource } | { readonly problem: string };

/**
 * Reads where a marketplace says that a plugin is: a path in the marketplace, or an object whose `source` says which kind it is. Never
 * throws: a plugin with a source that cannot be used is listed with the reason.
 */
export function parsePluginSource(source: unknown, root?: string): PluginPlace {
  if (typeof source === "string") return toFolder(source, root);
  if (typeof source !== "object" || source === null) return { problem: "it says nowhere where it is" };
  const facts = source as Readonly<Record<string, unknown>>;
  const kind = facts["source"];
  try {
    if (kind === "local") return toFolder(facts["path"]);
    if (kind === "github") return { source: toGit(`github:${requireText(facts["repo"])}`, facts) };
    if (kind === "url" || kind === "git-subdir") return { source: toGit(toAddress(requireText(facts["url"])), facts) };
    if (kind === "npm") return { source: toNpm(facts) };
    if (kind === "archive") return { source: toArchive(facts) };
  } catch (cause) {
    if (isKitbagError(cause)) return { problem: cause.message };
    return { problem: (cause as Error).message };
  }
  return { problem: `its source is of a kind that is not fetched: ${JSON.stringify(kind)?.slice(0, 100) ?? "none"}` };
}

function toFolder(path: unknown, root = ""): PluginPlace {
  const text = typeof path === "string" ? path : "";
  const [base, way] = [root, text].map((one) => one.replace(/^\.\//u, "").replace(/\/+$/u, "")) as [string, string];
  // Many marketplaces name their `pluginRoot` in each source once more.
  const isWhole = base !== "" && (way === base || way.startsWith(`${base}/`));
  const folder = posix.join(isWhole ? "" : base, way || (text === "" ? ".." : "."));
  if (folder === ".") return { folder: "" };
  return isInnerPath(folder) && !/[\\:]/u.test(folder)
    ? { folder }
    : { problem: `its path ${JSON.stringify(text)} leads out` };
}

/** A marketplace can only send people to where everybody can go: nothing on this machine, nothing unencrypted. */
function toGit(address: string, facts: Readonly<Record<string, unknown>>): ImportSource {
  const source = parseSource(address, "/nowhere");
  if (source.kind !== "git" || !/^(?:https|ssh):/u.test(source.address))
    throw new Error("its source is no repository that is fetched over https or ssh");
  const ref = facts["sha"] ?? facts["commit"] ?? facts["ref"];
  const folder = facts["path"];
  const end = `${ref === undefined ? "" : requireText(ref)}${folder === undefined ? "" : `:${requireText(folder)}`}`;
  return end === "" ? source : parseSource(`${address}#${end}`, "/nowhere");
}

/** `owner/repo` is also written as the address. */
function toAddress(text: string): string {
  return /^[^:/]+\/[^:/]+$/u.test(text) ? `github:${text}` : text;
}

function toNpm(facts: Readonly<Record<string, unknown>>): ImportSource {
  const version = facts["version"];
  return parseSource(
    `npm:${requireText(facts["package"])}${version === undefined ? "" : `@${requireText(version)}`}`,
    "/nowhere",
  );
}

function toArchive(facts: Readonly<Record<string, unknown>>): ImportSource {
  const url = requireText(facts["url"]);
  if (!url.startsWith("https://") || !URL.canParse(url)) throw new Error("its archive is not fetched over https");
  const digest = requireText(facts["sha256"]);
  if (!/^[0-9a-f]{64}$/u.test(digest)) throw new Error("its archive has no digest");
  return { kind: "archive", address: url, integrity: `sha256-${Buffer.from(digest, "hex").toString("base64")}` };
}

function requireText(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new Error("its source is not complete");
}
