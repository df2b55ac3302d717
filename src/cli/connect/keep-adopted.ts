import { rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { KitbagError } from "../../core/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { toDigest } from "../../platform/digest.ts";
import { readTextIfExists, writeFileAtomically } from "../../platform/files.ts";
import { makeHomeFolder, resolveKitbagHome } from "../../platform/home.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { findConfig } from "../config/find-config.ts";
import { toShownPath } from "../render.ts";
import { loadSecretFile, toSecretFile } from "../sandbox/open-cli-runtimes.ts";
import { toMachine } from "../serve/print-config.ts";
import { planAdoption, renderAdoption, type AdoptedServer, type Adoption } from "./adopt-servers.ts";
import { loadServers, type ClientChange, type Target } from "./change-client.ts";
import { serverName } from "./clients.ts";
import { parseJsonc, removeJsonc, setJsonc } from "./edit-jsonc.ts";
import type { ServerEdits, Servers } from "./edit-servers.ts";

/** Taking over the servers of a client's file, as a change of that file. */
export function planAdopting(
  target: Target,
  edits: ServerEdits,
  invocation: Invocation,
): ClientChange & { readonly adoption: Adoption } {
  const { cwd: project, env } = invocation;
  const home = resolveKitbagHome(env);
  const { file, servers } = loadServers(target, invocation);
  if (file.text === undefined)
    throw new KitbagError("config-invalid", { path: target.path, reason: "there is no such file" });
  const config = findAdoptingConfig(project);
  const secrets = loadSecretFile(toSecretFile(home));
  const adoption = planAdoption(servers, {
    ...{ project, home: toMachine(invocation).home, known: config.servers },
    findSecret: (name) => secrets.get(name),
  });
  const { taken } = adoption;
  const all = {
    ...edits,
    servers: new Map([...edits.servers, ...taken.map(({ name }) => [name, undefined] as const)]),
  };
  const more = renderAdoption(adoption) || "There are no other servers";
  if (taken.length === 0) return { adoption, edits: all, more };
  const before = (): void => keepAdopted(taken, servers, { real: file.real, config: config.path, home });
  const told = `Taken over into ${toShownPath(config.path, project)}: ${taken.map(({ key }) => key).join(", ")}`;
  return { adoption, edits: all, more, before, after: () => [told] };
}

/** Adds the trust in what was taken over: the servers are started in the sandbox, and what they offer is shown and pinned. */
export async function trustAdopted(answer: Answer, invocation: Invocation): Promise<Answer> {
  const { trustCommand } = await import("../commands/trust.ts");
  const { path } = findAdoptingConfig(invocation.cwd);
  if (!invocation.json) invocation.terminal.print(`${answer.text ?? ""}\n`);
  const { yes } = invocation.options;
  const trusted = await trustCommand.run({ ...invocation, args: [path], options: { yes } });
  const failure =
    trusted.failure &&
    `${trusted.failure}\nThe servers are taken over, and not all can be used. To change what they may touch, edit ${toShownPath(path, invocation.cwd)}, then run kitbag trust .; to undo it, run this command with --remove`;
  return {
    ...trusted,
    document: { ...(answer.document as object), trust: trusted.document },
    ...(failure !== undefined && { failure }),
  };
}

/** Taking Kitbag out of a client's file, and giving back what was taken over from it. */
export function planGivingBack(target: Target, home: string, invocation: Invocation): ClientChange {
  const { file } = loadServers(target, invocation);
  const record = readRecord(file.real, home);
  const originals = Object.entries(record?.originals ?? {}) as [string, JsonObject][];
  const edits = { servers: new Map<string, JsonObject | undefined>([[serverName, undefined], ...originals]) };
  if (record === undefined) return { edits };
  const names = originals.map(([name]) => name).join(", ");
  const after = (): readonly string[] => {
    const changed = forgetAdopted(file.real, home);
    const kept = `Changed since, so still in ${toShownPath(record.config, invocation.cwd)}: ${changed.join(", ")}`;
    return [`Given back: ${names}`, ...(changed.length === 0 ? [] : [kept])];
  };
  return { edits, more: `+ ${names}, as before`, after };
}

/** What was taken over from a client's file, so that it can be given back. */
interface AdoptionRecord {
  /** The servers as the client's file had them. */
  readonly originals: Servers;
  /** The configuration that has them now, with what was written for each. */
  readonly config: string;
  readonly written: Servers;
  /** The names of secrets that were added. */
  readonly secrets: readonly string[];
}

const strict = { hasComments: false };

/**
 * The configuration that servers are written into: that of the project, or a new one.
 *
 * @throws {KitbagError} `config-invalid` if it is a program, or not JSON.
 */
function findAdoptingConfig(project: string): { readonly path: string; readonly servers: Servers } {
  const path = findConfig(project) ?? join(project, "kitbag.config.json");
  const refuse = (reason: string): never => {
    throw new KitbagError("config-invalid", { path, reason });
  };
  if (!path.endsWith(".json")) {
    return refuse(
      "it is a program, which kitbag connect --adopt does not change; write the servers into its mcp by hand",
    );
  }
  try {
    const document = parseJsonc(readTextIfExists(path) ?? "{}", strict);
    const servers: unknown = isRecord(document) ? (document["mcp"] ?? {}) : undefined;
    return isRecord(servers) ? { path, servers: servers as Servers } : refuse('its "mcp" is not an object');
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    return refuse((cause as Error).message);
  }
}

/**
 * Writes servers into the configuration and their secrets into the file of secrets, and remembers what the client's file `real` had.
 *
 * @throws {KitbagError} `config-invalid`, `home-unusable`; the error of the file system.
 */
function keepAdopted(
  taken: readonly AdoptedServer[],
  originals: Servers,
  { real, config, home }: { readonly real: string; readonly config: string; readonly home: string },
): void {
  const secrets = new Map(taken.flatMap((one) => [...one.secrets]));
  const added = addSecrets(secrets, home);
  const written = Object.fromEntries(taken.map(({ key, entry }) => [key, entry as unknown as JsonValue]));
  const before = readRecord(real, home);
  const record: AdoptionRecord = {
    originals: {
      ...before?.originals,
      ...Object.fromEntries(taken.map(({ name }) => [name, originals[name] ?? null])),
    },
    config,
    written: { ...before?.written, ...written },
    secrets: [...(before?.secrets ?? []), ...added],
  };
  makeHomeFolder(join(home, "connect"), home);
  writeFileAtomically(toPlace(real, home), `${JSON.stringify(record, null, 2)}\n`);
  const text = readTextIfExists(config) ?? "{}\n";
  const edited = Object.entries(written).reduce(
    (all, [key, entry]) => setJsonc(all, ["mcp", key], entry, strict),
    text,
  );
  writeFileAtomically(config, edited, { mode: 0o644 });
}

/** What was taken over from a client's file; nothing if nothing was. */
function readRecord(real: string, home: string): AdoptionRecord | undefined {
  const text = readTextIfExists(toPlace(real, home));
  return text === undefined ? undefined : (JSON.parse(text) as AdoptionRecord);
}

/** Takes servers that the client has again out of the configuration, unless they were changed there, and their secrets out of the file. */
function forgetAdopted(real: string, home: string): readonly string[] {
  const record = readRecord(real, home);
  if (record === undefined) return [];
  const text = readTextIfExists(record.config);
  const changed: string[] = [];
  if (text !== undefined) {
    const { mcp = {} } = parseJsonc(text, strict) as { readonly mcp?: JsonObject };
    changed.push(
      ...Object.keys(record.written).filter(
        (key) => mcp[key] !== undefined && !isDeepStrictEqual(mcp[key], record.written[key]),
      ),
    );
    const gone = Object.keys(record.written).filter((key) => !changed.includes(key));
    writeFileAtomically(
      record.config,
      gone.reduce((all, key) => removeJsonc(all, ["mcp", key], strict), text),
      { mode: 0o644 },
    );
  }
  if (changed.length === 0) removeSecrets(record.secrets, home);
  rmSync(toPlace(real, home));
  return changed;
}

function toPlace(real: string, home: string): string {
  return join(home, "connect", `adopted-${toDigest(Buffer.from(real)).slice(-16)}.json`);
}

/** Adds lines to the file of secrets. Answers with the names that were not there. */
function addSecrets(secrets: ReadonlyMap<string, string>, home: string): readonly string[] {
  const known = loadSecretFile(toSecretFile(home));
  const added = [...secrets].filter(([name]) => !known.has(name));
  if (added.length === 0) return [];
  makeHomeFolder(home);
  const place = toSecretFile(home);
  const before = readTextIfExists(place) ?? "";
  const start = before === "" || before.endsWith("\n") ? before : `${before}\n`;
  writeFileAtomically(place, start + added.map(([name, value]) => `${name}=${toLine(value)}\n`).join(""));
  return added.map(([name]) => name);
}

/** A reader takes away blanks around a value, and one pair of quotes. */
function toLine(value: string): string {
  return /^\s|\s$|^(["']).*\1$/u.test(value) ? `"${value}"` : value;
}

function removeSecrets(names: readonly string[], home: string): void {
  const place = toSecretFile(home);
  const text = readTextIfExists(place);
  if (text === undefined || names.length === 0) return;
  const isOurs = (line: string): boolean => names.includes(line.slice(0, Math.max(0, line.indexOf("="))));
  writeFileAtomically(
    place,
    text
      .split("\n")
      .filter((line) => !isOurs(line))
      .join("\n"),
  );
}
