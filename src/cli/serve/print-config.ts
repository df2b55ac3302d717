import { homedir } from "node:os";
import { basename, resolve } from "node:path";

import { checkGateOptions } from "../../gate/check-gate-options.ts";
import { isEverywhere, isLoopback } from "../../gate/origin.ts";
import { findSkills } from "../../skills/discovery/find-skills.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { getText } from "../options.ts";
import { toFindOptions } from "../skills/load-reports.ts";
import { type ClientEntry, type ConnectScope, type Machine, renderClientConfig } from "../connect/clients.ts";
import { isSource, mainFile } from "../own-files.ts";
import { readTokens, withoutMissing } from "./tokens.ts";
import type { HttpOptions, ServeOptions } from "./serve-options.ts";

/** What Node needs to run the sources. */
const ownConditions: readonly string[] = isSource ? ["--conditions=@kitbag/source"] : [];

/**
 * Answers with what `client` must be told to start or reach what this line would serve.
 *
 * @throws {KitbagError} `usage-invalid`, `option-invalid` for what could not be served: later the client would only say that it fails.
 */
export function printConfig(client: string, wanted: ServeOptions, invocation: Invocation): Answer {
  const entry = toClientEntry(wanted, invocation, client);
  const { place, text } = renderClientConfig(client, entry, toMachine(invocation));
  if (!invocation.json) invocation.terminal.note(`# ${place}\n`);
  if (wanted.http !== undefined && wanted.http.publicUrl === undefined && isEverywhere(wanted.http.host)) {
    invocation.terminal.note("# On other machines, write the address of this one in place of 127.0.0.1\n");
  }
  return { document: { client, place, ...entry, text }, text };
}

/** The machine that a command runs on. */
export function toMachine({ env }: Pick<Invocation, "env">): Machine {
  return { home: env["HOME"] || homedir(), env, platform: process.platform };
}

/**
 * How a client starts or reaches what this line would serve. Over HTTP each `session` has skills of its own open.
 *
 * @throws {KitbagError} `usage-invalid`, `option-invalid` for what could not be served: later the client would only say that it fails.
 */
export function toClientEntry(wanted: ServeOptions, invocation: Invocation, session: string): ClientEntry {
  checkServable(wanted, invocation);
  return wanted.http === undefined ? toStdio(wanted, invocation) : toHttp(wanted.http, session);
}

/** The name of a session: each client, and in a project each project, has its own skills open over HTTP. */
export function toSession(client: string, scope: ConnectScope, { cwd }: Invocation): string {
  if (scope === "user") return client;
  return `${client}.${basename(cwd).replaceAll(/[^A-Za-z0-9.:@_-]/gu, "-")}`.slice(0, 64);
}

function checkServable({ directories, http }: ServeOptions, invocation: Invocation): void {
  const { diagnostics } = findSkills(toFindOptions(invocation, directories));
  const missing = diagnostics.find(({ code }) => code === "folder-missing");
  if (missing !== undefined) throw usageError(missing.message);
  if (http === undefined) return;
  const { origins, oauth } = http;
  const tokens = http.tokens === undefined ? [] : readTokens(withoutMissing(http.tokens));
  // Whether others can reach it unasked is not looked at: the token may come with the environment that serves.
  checkGateOptions({ routes: [], tokens, origins, ...(oauth !== undefined && { oauth }) });
}

/**
 * Clients start programs in any folder, with any PATH, and without the variables of a shell: every path is absolute, also the one of
 * the Node that runs now, and Kitbag's own variables are named.
 */
function toStdio({ directories, exposure, open, hasForge }: ServeOptions, invocation: Invocation): ClientEntry {
  const { options, env, cwd: project } = invocation;
  const module = getText(options, "module");
  const flags = [
    ...(module === undefined ? [] : ["--module", resolve(project, module)]),
    ...["sandbox", "store", "log"].flatMap((name) => {
      const value = getText(options, name);
      return value === undefined ? [] : [`--${name}`, value];
    }),
    ...(exposure === undefined ? [] : ["--exposure", exposure]),
    ...(open.length === 0 ? [] : ["--open", open.join(",")]),
    ...(hasForge ? [] : ["--no-forge"]),
  ];
  const folders = directories.map((directory) => resolve(project, directory));
  const home = env["KITBAG_HOME"];
  return {
    transport: "stdio",
    command: process.execPath,
    args: [...ownConditions, mainFile, "serve", "--project", project, ...flags, ...folders],
    ...(home !== undefined && { env: { KITBAG_HOME: home } }),
  };
}

function toHttp({ host, port, tokens, oauth, publicUrl }: HttpOptions, session: string): ClientEntry {
  const own = isEverywhere(host) ? "127.0.0.1" : host;
  const name = own.includes(":") ? `[${own}]` : own;
  const address = new URL(publicUrl ?? `http://${name}:${port}/mcp`);
  if (!address.searchParams.has("session")) address.searchParams.set("session", session);
  const url = address.href;
  // With OAuth the client asks the user to sign in; from other machines one of the two is required.
  return { transport: "http", url, needsToken: oauth === undefined && (tokens !== undefined || !isLoopback(host)) };
}
