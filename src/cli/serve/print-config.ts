import { dirname, resolve, sep } from "node:path";

import { checkGateOptions } from "../../gate/check-gate-options.ts";
import { isEverywhere, isLoopback } from "../../gate/origin.ts";
import { findSkills } from "../../skills/discovery/find-skills.ts";
import { isInside } from "../../platform/paths.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { getText } from "../options.ts";
import { toFindOptions } from "../skills/load-reports.ts";
import { type ClientEntry, renderClientConfig } from "./client-configs.ts";
import { isSource, mainFile } from "../own-files.ts";
import { readTokens, withoutMissing } from "./tokens.ts";
import type { HttpOptions, ServeOptions } from "./serve-options.ts";

/**
 * Answers with what `client` must be told to start or reach what this line would serve.
 *
 * @throws {KitbagError} `usage-invalid`, `option-invalid` for what could not be served: later the client would only say that it fails.
 */
export function printConfig(client: string, wanted: ServeOptions, invocation: Invocation): Answer {
  checkServable(wanted, invocation);
  const entry = wanted.http === undefined ? toStdio(wanted, invocation) : toHttp(wanted.http);
  const { place, text } = renderClientConfig(client, entry);
  if (!invocation.json) invocation.terminal.note(`# ${place}\n`);
  if (wanted.http !== undefined && wanted.http.publicUrl === undefined && isEverywhere(wanted.http.host)) {
    invocation.terminal.note("# On other machines, write the address of this one in place of 127.0.0.1\n");
  }
  return { document: { client, place, ...entry, text }, text };
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

/** Clients start programs in any folder, so every path is absolute. */
function toStdio({ directories, exposure, open, hasForge }: ServeOptions, invocation: Invocation): ClientEntry {
  const { options, cwd: project } = invocation;
  const program = { node: process.execPath, main: mainFile, isSource, platform: process.platform };
  const { command, args } = toCommand(program, project);
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
  return { transport: "stdio", command, args: [...args, "serve", "--project", project, ...flags, ...folders] };
}

function toHttp({ host, port, tokens, oauth, publicUrl }: HttpOptions): ClientEntry {
  const own = isEverywhere(host) ? "127.0.0.1" : host;
  const name = own.includes(":") ? `[${own}]` : own;
  const url = publicUrl ?? `http://${name}:${port}/mcp`;
  // With OAuth the client asks the user to sign in; from other machines one of the two is required.
  return { transport: "http", url, needsToken: oauth === undefined && (tokens !== undefined || !isLoopback(host)) };
}

/** What is known about how Kitbag was started. */
export interface OwnProgram {
  /** The absolute path of Node. */
  readonly node: string;
  /** The absolute path of the file that is started as `kitbag`. */
  readonly main: string;
  readonly isSource: boolean;
  readonly platform: string;
}

/** A program and its words. */
interface ProgramLine {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The line that starts Kitbag from any folder: `npx` where it is installed in the project, so that the line survives an update,
 * and else Node with the file itself. `npx` is told to fetch nothing: what has this name elsewhere is not this program.
 */
export function toCommand({ node, main, isSource, platform }: OwnProgram, project: string): ProgramLine {
  const installed = findInstallation(main);
  // On Windows npx is no program but a script, which many clients cannot start.
  if (installed !== undefined && platform !== "win32" && isInside(project, installed)) {
    return { command: "npx", args: ["--no", "--prefix", installed, "kitbag"] };
  }
  return { command: node, args: [...(isSource ? ["--conditions=@kitbag/source"] : []), main] };
}

/** The folder in whose `node_modules` Kitbag is. */
function findInstallation(main: string): string | undefined {
  const end = main.lastIndexOf(`${sep}node_modules${sep}kitbag${sep}`);
  return end === -1 ? undefined : dirname(`${main.slice(0, end)}${sep}x`);
}
