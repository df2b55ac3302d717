import { posix, win32 } from "node:path";

import { stringify } from "smol-toml";

import { quote } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { usageError, suggest } from "../cli-command.ts";

/** How a client reaches Kitbag. */
export type ClientEntry =
  | {
      readonly transport: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      /** Variables that the program needs, and that a client started from a desktop does not have. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly transport: "http"; readonly url: string; readonly needsToken: boolean };

type StdioEntry = Extract<ClientEntry, { readonly transport: "stdio" }>;
type HttpEntry = Extract<ClientEntry, { readonly transport: "http" }>;

/** What the places of configuration files depend on. */
export interface Machine {
  /** The home directory. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
}

/** Where a configuration counts: in one project, or for all projects of the user. */
export type ConnectScope = "project" | "user";

/** One MCP client: a row of the table. */
export interface ClientRow {
  readonly title: string;
  readonly format: "json" | "jsonc" | "toml";
  /** The key that holds the servers by name. */
  readonly key: string;
  /** The file in a project, with `/`; the first that exists is used, else the first. */
  readonly project?: readonly string[];
  /** The file of the user; the first that exists is used, else the first whose folder exists, else the first. */
  user(machine: Machine): readonly string[];
  /** What is to be done so that the client reads it. */
  readonly then: string;
  /** What is written for Kitbag. */
  toEntry(entry: ClientEntry): JsonObject;
  /** What the client asks its user for; VS Code only. */
  toInputs?(entry: ClientEntry): readonly JsonObject[];
}

/** The variable that holds the token on the client's side: the token itself is in no file. */
const variable = "KITBAG_TOKEN";

/** Stands for the token where a client reads no variables: its user replaces it. */
export const tokenPlaceholder = "<token>";

/** Every client that `kitbag connect` knows. */
const clients: Readonly<Record<string, ClientRow>> = {
  "claude-code": {
    title: "Claude Code",
    format: "json",
    key: "mcpServers",
    project: [".mcp.json"],
    user: (machine) => [inside(machine, machine.env["CLAUDE_CONFIG_DIR"] || machine.home, ".claude.json")],
    then: "start Claude Code again; for a project it asks once whether it may use the server",
    toEntry: (entry) =>
      entry.transport === "stdio"
        ? { type: "stdio", ...toCommand(entry) }
        : { type: "http", ...toAddress("url", entry, `\${${variable}}`) },
  },
  "claude-desktop": {
    title: "Claude Desktop",
    format: "json",
    key: "mcpServers",
    user: (machine) => [inside(machine, appData(machine), "Claude/claude_desktop_config.json")],
    then: "quit Claude Desktop and start it again",
    toEntry: (entry) => (entry.transport === "stdio" ? toCommand(entry) : toBridge(entry)),
  },
  cursor: {
    title: "Cursor",
    format: "json",
    key: "mcpServers",
    project: [".cursor/mcp.json"],
    user: (machine) => [inside(machine, machine.home, ".cursor/mcp.json")],
    then: "switch kitbag on in the settings of Cursor, under MCP",
    toEntry: (entry) =>
      entry.transport === "stdio" ? toCommand(entry) : toAddress("url", entry, `\${env:${variable}}`),
  },
  vscode: {
    title: "VS Code",
    format: "jsonc",
    key: "servers",
    project: [".vscode/mcp.json"],
    user: (machine) => [inside(machine, appData(machine), "Code/User/mcp.json")],
    then: "run MCP: List Servers in VS Code, and start kitbag",
    toEntry: (entry) =>
      entry.transport === "stdio"
        ? { type: "stdio", ...toCommand(entry) }
        : { type: "http", ...toAddress("url", entry, "${input:kitbag-token}") },
    toInputs: (entry) =>
      entry.transport === "http" && entry.needsToken
        ? [{ type: "promptString", id: "kitbag-token", description: "Token of Kitbag", password: true }]
        : [],
  },
  codex: {
    title: "Codex",
    format: "toml",
    key: "mcp_servers",
    project: [".codex/config.toml"],
    user: (machine) => [
      inside(machine, machine.env["CODEX_HOME"] || join(machine, machine.home, ".codex"), "config.toml"),
    ],
    then: "start Codex again; a project's file is read only if Codex trusts the project",
    toEntry: (entry) =>
      entry.transport === "stdio"
        ? toCommand(entry)
        : { url: entry.url, ...(entry.needsToken && { bearer_token_env_var: variable }) },
  },
  gemini: {
    title: "Gemini CLI",
    format: "jsonc",
    key: "mcpServers",
    project: [".gemini/settings.json"],
    user: (machine) => [inside(machine, machine.home, ".gemini/settings.json")],
    then: "start Gemini CLI again, and look at /mcp",
    toEntry: (entry) =>
      entry.transport === "stdio" ? toCommand(entry) : toAddress("httpUrl", entry, `\${${variable}}`),
  },
  windsurf: {
    title: "Windsurf",
    format: "json",
    key: "mcpServers",
    user: (machine) => [inside(machine, machine.home, ".codeium/windsurf/mcp_config.json")],
    then: "refresh the MCP servers in Windsurf",
    toEntry: (entry) =>
      entry.transport === "stdio" ? toCommand(entry) : toAddress("serverUrl", entry, `\${env:${variable}}`),
  },
  zed: {
    title: "Zed",
    format: "jsonc",
    key: "context_servers",
    user: (machine) => [
      machine.platform === "win32"
        ? inside(machine, appData(machine), "Zed/settings.json")
        : inside(machine, xdgConfig(machine), "zed/settings.json"),
    ],
    then: "look at the Agent Panel of Zed: it starts the server at once",
    toEntry: (entry) => (entry.transport === "stdio" ? toCommand(entry) : toAddress("url", entry, tokenPlaceholder)),
  },
  cline: {
    title: "Cline",
    format: "json",
    key: "mcpServers",
    user: (machine) => [
      ...(machine.env["CLINE_MCP_SETTINGS_PATH"] ? [machine.env["CLINE_MCP_SETTINGS_PATH"]] : []),
      inside(
        machine,
        appData(machine),
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      ),
      inside(machine, machine.home, ".cline/data/settings/cline_mcp_settings.json"),
    ],
    then: "open MCP Servers in Cline: it starts the server at once",
    toEntry: (entry) =>
      entry.transport === "stdio"
        ? { type: "stdio", ...toCommand(entry) }
        : { type: "streamableHttp", ...toAddress("url", entry, tokenPlaceholder) },
  },
  opencode: {
    title: "opencode",
    format: "jsonc",
    key: "mcp",
    project: ["opencode.json", "opencode.jsonc"],
    user: (machine) =>
      ["opencode/opencode.json", "opencode/opencode.jsonc"].map((path) => inside(machine, xdgConfig(machine), path)),
    then: "start opencode again",
    toEntry: (entry) => ({
      ...(entry.transport === "stdio"
        ? {
            type: "local",
            command: [entry.command, ...entry.args],
            ...(entry.env && { environment: { ...entry.env } }),
          }
        : { type: "remote", ...toAddress("url", entry, `{env:${variable}}`) }),
      enabled: true,
    }),
  },
};

/** The clients that there is a configuration for. */
export const clientNames: readonly string[] = Object.keys(clients);

/** The name of Kitbag in every client. */
export const serverName = "kitbag";

/**
 * Finds a client by its name.
 *
 * @throws {KitbagError} `usage-invalid` for a client that is not known.
 */
export function findClient(name: string): ClientRow {
  const row = Object.hasOwn(clients, name) ? clients[name] : undefined;
  if (row !== undefined) return row;
  throw usageError(`Cannot write a configuration for ${quote(name)}: ${suggest(name, clientNames)}`);
}

/** What a client must be told, and where. */
export interface ClientConfig {
  /** The file, and what to do then. */
  readonly place: string;
  readonly text: string;
}

/**
 * Writes the configuration of `client` as a whole file has it.
 *
 * @throws {KitbagError} `usage-invalid` for a client that is not known.
 */
export function renderClientConfig(client: string, entry: ClientEntry, machine: Machine): ClientConfig {
  const row = findClient(client);
  const places = [...(row.project?.slice(0, 1).map((path) => `${path} of the project`) ?? []), row.user(machine)[0]];
  const inputs = row.toInputs?.(entry) ?? [];
  const document = {
    ...(inputs.length > 0 && { inputs }),
    [row.key]: { [serverName]: row.toEntry(entry) },
  };
  return { place: `${places.join(", or ")}; then ${row.then}`, text: renderDocument(document, row.format) };
}

/** A document as its file has it, without the last line break. */
function renderDocument(document: object, format: ClientRow["format"]): string {
  // The writer escapes DEL, which a basic string of TOML must not hold.
  return format === "toml" ? stringify(document).trim() : JSON.stringify(document, null, 2);
}

function toCommand({ command, args, env }: StdioEntry): JsonObject {
  return { command, args: [...args], ...(env && { env: { ...env } }) };
}

function toAddress(key: string, { url, needsToken }: HttpEntry, token: string): JsonObject {
  return { [key]: url, ...(needsToken && { headers: { Authorization: `Bearer ${token}` } }) };
}

/** This client starts programs only; the bridge speaks HTTP for it. A space inside an argument is lost on some systems. */
function toBridge({ url, needsToken }: HttpEntry): JsonObject {
  const args = ["-y", "mcp-remote", url, ...(url.startsWith("http:") ? ["--allow-http"] : [])];
  if (!needsToken) return { command: "npx", args };
  return {
    command: "npx",
    args: [...args, "--header", "Authorization:${KITBAG_AUTHORIZATION}"],
    env: { KITBAG_AUTHORIZATION: `Bearer ${tokenPlaceholder}` },
  };
}

/** Where desktop programs keep what is theirs. */
function appData(machine: Machine): string {
  const { platform, env, home } = machine;
  if (platform === "darwin") return join(machine, home, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] || join(machine, home, "AppData", "Roaming");
  return xdgConfig(machine);
}

function xdgConfig(machine: Machine): string {
  return machine.env["XDG_CONFIG_HOME"] || join(machine, machine.home, ".config");
}

/** The path of a file, as the machine writes it. */
function inside(machine: Machine, folder: string, path: string): string {
  return join(machine, folder, ...path.split("/"));
}

function join({ platform }: Machine, ...parts: readonly string[]): string {
  return (platform === "win32" ? win32 : posix).join(...parts);
}
