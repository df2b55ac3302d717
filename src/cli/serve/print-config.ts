import { resolve } from "node:path";

import type { Answer, Invocation } from "../cli-command.ts";
import { isEverywhere, isLoopback } from "../../gate/origin/is-loopback.ts";
import { getText } from "../options.ts";
import { renderClientConfig, type ClientEntry } from "./client-configs.ts";
import { isSource, mainFile } from "./own-files.ts";
import type { HttpWishes, ServeWishes } from "./serve-wishes.ts";
import { toCommand } from "./to-command.ts";

/** Answers with what `client` must be told to start or reach what this line would serve. */
export function printConfig(client: string, wishes: ServeWishes, invocation: Invocation): Answer {
  const entry = wishes.http === undefined ? toStdio(wishes, invocation) : toHttp(wishes.http);
  const { place, text } = renderClientConfig(client, entry);
  if (!invocation.json) invocation.terminal.note(`# ${place}\n`);
  if (wishes.http !== undefined && wishes.http.publicUrl === undefined && isEverywhere(wishes.http.host)) {
    invocation.terminal.note("# On other machines, write the address of this one in place of 127.0.0.1\n");
  }
  return { document: { client, place, ...entry, text }, text };
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
    ...(exposure === "both" ? [] : ["--exposure", exposure]),
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
  return { transport: "http", url, needsToken: oauth === undefined && (tokens.length > 0 || !isLoopback(host)) };
}
