import { resolve } from "node:path";

import type { Answer, Invocation } from "../cli-command.ts";
import { checkGateOptions } from "../../gate/check-gate-options.ts";
import { isEverywhere, isLoopback } from "../../gate/origin/is-loopback.ts";
import { findSkills } from "../../skills/discovery/find-skills.ts";
import { getText } from "../options.ts";
import { toFindOptions } from "../skills/find-options.ts";
import { usageError } from "../usage-error.ts";
import { renderClientConfig, type ClientEntry } from "./client-configs.ts";
import { isSource, mainFile } from "./own-files.ts";
import { readTokens, withoutMissing } from "./read-tokens.ts";
import type { HttpWishes, ServeWishes } from "./serve-wishes.ts";
import { toCommand } from "./to-command.ts";

/**
 * Answers with what `client` must be told to start or reach what this line would serve.
 *
 * @throws {KitbagError} `usage-invalid`, `option-invalid` for what could not be served: later the client would only say that it fails.
 */
export function printConfig(client: string, wishes: ServeWishes, invocation: Invocation): Answer {
  checkServable(wishes, invocation);
  const entry = wishes.http === undefined ? toStdio(wishes, invocation) : toHttp(wishes.http);
  const { place, text } = renderClientConfig(client, entry);
  if (!invocation.json) invocation.terminal.note(`# ${place}\n`);
  if (wishes.http !== undefined && wishes.http.publicUrl === undefined && isEverywhere(wishes.http.host)) {
    invocation.terminal.note("# On other machines, write the address of this one in place of 127.0.0.1\n");
  }
  return { document: { client, place, ...entry, text }, text };
}

function checkServable({ directories, http }: ServeWishes, invocation: Invocation): void {
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
function toStdio({ directories, exposure, hasForge }: ServeWishes, invocation: Invocation): ClientEntry {
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
    ...(hasForge ? [] : ["--no-forge"]),
  ];
  const folders = directories.map((directory) => resolve(project, directory));
  return { transport: "stdio", command, args: [...args, "serve", "--project", project, ...flags, ...folders] };
}

function toHttp({ host, port, tokens, oauth, publicUrl }: HttpWishes): ClientEntry {
  const own = isEverywhere(host) ? "127.0.0.1" : host;
  const name = own.includes(":") ? `[${own}]` : own;
  const url = publicUrl ?? `http://${name}:${port}/mcp`;
  // Who signs in with OAuth is asked by the client; nobody is let in from elsewhere without one of the two.
  return { transport: "http", url, needsToken: oauth === undefined && (tokens !== undefined || !isLoopback(host)) };
}
