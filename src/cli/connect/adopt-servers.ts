import { existsSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { quote } from "../../core/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { toMcpSource, type McpServerEntry } from "../../core/mcp-source.ts";
import { isName } from "../../core/names.ts";
import { serverName } from "./clients.ts";
import { hasSecret, maskWord } from "./render-change.ts";
import type { Servers } from "./edit-servers.ts";

/** A server of a client, as it becomes one of Kitbag's configuration. */
export interface AdoptedServer {
  /** As the client calls it. */
  readonly name: string;
  /** As Kitbag calls it. */
  readonly key: string;
  readonly entry: McpServerEntry;
  /** Values that stood in the client's file, by the name that they get in the file of secrets. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** What of a client's servers Kitbag can take over, and why not the others. */
export interface Adoption {
  readonly taken: readonly AdoptedServer[];
  readonly left: readonly { readonly name: string; readonly reason: string }[];
}

/** Where servers are taken over. */
export interface AdoptionPlace {
  readonly project: string;
  readonly home: string;
  /** The value that a secret has already. */
  findSecret(name: string): string | undefined;
  /** The servers that Kitbag's configuration has already. */
  readonly known: Servers;
}

/** Looks at the servers of a client's file one by one. Changes nothing. */
export function planAdoption(servers: Servers, place: AdoptionPlace): Adoption {
  const taken: AdoptedServer[] = [];
  const left: { name: string; reason: string }[] = [];
  const secrets = new Map<string, string>();
  for (const [name, entry] of Object.entries(servers)) {
    if (name === serverName) continue;
    const read = readServer(name, entry, place);
    const reason = typeof read === "string" ? read : findConflict(read, { place, taken, secrets });
    if (reason !== undefined) left.push({ name, reason });
    if (typeof read === "string" || reason !== undefined) continue;
    taken.push(read);
    for (const [secret, value] of read.secrets) secrets.set(secret, value);
  }
  return { taken, left };
}

interface Conflicts {
  readonly place: AdoptionPlace;
  readonly taken: readonly AdoptedServer[];
  readonly secrets: ReadonlyMap<string, string>;
}

function findConflict(
  { key, entry, secrets }: AdoptedServer,
  { place, taken, secrets: others }: Conflicts,
): string | undefined {
  const before = place.known[key];
  if (before !== undefined && !isDeepStrictEqual(before, entry))
    return `the configuration has another server ${quote(key)}`;
  if (taken.some((one) => one.key === key)) return `two servers would be called ${quote(key)}`;
  for (const [name, value] of secrets) {
    const known = others.get(name) ?? place.findSecret(name);
    if (known !== undefined && known !== value) return `there is another value for ${name} already`;
    if (/[\r\n]/u.test(value)) return `the value of ${name} has several lines`;
  }
  const source = toMcpSource(key, entry);
  return typeof source === "string" ? source : undefined;
}

function readServer(name: string, value: JsonValue, place: AdoptionPlace): AdoptedServer | string {
  if (!isRecord(value)) return "it is not an object";
  const server = value;
  const key = name.replaceAll(/[^A-Za-z0-9_-]/gu, "-");
  if (!isName(key) || key === "global") return "its name cannot be used";
  if (server["disabled"] === true || server["enabled"] === false) return "it is switched off";
  const unknown = ["cwd", "envFile"].find((part) => server[part] !== undefined && server[part] !== place.project);
  if (unknown !== undefined) return `Kitbag has nothing like its ${unknown}`;
  const url = server["url"] ?? server["httpUrl"] ?? server["serverUrl"];
  const read = typeof url === "string" ? readAddress(key, url, server) : readProgram(server, place);
  return typeof read === "string" ? read : { name, key, ...read };
}

type Read = Pick<AdoptedServer, "entry" | "secrets">;

function readProgram(server: JsonObject, place: AdoptionPlace): Read | string {
  const words = readWords(server, place);
  if (typeof words === "string") return words;
  const variables = readVariables(server["env"] ?? server["environment"] ?? {});
  if (typeof variables === "string") return variables;
  const { env, secrets } = variables;
  const [program = "", ...rest] = words;
  const read = findFolders(rest, place.project);
  const entry: McpServerEntry = {
    command: program.includes("/") ? resolve(place.project, program) : program,
    ...(rest.length > 0 && { args: rest }),
    ...(env.length > 0 && { env }),
    ...(read.length > 0 && { permissions: { read } }),
  };
  return { entry, secrets };
}

function readWords(server: JsonObject, { project, home }: AdoptionPlace): readonly string[] | string {
  const listed = [server["command"] ?? [], server["args"] ?? []].flat().map(toText);
  if (listed.length === 0 || listed.includes(undefined)) return "it has neither a command nor a url";
  const words = listed.map((word = "") =>
    word.replaceAll("${workspaceFolder}", project).replaceAll(/\$\{(?:userHome|env:HOME|HOME)\}|\{env:HOME\}/gu, home),
  );
  if (words.some((word) => readReference(word) !== undefined || word.includes("${"))) {
    return "its command holds a variable";
  }
  if (!words.some((word, index) => hasSecret(word, words[index - 1]))) return words;
  return "its command holds a secret; write that into its env";
}

function readVariables(
  listed: JsonValue,
): { readonly env: readonly string[]; readonly secrets: Map<string, string> } | string {
  const variables = toTexts(listed);
  if (variables === undefined) return "its env is not an object with texts";
  const secrets = new Map<string, string>();
  for (const [variable, value] of variables) {
    const reference = readReference(value);
    if (!/^[A-Za-z_]\w*$/u.test(variable)) return `its variable ${quote(variable)} cannot be named`;
    if (reference === undefined) secrets.set(variable, value);
    else if (reference !== variable) return `its variable ${variable} has the value of ${reference}`;
  }
  return { env: [...variables.keys()], secrets };
}

function toTexts(listed: JsonValue): ReadonlyMap<string, string> | undefined {
  if (!isRecord(listed)) return undefined;
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(listed)) {
    const text = toText(value);
    if (text === undefined) return undefined;
    texts.set(name, text);
  }
  return texts;
}

function toText(value: JsonValue): string | undefined {
  return typeof value === "object" ? undefined : String(value);
}

/** What is named among the words is what the server is meant to read: a folder, or the package that a program belongs to. */
function findFolders(words: readonly string[], project: string): readonly string[] {
  const named = words
    .filter((word) => isAbsolute(word) || /^\.{0,2}\//u.test(word))
    .map((word) => resolve(project, word));
  const there = named.filter((path) => existsSync(path) && path !== "/");
  return [
    ...new Set(
      there.map((path) => (statSync(path).isFile() && /\.[cm]?[jt]s$|\.py$/u.test(path) ? findPackage(path) : path)),
    ),
  ];
}

function findPackage(file: string): string {
  const folder = dirname(file);
  for (let place = folder; dirname(place) !== place; place = dirname(place)) {
    if (["package.json", "pyproject.toml"].some((name) => existsSync(join(place, name)))) return place;
  }
  return folder;
}

function readAddress(key: string, url: string, server: JsonObject): Read | string {
  if (server["type"] === "sse") return "it speaks the older HTTP with SSE";
  if (hasSecret(url)) return "its url holds a secret; write that into its headers";
  const prefix = key.toUpperCase().replaceAll("-", "_");
  const secrets = new Map<string, string>();
  const refer = (value: string, name: string): string => {
    const reference = readReference(value);
    if (reference === undefined) secrets.set(name, value);
    return reference ?? name;
  };
  const { headers: listed = {}, bearer_token_env_var: variable } = server;
  const texts = toTexts(listed);
  if (texts === undefined) return "its headers are not an object with texts";
  const headers: Record<string, string> = {};
  let token = typeof variable === "string" ? variable : undefined;
  for (const [name, value] of texts) {
    const [, bearer] = (name.toLowerCase() === "authorization" && /^Bearer\s+(.*)$/iu.exec(value)) || [];
    if (bearer !== undefined) token = refer(bearer, `${prefix}_TOKEN`);
    else headers[name] = refer(value, `${prefix}_${name.toUpperCase().replaceAll(/\W/gu, "_")}`);
  }
  const entry = { url, ...(token !== undefined && { token }), ...(Object.keys(headers).length > 0 && { headers }) };
  return { entry, secrets };
}

/** The variable that a whole value refers to, in the ways of the clients; also what the client would have asked for. */
function readReference(value: string): string | undefined {
  return /^(?:\$\{(?:env:)?(\w+)\}|\{env:(\w+)\}|\$([A-Za-z_]\w*))$/u
    .exec(value)
    ?.slice(1)
    .find((name) => name !== undefined);
}

/** What a person is shown before they agree, without values. */
export function renderAdoption({ taken, left }: Adoption): string {
  const lines = taken.flatMap(({ name, key, entry, secrets }) => [
    `+ ${key}${key === name ? "" : ` (${name})`}: ${entry.url === undefined ? renderCommand(entry) : maskWord(entry.url)}`,
    `    ${entry.url === undefined ? "in the sandbox: " : ""}${renderPermissions(entry)}`,
    ...(secrets.size === 0 ? [] : [`    moved to secrets.env: ${[...secrets.keys()].join(", ")}`]),
  ]);
  return [...lines, ...left.map(({ name, reason }) => `  ${name} stays where it is: ${reason}`)].join("\n");
}

function renderCommand({ command = "", args = [] }: McpServerEntry): string {
  const words = [command, ...args];
  return words.map((word, index) => maskWord(word, words[index - 1])).join(" ");
}

function renderPermissions(entry: McpServerEntry): string {
  const { url, env = [], token, headers = {}, permissions: { read = [] } = {} } = entry;
  if (url !== undefined) {
    const sent = [...(token === undefined ? [] : [token]), ...Object.values(headers)];
    return ["it is reached over HTTP", ...(sent.length === 0 ? [] : [`it is sent ${sent.join(", ")}`])].join("; ");
  }
  const sees = env.length === 0 ? [] : [`sees ${env.join(", ")}`];
  return [
    read.length === 0 ? "reads nothing of yours" : `reads ${read.join(", ")}`,
    "writes nothing",
    "no network",
    ...sees,
  ].join("; ");
}
