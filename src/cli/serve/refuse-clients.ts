import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { isKitbagError, type Failure } from "../../core/errors.ts";
import { refuseClients } from "../../mcp/server/refuse-clients.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { toFailedAnswer } from "../report-error.ts";
import { toHeadFolder, toKeyFile } from "../store/audit-files.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import type { LiveTokens } from "./tokens.ts";
import type { Served } from "./open-served.ts";
import { openServiceGate } from "./serve-http.ts";
import { openProtocolOutput } from "./serve-stdio.ts";
import type { HttpOptions } from "./serve-options.ts";

/**
 * Tells the client that started this program why there is no service, as the error of each request, until the client goes away. Answers
 * with what is left to be said then.
 */
export async function refuseStdio({ terminal }: Invocation, { failure = "", ...answer }: Answer): Promise<Answer> {
  terminal.note(`${failure}\n`);
  await untilInterrupted(async (signal) => {
    const clients = refuseClients(toReason({ failure, ...answer }));
    const serving = clients.serveStdio({ input: process.stdin, output: openProtocolOutput() });
    signal.addEventListener("abort", () => void serving.close(), { once: true });
    await serving.closed;
  });
  return { ...answer, document: undefined };
}

/** What is needed to wait for a person. */
export interface WaitingParts {
  readonly invocation: Invocation;
  readonly http: HttpOptions;
  readonly tokens: LiveTokens | undefined;
  readonly signal: AbortSignal;
}

/**
 * Opens what is served over HTTP. Where a person must agree to something first, listens there and tells clients so until it is done.
 * Answers with nothing if `signal` is aborted meanwhile.
 */
export async function openAgreed(open: () => Promise<Served>, parts: WaitingParts): Promise<Served | undefined> {
  const { signal, invocation } = parts;
  const home = resolveKitbagHome(invocation.env);
  while (!signal.aborted) {
    // Before the attempt: the person may agree while it fails.
    const before = lookAt(home);
    try {
      return await open();
    } catch (cause) {
      if (!needsPerson(cause)) throw cause;
      await listenWhile(() => lookAt(home) === before, toFailedAnswer(cause), parts);
    }
  }
  return undefined;
}

/** Tells whether a command in another terminal ends this failure. */
function needsPerson(cause: unknown): boolean {
  return isKitbagError(cause) && ["store-unaccepted", "audit-broken", "audit-key-invalid"].includes(cause.code);
}

/** How often it is looked whether a person has agreed. */
const lookMs = 250;

async function listenWhile(
  isWaiting: () => boolean,
  answer: Answer,
  { invocation, http, tokens, signal }: WaitingParts,
): Promise<void> {
  const reason = toReason(answer);
  const gate = await openServiceGate(invocation, {
    http,
    tokens,
    routes: [refuseClients(reason).route("/mcp")],
    // Everybody may read it, so it names no path.
    unavailable: `${reason.code}: a person must agree first; clients with a token, and the log, are told how`,
  });
  try {
    const told = `Clients at ${gate.url}/mcp are told so until it is done; then this goes on by itself`;
    const token = gate.token === undefined ? [] : [`They send the token of the local user: ${gate.token}`];
    invocation.terminal.note(`${[answer.failure ?? "", told, ...token].join("\n")}\n`);
    while (isWaiting() && !signal.aborted) await wait(lookMs);
  } finally {
    await gate.close();
  }
}

/** The versions of the files that a command writes by which a person agrees. Attempts to open a store leave them alone. */
function lookAt(home: string): string {
  const folder = toHeadFolder(home);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.endsWith(".lock")) : [];
  const files = [toKeyFile(home), ...names.map((name) => join(folder, name))];
  return files.map((file) => `${file} ${statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs}`).join("\n");
}

/** What the answer of a command says, in one line. */
function toReason({ document, failure = "" }: Answer): Pick<Failure, "code" | "message"> {
  const { error } = document as { readonly error: Failure };
  return { code: error.code, message: failure.split("\n").join("; ") };
}
