import type { JsonObject, JsonValue } from "./json.ts";
import { joinPermissions, permissionsSchema, type Permissions } from "./permissions.ts";
import type { ToolCode } from "./tool.ts";

/** Another MCP server, as a configuration or a manifest writes it down. */
export interface McpServerEntry {
  /** The program: its name or absolute path; in a skill also a file of it, as `./server`. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** The names of the variables that the program sees. */
  readonly env?: readonly string[];
  /** What the program may touch. Only in a configuration: in a skill it is what the skill may. */
  readonly permissions?: Permissions;
  /** It runs with all your rights. Only in a configuration. @default it runs in the sandbox */
  readonly sandbox?: "off";
  /** Where the server is, instead of a program. */
  readonly url?: string;
  /** The name of the secret that is the bearer token. */
  readonly token?: string;
  /** Headers: the names of the secrets that are their values. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly oauth?: McpOAuth | true;
  /**
   * Hosts (`mcp.internal`, `127.0.0.1:8080`) that the server and its log-in may lead to, though they are on this machine or in a
   * private network. Only in a configuration: in a skill these are the addresses among its network rules. @default the address in `url`
   */
  readonly allowHosts?: readonly string[];
  /** Only these of its tools. @default all */
  readonly tools?: readonly string[];
  readonly limitMs?: number;
  readonly needsApproval?: boolean;
}

const text = { type: "string", minLength: 1 };
const texts = { type: "array", items: text };
const variable = { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" };
const closed = (properties: JsonObject): JsonObject => ({ type: "object", properties, additionalProperties: false });

const ofAll: JsonObject = {
  command: text,
  args: { type: "array", items: { type: "string" } },
  env: { type: "array", items: variable },
  url: { type: "string", pattern: "^https?://" },
  token: variable,
  headers: { type: "object", additionalProperties: variable },
  oauth: {
    anyOf: [
      { const: true },
      closed({ clientId: text, clientSecret: variable, login: { type: "boolean" }, issuer: text, scope: text }),
    ],
  },
  tools: texts,
  limitMs: { type: "number", exclusiveMinimum: 0, maximum: 2_147_483_647 },
  needsApproval: { type: "boolean" },
};

/** What a server may say in the manifest of a skill. */
export const skillMcpSchema: JsonObject = closed(ofAll);

/** What a server may say in the configuration, which an operator writes. */
export const configMcpSchema: JsonObject = closed({
  ...ofAll,
  permissions: permissionsSchema,
  sandbox: { const: "off" },
  allowHosts: texts,
});

/** Who lists a server. */
interface SourceOwner {
  readonly skill?: string;
  /** What the server's program may touch, and which hosts may be asked, if the owner decides. */
  readonly permissions?: Permissions;
  readonly folder?: McpFolder;
}

/** Makes a source of what was written down, or says what is wrong with it. */
export function toMcpSource(name: string, listed: McpServerEntry, owner: SourceOwner = {}): McpSource | string {
  const { command, url } = listed;
  if (command === undefined && url !== undefined) return toAddress(name, url, { listed, owner });
  if (command === undefined || url !== undefined) return 'it needs either "command" or "url"';
  const wrong = (["token", "headers", "oauth", "allowHosts"] as const).find((part) => listed[part] !== undefined);
  if (wrong !== undefined) return `only a server with "url" has "${wrong}"`;
  return {
    ...toFacts(name, listed, owner),
    command,
    args: listed.args ?? [],
    permissions: toPermissions(listed, owner),
    ...(owner.folder !== undefined && { folder: owner.folder }),
    ...(listed.sandbox !== undefined && { sandbox: listed.sandbox }),
  };
}

type Facts = Pick<McpSource, "name" | "skill" | "tools" | "limitMs" | "needsApproval">;

function toFacts(name: string, { tools, limitMs, needsApproval }: McpServerEntry, { skill }: SourceOwner): Facts {
  return {
    name,
    ...(skill !== undefined && { skill }),
    ...(tools !== undefined && { tools }),
    ...(limitMs !== undefined && { limitMs }),
    ...(needsApproval !== undefined && { needsApproval }),
  };
}

interface Listing {
  readonly listed: McpServerEntry;
  readonly owner: SourceOwner;
}

function toAddress(name: string, url: string, { listed, owner }: Listing): McpAddress | string {
  const { token, headers, oauth } = listed;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) return "its url cannot be read";
  const wrong = findWrong(listed, parsed) ?? findUngranted(listed, parsed, owner);
  if (wrong !== undefined) return wrong;
  const allowHosts = owner.permissions === undefined ? listed.allowHosts : owner.permissions.network;
  return {
    ...toFacts(name, listed, owner),
    url: parsed.href,
    ...(token !== undefined && { token }),
    ...(headers !== undefined && { headers }),
    ...(oauth !== undefined && { oauth: toOAuth(oauth) }),
    ...(allowHosts !== undefined && { allowHosts }),
  };
}

function toOAuth(oauth: McpOAuth | true | undefined): McpOAuth {
  return oauth === true || oauth === undefined ? {} : oauth;
}

function findWrong(listed: McpServerEntry, { username, password }: URL): string | undefined {
  const wrong = (["args", "env", "permissions", "sandbox"] as const).find((part) => listed[part] !== undefined);
  if (wrong !== undefined) return `only a server with "command" has "${wrong}"`;
  if (username !== "" || password !== "") return 'its url has a password; name a secret as "token"';
  const { clientId, clientSecret, issuer } = toOAuth(listed.oauth);
  if (clientSecret === undefined || (clientId !== undefined && issuer !== undefined)) return undefined;
  return '"clientSecret" needs "clientId", and "issuer": the only authorization server that the secret is sent to';
}

/** What a skill would reach or send although it may not. */
function findUngranted(
  { token, headers = {}, oauth }: McpServerEntry,
  url: URL,
  { permissions }: SourceOwner,
): string | undefined {
  if (permissions === undefined) return undefined;
  const { network = [], env = [] } = permissions;
  if (!isGranted(url, network)) return `its host is not granted; write under [permissions]: network = ["${url.host}"]`;
  const names = [token, ...Object.values(headers), toOAuth(oauth).clientSecret].filter((name) => name !== undefined);
  const secret = names.find((name) => !env.includes(name));
  return secret && `the secret ${secret} is not granted; write under [permissions]: env = ["${secret}"]`;
}

/** A rule without a port grants 80 and 443. */
function isGranted({ hostname, port, protocol }: URL, network: readonly string[]): boolean {
  const asked = port || (protocol === "https:" ? "443" : "80");
  return network.some((rule) => {
    const [host = "", granted] = rule.split(/:(?=\d+$)/u);
    if (granted === undefined ? asked !== "80" && asked !== "443" : granted !== asked) return false;
    return host.startsWith("*.") ? hostname.endsWith(host.slice(1)) : host === hostname;
  });
}

/** A skill has one grant for all that it runs; of its variables a server sees those that it names. */
function toPermissions(
  { permissions = {}, env = [] }: McpServerEntry,
  { permissions: granted }: SourceOwner,
): Permissions {
  if (granted === undefined) return joinPermissions([permissions, { env }]);
  const { env: all = [], ...rest } = granted;
  const seen = env.filter((name) => all.includes(name));
  return { ...rest, ...(seen.length > 0 && { env: seen }) };
}

interface SourceFacts {
  /** Of a server in a configuration, also who owns its tools. */
  readonly name: string;
  /** The skill that brings it and owns its tools. */
  readonly skill?: string;
  /** Only these of its tools, by the names that the server gives them. @default all */
  readonly tools?: readonly string[];
  /** How long one call may take. @default the workspace's limit */
  readonly limitMs?: number;
  /** Each call of its tools needs an approval. @default false */
  readonly needsApproval?: boolean;
}

/** An MCP server that is a program of this machine. */
export interface McpProgram extends SourceFacts {
  /** By name or absolute path; of a skill also `./` and a file of it. */
  readonly command: string;
  readonly args: readonly string[];
  /** All that it may touch, and the names of the variables that it sees. */
  readonly permissions: Permissions;
  /** The skill that brings it. */
  readonly folder?: McpFolder;
  /** It runs with all rights of this user; only an operator can say so. @default it runs in the sandbox */
  readonly sandbox?: "off";
}

/** The folder of a skill that brings a server, and exactly which bytes it is made of. */
interface McpFolder {
  readonly directory: string;
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly digest: string }[];
}

/** An MCP server that is reached over HTTP. */
export interface McpAddress extends SourceFacts {
  readonly url: string;
  /** The name of the secret that is the bearer token. */
  readonly token?: string;
  /** More headers: the names of the secrets that are their values. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Says that the server asks for a log-in. @default it does not */
  readonly oauth?: McpOAuth;
  /**
   * Hosts that may be on this machine or in a private network, beside an address that `url` or the issuer names. Of a skill these are
   * its network rules, and only addresses among them count. @default none
   */
  readonly allowHosts?: readonly string[];
}

/** How one logs in to a server. */
export interface McpOAuth {
  /** Of a client that is registered already. @default it registers itself */
  readonly clientId?: string;
  /** The name of the secret that is the client's. With it the client acts for itself, and no person is asked, unless `login` is true. */
  readonly clientSecret?: string;
  /** A person logs in, and the client proves with its secret who it is. @default true without a secret */
  readonly login?: boolean;
  /** The only authorization server that gets the client's secret. */
  readonly issuer?: string;
  readonly scope?: string;
}

/** Another MCP server, as a source of tools. */
export type McpSource = McpProgram | McpAddress;

/** A tool as its server describes it, in the server's own words. */
export interface McpDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

/** The code of a tool that another MCP server has. */
export interface McpCode extends ToolCode {
  readonly kind: "mcp";
  readonly source: McpSource;
  /** What was agreed to: the server must still say exactly this when the tool is called. */
  readonly definition: McpDefinition;
}

/** The name of a source among all: `server`, or `skill/server`. */
export function toSourceKey({ name, skill }: Pick<McpSource, "name" | "skill">): string {
  return skill === undefined ? name : `${skill}/${name}`;
}

/** Whether a person logs in to a server, and not the client itself. */
export function needsLogin({ clientSecret, login = clientSecret === undefined }: McpOAuth): boolean {
  return login;
}

/** Tells whether a source is a program of this machine. */
export function isMcpProgram(source: McpSource): source is McpProgram {
  return "command" in source;
}

/** The key of an output that is MCP content: `{ "$content": [ … ] }`, and nothing beside it. */
export const contentKey = "$content";

/** Makes the output of a tool whose result is content blocks and not only text. */
export function toContentOutput(blocks: readonly JsonValue[]): JsonObject {
  return { [contentKey]: blocks };
}
