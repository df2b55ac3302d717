import { resolve, sep } from "node:path";

import { resolveKitbagHome } from "../../platform/home.ts";
import { isInside } from "../../platform/paths.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { changeClient, isConnected, type Target } from "../connect/change-client.ts";
import { findClientFile } from "../connect/client-file.ts";
import { clientNames, findClient, serverName, type ClientRow, type ConnectScope } from "../connect/clients.ts";
import { addOption, getText } from "../options.ts";
import { renderTable, toShownPath } from "../render.ts";
import { addServeOptions, enterProject, readServeOptions } from "../serve/serve-options.ts";

/** `kitbag connect`: Kitbag in the configuration of an MCP client. */
export const connectCommand: CliCommand = {
  examples: [
    ["kitbag connect", "the clients, where their configurations are, and which start Kitbag"],
    ["kitbag connect cursor", "in .cursor/mcp.json of this project: the change is shown, and written after a yes"],
    [
      "kitbag connect claude-code skills --scope user",
      "in your own file; it serves this project and the folder skills",
    ],
    ["kitbag connect codex --yes", "without a question, for scripts; run it again after Node or Kitbag moved"],
    ["kitbag connect vscode --http", "reach kitbag serve --http instead of starting Kitbag"],
    [
      "kitbag connect cursor --adopt",
      "take over its other servers: they run in the sandbox, and their tools are pinned",
    ],
    ["kitbag connect --adopt .mcp.json", "the same for the servers of a file"],
    ["kitbag connect cursor --remove", "take it out again, and give back the servers that were taken over"],
  ],
  define(command) {
    command.argument("[client]", `one of ${clientNames.join(", ")}`);
    command.argument("[dirs...]", "folders with skills, before those of the usual places");
    addOption(command, "--scope <where>", "project or user: which file; project unless the client has none there");
    command.option("--adopt [file]", "take over the other servers of the client's file, or of this file");
    command.option("--yes", "write what is shown without asking; for scripts");
    command.option("--print", "print the configuration, and write nothing");
    command.option("--remove", "take Kitbag out of the file");
    addServeOptions(command);
  },
  async run(given) {
    const entered = enterProject(given);
    const [client, ...args] = entered.args;
    const invocation = { ...entered, args };
    const { options } = invocation;
    const { printConfig, toMachine } = await import("../serve/print-config.ts");
    const find = (row: ClientRow, scope: ConnectScope): string =>
      findClientFile(row, scope, invocation.cwd, toMachine(invocation));
    if (client === undefined && options["adopt"] === undefined) return listClients(invocation, find);
    if (options["print"] === true && client !== undefined) {
      return printConfig(client, readServeOptions(invocation), invocation);
    }
    const target = findTarget(client, invocation, find);
    if (options["remove"] === true) return disconnect(target, invocation, find);
    return connect(target, invocation);
  },
};

type FindFile = (row: ClientRow, scope: ConnectScope) => string;

/** What the words mean: a client, and the file that is changed. */
function findTarget(client: string | undefined, { cwd, options }: Invocation, find: FindFile): Target {
  const named = getText(options, "adopt");
  if (named === undefined || clientNames.includes(named)) {
    const name = client ?? named ?? "claude-code";
    const row = findClient(name);
    const scope = readScope(row, getText(options, "scope"));
    return { client: name, row, scope, path: find(row, scope) };
  }
  const path = resolve(cwd, named);
  const name = client ?? findOwner(path, find);
  return { client: name, row: findClient(name), scope: isInside(path, cwd) ? "project" : "user", path };
}

/** Whose file this is; most clients write `mcpServers` as Claude Code does. */
function findOwner(path: string, find: FindFile): string {
  const isOwn = (client: string): boolean => {
    const row = findClient(client);
    const ends = (row.project ?? []).map((file) => sep + file.replaceAll("/", sep));
    return ends.some((end) => path.endsWith(end)) || find(row, "user") === path;
  };
  return clientNames.find(isOwn) ?? (path.endsWith(".toml") ? "codex" : "claude-code");
}

function readScope(row: ClientRow, text: string | undefined): ConnectScope {
  if (text === undefined) return row.project === undefined ? "user" : "project";
  if (text === "project" || text === "user") return text;
  throw usageError(`Cannot use --scope ${JSON.stringify(text)}: there are project and user`);
}

async function connect(target: Target, invocation: Invocation): Promise<Answer> {
  const { toClientEntry, toSession } = await import("../serve/print-config.ts");
  const { client, row, scope } = target;
  const entry = toClientEntry(readServeOptions(invocation), invocation, toSession(client, scope, invocation));
  const edits = { servers: new Map([[serverName, row.toEntry(entry)]]), inputs: row.toInputs?.(entry) ?? [] };
  if (invocation.options["adopt"] === undefined) return changeClient(target, { edits }, invocation);
  const { planAdopting, trustAdopted } = await import("../connect/keep-adopted.ts");
  const { adoption, ...change } = planAdopting(target, edits, invocation);
  const answer = await changeClient(target, change, invocation);
  return answer.exitCode === undefined && adoption.taken.length > 0 ? trustAdopted(answer, invocation) : answer;
}

/** Takes Kitbag out of the file that has it. */
async function disconnect(target: Target, invocation: Invocation, find: FindFile): Promise<Answer> {
  const { planGivingBack } = await import("../connect/keep-adopted.ts");
  const isNamed = ["scope", "adopt"].some((name) => getText(invocation.options, name) !== undefined);
  const others = isNamed || target.row.project === undefined ? [] : (["project", "user"] as const);
  const places = [target, ...others.map((scope) => ({ ...target, scope, path: find(target.row, scope) }))];
  const meant = places.find((place) => isConnected(place, invocation)) ?? target;
  return changeClient(meant, planGivingBack(meant, resolveKitbagHome(invocation.env), invocation), invocation);
}

async function listClients(invocation: Invocation, find: FindFile): Promise<Answer> {
  const clients = clientNames.flatMap((client) => {
    const row = findClient(client);
    const scopes: readonly ConnectScope[] = row.project === undefined ? ["user"] : ["project", "user"];
    return scopes.map((scope) => {
      const path = find(row, scope);
      return { client, scope, file: path, connected: isConnected({ client, row, scope, path }, invocation) };
    });
  });
  const rows = clients.map(({ client, scope, file, connected }) => [
    ...[client, scope, connected ? "yes" : "", toShownPath(file, invocation.cwd)],
  ]);
  const text = renderTable(["CLIENT", "SCOPE", "CONNECTED", "FILE"], rows, invocation.terminal);
  return { document: { clients }, text };
}
