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

/** The file of a client. */
export interface Target {
  readonly client: string;
  readonly row: ClientRow;
  readonly scope: ConnectScope;
  readonly path: string;
}

/** What is done to it, and beside it. */
export interface ClientChange {
  readonly edits: ServerEdits;
  /** Shown with the change. */
  readonly more?: string;
  /** Done before the file is written: what leaves the file is in another place then. */
  readonly before?: () => void;
  /** Done when the file is written. Answers with what the person is told. */
  readonly after?: () => readonly string[];
}

/**
 * Shows what would change in a client's file, asks, and writes.
 *
 * @throws {KitbagError} `config-invalid` if the file cannot be used; it is left as it is then.
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

/** Asks whether what was shown is to be written. Answers with why not. */
async function findRefusal({ terminal, options }: Invocation): Promise<string | undefined> {
  if (options["yes"] === true) return undefined;
  if (!terminal.canAsk) return "Nothing was written: no person can be asked. To write what is shown, add --yes";
  return isYes(await terminal.ask("Write this? The rest stays as it is. [y/N] ")) ? undefined : "Nothing was written";
}

function renderNext({ row, scope }: Target, written: string): string[] {
  return [
    ...(written.includes(tokenPlaceholder)
      ? [
          `${row.title} reads no variables there: write a token in the place of ${tokenPlaceholder}; kitbag token add makes one`,
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
  const reason = `it is not ${format} that ${row.title} reads (${line}); it was left as it is. Repair it, or add this yourself: kitbag connect ${client} --print`;
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

/** Links in a project must not lead out of it. */
function toProject({ scope }: Target, { cwd }: Invocation): string | undefined {
  return scope === "project" ? cwd : undefined;
}
