import { quote } from "../../core/errors.ts";
import { toShellWord } from "../render.ts";
import { usageError, suggest } from "../cli-command.ts";

/** How a client reaches Kitbag. */
export type ClientEntry =
  | { readonly transport: "stdio"; readonly command: string; readonly args: readonly string[] }
  | { readonly transport: "http"; readonly url: string; readonly needsToken: boolean };

/** What a client must be told, and where. */
export interface ClientConfig {
  /** The file, or what to do with the text. */
  readonly place: string;
  readonly text: string;
}

/** The variable that holds the token on the client's side: the token itself is in no file. */
const variable = "KITBAG_TOKEN";

type Renderer = (entry: ClientEntry) => ClientConfig;

const clients: Readonly<Record<string, Renderer>> = {
  "claude-desktop": (entry) => ({
    place: "claude_desktop_config.json (Settings → Developer → Edit Config), then start Claude Desktop again",
    text: toJson({ mcpServers: { kitbag: entry.transport === "stdio" ? toCommand(entry) : toBridge(entry) } }),
  }),
  "claude-code": (entry) => ({ place: "run this in the project", text: toClaudeCommand(entry) }),
  cursor: (entry) => ({
    place: ".cursor/mcp.json of the project, or ~/.cursor/mcp.json",
    text: toJson({
      mcpServers: {
        kitbag: entry.transport === "stdio" ? toCommand(entry) : toAddress(entry, `\${env:${variable}}`),
      },
    }),
  }),
  vscode: (entry) => ({ place: ".vscode/mcp.json of the project", text: toJson(toVsCode(entry)) }),
  codex: (entry) => ({
    place: "~/.codex/config.toml, or .codex/config.toml of the project",
    text: ["[mcp_servers.kitbag]", ...toTomlLines(entry)].join("\n"),
  }),
};

/** The clients that there is a configuration for. */
export const clientNames: readonly string[] = Object.keys(clients);

/**
 * Writes the configuration of `client`.
 *
 * @throws {KitbagError} `usage-invalid` for a client that is not known.
 */
export function renderClientConfig(client: string, entry: ClientEntry): ClientConfig {
  const render = Object.hasOwn(clients, client) ? clients[client] : undefined;
  if (render !== undefined) return render(entry);
  throw usageError(`Cannot write a configuration for ${quote(client)}: ${suggest(client, clientNames)}`);
}

type StdioEntry = Extract<ClientEntry, { readonly transport: "stdio" }>;
type HttpEntry = Extract<ClientEntry, { readonly transport: "http" }>;

function toCommand({ command, args }: StdioEntry): object {
  return { command, args };
}

function toAddress({ url, needsToken }: HttpEntry, token: string): object {
  return { url, ...(needsToken && { headers: { Authorization: `Bearer ${token}` } }) };
}

/** This client starts programs only; the bridge speaks HTTP for it. A space inside an argument is lost on some systems. */
function toBridge({ url, needsToken }: HttpEntry): object {
  const args = ["-y", "mcp-remote", url, ...(url.startsWith("http:") ? ["--allow-http"] : [])];
  if (!needsToken) return { command: "npx", args };
  return {
    command: "npx",
    args: [...args, "--header", "Authorization:${KITBAG_AUTHORIZATION}"],
    env: { KITBAG_AUTHORIZATION: "Bearer <token>" },
  };
}

function toVsCode(entry: ClientEntry): object {
  if (entry.transport === "stdio") return { servers: { kitbag: { type: "stdio", ...toCommand(entry) } } };
  const server = { type: "http", ...toAddress(entry, "${input:kitbag-token}") };
  if (!entry.needsToken) return { servers: { kitbag: server } };
  const input = { type: "promptString", id: "kitbag-token", description: "Token of Kitbag", password: true };
  return { inputs: [input], servers: { kitbag: server } };
}

/** In the scope of the project the variable is kept as it is, and read when the client starts. */
function toClaudeCommand(entry: ClientEntry): string {
  if (entry.transport === "stdio") {
    return ["claude mcp add --transport stdio kitbag --", ...[entry.command, ...entry.args].map(toShellWord)].join(" ");
  }
  const header = entry.needsToken ? ` --header 'Authorization: Bearer \${${variable}}'` : "";
  return `claude mcp add --scope project --transport http kitbag ${toShellWord(entry.url)}${header}`;
}

function toTomlLines(entry: ClientEntry): string[] {
  if (entry.transport === "http") {
    return [`url = ${toToml(entry.url)}`, ...(entry.needsToken ? [`bearer_token_env_var = "${variable}"`] : [])];
  }
  return [`command = ${toToml(entry.command)}`, `args = [${entry.args.map(toToml).join(", ")}]`];
}

function toJson(document: object): string {
  return JSON.stringify(document, null, 2);
}

/** A basic string of TOML has the escapes of JSON, and no DEL. */
function toToml(text: string): string {
  return JSON.stringify(text).replaceAll("\u007F", String.raw`\u007F`);
}
