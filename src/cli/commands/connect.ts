import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import {
  clientNames,
  findClient,
  serverName,
  tokenPlaceholder,
  type ClientRow,
  type ConnectScope,
} from "../connect/clients.ts";
import { backUp, findClientFile, readClientFile, writeClientFile, type ClientFile } from "../connect/client-file.ts";
import { editServers, readServers, type ServerEdits } from "../connect/edit-servers.ts";
import { renderChange } from "../connect/render-change.ts";
import { addOption, getText } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { renderTable, toShownPath } from "../render.ts";
import { addServeOptions, enterProject, readServeOptions } from "../serve/serve-options.ts";
import { isYes } from "../terminal.ts";

/** `kitbag connect`: Kitbag in the configuration of an MCP client. */
export const connectCommand: CliCommand = {
  examples: [
    ["kitbag connect", "the clients, where their configurations are, and which start Kitbag"],
    ["kitbag connect cursor", "in .cursor/mcp.json of this project: the change is shown, and written after a yes"],
    [
      "kitbag connect claude-code skills --scope user",
      "in your own file; it serves this project and the skills in skills",
    ],
    ["kitbag connect codex --yes", "without a question, for scripts; run it again after Node or Kitbag moved"],
    ["kitbag connect vscode --http", "reach kitbag serve --http instead of starting Kitbag"],
    ["kitbag connect cursor --remove", "take it out again"],
  ],
  define(command) {
    command.argument("[client]", `one of ${clientNames.join(", ")}`);
    command.argument("[dirs...]", "folders with skills, before those of the usual places");
    addOption(command, "--scope <where>", "project or user: which file; project unless the client has none there");
    command.option("--yes", "write what is shown without asking; for scripts");
    command.option("--print", "print the configuration, and write nothing");
    command.option("--remove", "take Kitbag out of the file");
    addServeOptions(command);
  },
  async run(given) {
    const entered = enterProject(given);
    const [client, ...args] = entered.args;
    const invocation = { ...entered, args };
    if (client === undefined) return listClients(invocation);
    const row = findClient(client);
    const connection = { client, row, invocation };
    if (invocation.options["remove"] === true) return removeFrom(connection);
    const { printConfig, toClientEntry, toMachine } = await import("../serve/print-config.ts");
    const wanted = readServeOptions(invocation);
    if (invocation.options["print"] === true) return printConfig(client, wanted, invocation);
    const scope = readScope(row, invocation);
    const path = findClientFile(row, scope, invocation.cwd, toMachine(invocation));
    const entry = toClientEntry(wanted, invocation, toSession(client, scope, invocation));
    const inputs = row.toInputs?.(entry);
    const edits = { servers: new Map([[serverName, row.toEntry(entry)]]), ...(inputs !== undefined && { inputs }) };
    return change({ ...connection, path, scope, edits });
  },
};

interface Connection {
  readonly client: string;
  readonly row: ClientRow;
  readonly invocation: Invocation;
}

interface Change extends Connection {
  readonly path: string;
  readonly scope: ConnectScope;
  readonly edits: ServerEdits;
}

function readScope(row: ClientRow, { options }: Invocation): ConnectScope {
  const text = getText(options, "scope");
  if (text === undefined) return row.project === undefined ? "user" : "project";
  if (text === "project" || text === "user") return text;
  throw usageError(`Cannot use --scope ${JSON.stringify(text)}: there are project and user`);
}

/** Each client, and in a project each project, has its own skills open over HTTP. */
function toSession(client: string, scope: ConnectScope, { cwd }: Invocation): string {
  if (scope === "user") return client;
  return `${client}.${basename(cwd).replaceAll(/[^A-Za-z0-9.:@_-]/gu, "-")}`.slice(0, 64);
}

/** Shows what would change, asks, and writes. */
async function change({ client, row, invocation, path, scope, edits }: Change): Promise<Answer> {
  const { cwd, env, terminal, options } = invocation;
  const project = scope === "project" ? cwd : undefined;
  const file = readClientFile(path, project);
  const { before, after, text } = plan(file, { client, row, edits });
  const isRemoval = edits.servers.get(serverName) === undefined;
  const shown = toShownPath(path, cwd);
  const facts = { client, scope, file: path };
  if (text === (file.text ?? "") || isDeepStrictEqual(before, after)) {
    const status = isRemoval ? "absent" : "unchanged";
    return {
      document: { status, ...facts },
      text: toPrintable(`${row.title} ${isRemoval ? "does not start Kitbag" : "starts Kitbag already"}: ${shown}`),
    };
  }
  const difference = renderChange(before, after, edits);
  terminal.note(toPrintable(`${shown}: ${row.key}\n${difference}\n`));
  if (
    options["yes"] !== true &&
    !(terminal.canAsk && isYes(await terminal.ask(`Write this? The rest of the file stays as it is. [y/N] `)))
  ) {
    const failure = terminal.canAsk
      ? "Nothing was written"
      : "Nothing was written: no person can be asked. To write what is shown, add --yes";
    return { document: { status: "refused", ...facts }, failure, exitCode: 1 };
  }
  const backup = backUp(file, resolveKitbagHome(env));
  writeClientFile(file, text, project);
  const document = { status: isRemoval ? "removed" : "connected", ...facts, ...(backup !== undefined && { backup }) };
  return {
    document,
    text: toPrintable(
      renderDone({ row, shown, backup, isRemoval, isProject: project !== undefined, after }).join("\n"),
    ),
  };
}

interface Planned {
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
  readonly text: string;
}

/** @throws {KitbagError} `config-invalid` if the file is not what the client reads. */
function plan(file: ClientFile, { client, row, edits }: Pick<Change, "client" | "row" | "edits">): Planned {
  try {
    const old = file.text ?? "";
    const text = editServers(old, row, edits);
    return { before: readServers(old, row)[serverName], after: readServers(text, row)[serverName], text };
  } catch (cause) {
    const format = { json: "JSON", jsonc: "JSON with comments", toml: "TOML" }[row.format];
    const [line = ""] = (cause as Error).message.split("\n");
    const reason = `it is not ${format} that ${row.title} reads (${line}); it was left as it is. Repair it, or add this yourself: kitbag connect ${client} --print`;
    throw new KitbagError("config-invalid", { path: file.path, reason }, { cause });
  }
}

interface Done {
  readonly row: ClientRow;
  readonly shown: string;
  readonly backup: string | undefined;
  readonly isRemoval: boolean;
  readonly isProject: boolean;
  readonly after: JsonValue | undefined;
}

function renderDone({ row, shown, backup, isRemoval, isProject, after }: Done): string[] {
  return [
    `${isRemoval ? `${row.title} no longer starts Kitbag` : `${row.title} is connected`}: ${shown}`,
    ...(backup === undefined ? [] : [`The file as it was: ${backup}`]),
    ...(JSON.stringify(after ?? "").includes(tokenPlaceholder)
      ? [
          `${row.title} reads no variables there: write a token in the place of ${tokenPlaceholder}; kitbag token add makes one`,
        ]
      : []),
    ...(isRemoval ? [] : [`To use it: ${row.then}`]),
    ...(isRemoval || !isProject
      ? []
      : ["The file names paths of this machine: where others share it, use --scope user"]),
  ];
}

async function removeFrom({ client, row, invocation }: Connection): Promise<Answer> {
  const { toMachine } = await import("../serve/print-config.ts");
  const named = getText(invocation.options, "scope");
  const scopes: readonly ConnectScope[] =
    named === undefined && row.project !== undefined ? ["project", "user"] : [readScope(row, invocation)];
  const edits = { servers: new Map<string, JsonObject | undefined>([[serverName, undefined]]) };
  const places = scopes.map((scope) => ({
    scope,
    path: findClientFile(row, scope, invocation.cwd, toMachine(invocation)),
  }));
  const has = ({ scope, path }: (typeof places)[number]): boolean =>
    isConnected(row, path, scope === "project" ? invocation.cwd : undefined);
  const meant = places.find(has) ?? places[0];
  if (meant === undefined) throw usageError(`Cannot remove Kitbag from ${row.title}: it has no file`);
  return change({ client, row, invocation, ...meant, edits });
}

function isConnected(row: ClientRow, path: string, project?: string): boolean {
  try {
    return Object.hasOwn(readServers(readClientFile(path, project).text ?? "", row), serverName);
  } catch {
    return false;
  }
}

async function listClients(invocation: Invocation): Promise<Answer> {
  const { toMachine } = await import("../serve/print-config.ts");
  const found = clientNames.flatMap((client) => {
    const row = findClient(client);
    const scopes: readonly ConnectScope[] = row.project === undefined ? ["user"] : ["project", "user"];
    return scopes.map((scope) => {
      const file = findClientFile(row, scope, invocation.cwd, toMachine(invocation));
      return {
        client,
        scope,
        file,
        connected: isConnected(row, file, scope === "project" ? invocation.cwd : undefined),
      };
    });
  });
  const rows = found.map(({ client, scope, file, connected }) => [
    client,
    scope,
    connected ? "yes" : "",
    toShownPath(file, invocation.cwd),
  ]);
  return {
    document: { clients: found },
    text: renderTable(["CLIENT", "SCOPE", "CONNECTED", "FILE"], rows, invocation.terminal),
  };
}
