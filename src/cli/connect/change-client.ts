import { KitbagError } from "../../core/errors.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import { toShownPath } from "../render.ts";
import { isYes } from "../terminal.ts";
import { backUp, readClientFile, writeClientFile, type ClientFile } from "./client-file.ts";
import { serverName, tokenPlaceholder, type ClientRow, type ConnectScope } from "./clients.ts";
import { editServers, readServers, type ServerEdits, type Servers } from "./edit-servers.ts";
import { renderChange } from "./render-change.ts";

/** A configuration file of an MCP client, and the row of the client in the table. */
export interface Target {
  readonly client: string;
  readonly row: ClientRow;
  readonly scope: ConnectScope;
  readonly path: string;
}

/** A change to the servers in that file, and what to do before and after it. */
export interface ClientChange {
  readonly edits: ServerEdits;
  /** Shown with the change. */
  readonly more?: string;
  /** Runs before the file is written, to save elsewhere what the file loses. */
  readonly before?: () => void;
  /** Runs after the file is written. Returns lines for the user. */
  readonly after?: () => readonly string[];
}

/**
 * Shows what would change in the configuration file of a client, asks the user, makes a backup, and writes the file.
 *
 * @throws {KitbagError} `config-invalid` if the file cannot be read as the client reads it; the file is then not changed.
 */
export async function changeClient(target: Target, change: ClientChange, invocation: Invocation): Promise<Answer> {
  const { row, path } = target;
  const project = toProject(target, invocation);
  const file = readClientFile(path, project);
  const text = editFile(file, target, change.edits);
  const old = file.text ?? "";
  const shown = toShownPath(path, invocation.cwd);
  const facts = { client: target.client, scope: target.scope, file: path };
  const isRemoval = change.edits.servers.get(serverName) === undefined;
  if (text === old && change.before === undefined && change.after === undefined) {
    const [status, state] = isRemoval ? ["absent", "does not start Kitbag"] : ["unchanged", "starts Kitbag already"];
    return { document: { status, ...facts }, text: toLines([`${row.title} ${state}: ${shown}`, change.more]) };
  }
  const [before, after] = [old, text].map((one) => readServers(one, row)[serverName]);
  const lines = [`${shown}: ${row.key}`, renderChange(before, after, change.edits), change.more];
  invocation.terminal.note(`${toLines(lines)}\n`);
  const refusal = await findRefusal(invocation);
  if (refusal !== undefined) return { document: { status: "refused", ...facts }, failure: refusal, exitCode: 1 };
  change.before?.();
  const backup = backUp(file, resolveKitbagHome(invocation.env));
  writeClientFile(file, text, project);
  const lead = `${row.title} ${isRemoval ? "no longer starts Kitbag" : "is connected"}: ${shown}`;
  const kept = backup === undefined ? [] : [`The file as it was: ${backup}`];
  const next = isRemoval ? [] : renderNext(target, JSON.stringify(after));
  const document = { status: isRemoval ? "removed" : "connected", ...facts, backup };
  return { document, text: toLines([lead, ...kept, ...(change.after?.() ?? []), ...next]) };
}

function toLines(lines: readonly (string | undefined)[]): string {
  return toPrintable(lines.filter((line) => line !== undefined).join("\n"));
}

/** Asks whether to write the change. Returns the reason if not. */
async function findRefusal({ terminal, options }: Invocation): Promise<string | undefined> {
  if (options["yes"] === true) return undefined;
  if (!terminal.canAsk) return "Nothing was written: no person can be asked. To write what is shown, add --yes";
  return isYes(await terminal.ask("Write this? The rest stays as it is. [y/N] ")) ? undefined : "Nothing was written";
}

function renderNext({ row, scope }: Target, written: string): string[] {
  return [
    ...(written.includes(tokenPlaceholder)
      ? [
          `${row.title} does not read variables in this file: replace ${tokenPlaceholder} by a token; kitbag token add makes one`,
        ]
      : []),
    `To use it: ${row.then}`,
    ...(scope === "project" ? ["The file names paths of this machine: where others share it, use --scope user"] : []),
  ];
}

/** The text of a file with its change. @throws {KitbagError} `config-invalid` if the file is not what the client reads. */
function editFile({ path, text = "" }: ClientFile, { client, row }: Target, edits: ServerEdits): string {
  try {
    return editServers(text, row, edits);
  } catch (cause) {
    throw toFileError(path, { client, row }, cause);
  }
}

/**
 * The servers of a client's file, and the file.
 *
 * @throws {KitbagError} `config-invalid` if the file is not what the client reads.
 */
export function loadServers(
  target: Target,
  invocation: Invocation,
): { readonly file: ClientFile; readonly servers: Servers } {
  const file = readClientFile(target.path, toProject(target, invocation));
  try {
    return { file, servers: readServers(file.text ?? "", target.row) };
  } catch (cause) {
    throw toFileError(target.path, target, cause);
  }
}

function toFileError(path: string, { client, row }: Pick<Target, "client" | "row">, cause: unknown): KitbagError {
  const format = { json: "JSON", jsonc: "JSON with comments", toml: "TOML" }[row.format];
  const [line = ""] = (cause as Error).message.split("\n");
  const reason = `${row.title} cannot read it as ${format} (${line}); it was left as it is. Repair it, or add the server yourself: kitbag connect ${client} --print`;
  return new KitbagError("config-invalid", { path, reason }, { cause });
}

/** Whether a client's file starts Kitbag. One that cannot be read does not. */
export function isConnected(target: Target, invocation: Invocation): boolean {
  try {
    return Object.hasOwn(loadServers(target, invocation).servers, serverName);
  } catch {
    return false;
  }
}

/** The folder that symlinks in the path of the file must not leave; none for a file of the user. */
function toProject({ scope }: Target, { cwd }: Invocation): string | undefined {
  return scope === "project" ? cwd : undefined;
}
