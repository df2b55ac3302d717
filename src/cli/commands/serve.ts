import { describeCause } from "../../core/errors.ts";
import type { Answer, CliCommand, Invocation } from "../cli-command.ts";
import { getText } from "../options.ts";
import { toPrintableLine } from "../printable.ts";
import { toFailedAnswer } from "../report-error.ts";
import type { Served } from "../serve/open-served.ts";
import {
  addPrintOption,
  addServeOptions,
  enterProject,
  readServeOptions,
  type ServeOptions,
} from "../serve/serve-options.ts";
import type { Project } from "../open-project.ts";
import { endSignals, untilInterrupted } from "../until-interrupted.ts";

/** `kitbag serve`: the tools and skills of a project, for MCP clients. */
export const serveCommand: CliCommand = {
  examples: [
    ["kitbag serve skills", "MCP on standard input and output: for a client that starts it"],
    [
      "kitbag serve skills --print-config cursor",
      "what this client must be told to start it; kitbag connect writes it",
    ],
    ["kitbag serve skills --http", "Streamable HTTP at http://127.0.0.1:3210/mcp; the first start prints its token"],
    [
      "kitbag serve --http 0.0.0.0:8080 --token @/etc/kitbag/tokens",
      "for the network: each line of the file is a token; it is followed",
    ],
    ["kitbag serve --http --print-config vscode", "what this client must be told to reach it"],
    ["kitbag serve --exposure dispatch", "show clients the few tools that find and call all others"],
  ],
  define(command) {
    command.argument("[dirs...]", "folders with skills, before those of the usual places");
    addServeOptions(command);
    addPrintOption(command);
  },
  async run(given) {
    const entered = enterProject(given);
    const wanted = readServeOptions(entered);
    const invocation = { ...entered, makesTools: wanted.hasForge };
    const client = getText(invocation.options, "printConfig");
    if (client !== undefined) {
      const { printConfig } = await import("../serve/print-config.ts");
      return printConfig(client, wanted, invocation);
    }
    const serving = serve(invocation, wanted);
    if (wanted.http !== undefined || invocation.terminal.canAsk) return serving;
    // Few clients show what a program that ended wrote to its standard error.
    const answer = await serving.catch(toFailedAnswer);
    if (answer.failure === undefined) return answer;
    const { refuseStdio } = await import("../serve/refuse-clients.ts");
    return refuseStdio(invocation, answer);
  },
};

async function serve(invocation: Invocation, wanted: ServeOptions): Promise<Answer> {
  const { openProject } = await import("../open-project.ts");
  const project = openProject(invocation, { warm: true });
  try {
    return await serveProject(project, wanted);
  } finally {
    await project.close();
  }
}

async function serveProject(project: Project, wanted: ServeOptions): Promise<Answer> {
  const { invocation, runtimes } = project;
  const { openServed } = await import("../serve/open-served.ts");
  const { http } = wanted;
  const places = http?.tokens;
  const tokens = places && (await import("../serve/tokens.ts")).openTokens(places);
  surviveRejections(invocation);
  const work = async (signal: AbortSignal): Promise<Answer> => {
    const open = (): Promise<Served> => openServed(project, wanted, tokens);
    const served =
      http === undefined
        ? await open()
        : await (await import("../serve/refuse-clients.ts")).openAgreed(open, { invocation, http, tokens, signal });
    if (served === undefined) return { document: undefined, exitCode: 1 };
    try {
      if (http === undefined) await (await import("../serve/serve-stdio.ts")).serveStdio(invocation, served, signal);
      else {
        const { serveHttp } = await import("../serve/serve-http.ts");
        await serveHttp(invocation, http, { served, runtimes, tokens }, signal);
      }
      return { document: undefined };
    } finally {
      await served.close();
    }
  };
  return untilInterrupted(work, http === undefined ? endSignals : endSignals.filter((name) => name !== "SIGHUP"));
}

/** A promise that a tool forgot must not take the service away from everybody. What is thrown outside of one still ends it. */
function surviveRejections({ terminal }: Invocation): void {
  process.on("unhandledRejection", (cause) => {
    terminal.note(`${toPrintableLine(`A tool left a failure that is not handled: ${describeCause(cause)}`)}\n`);
  });
}
