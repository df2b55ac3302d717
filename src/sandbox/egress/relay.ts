import { existsSync } from "node:fs";
import { join } from "node:path";

import { parseNetworkRule } from "./network-rule.ts";

/** The port inside at which the relay passes everything on to the proxy. */
export const relayPort = 3128;

/** The port inside at which the relay passes a connection on to the debugger. */
export const debugPort = 3129;

/**
 * Makes the environment by which programs inside find the proxy: the variables that curl, wget, git, pip, npm, Python, Ruby, Go and
 * Node read. Servers that a program starts inside are reached directly, unless a rule grants a loopback address of the host.
 */
export function egressEnvironment(rules: readonly string[] = []): Record<string, string> {
  const proxy = `http://127.0.0.1:${relayPort}`;
  const grantsLoopback = rules
    .map(parseNetworkRule)
    .some(({ kind, host }) => kind === "address" && (host.startsWith("127.") || host === "::1"));
  const direct = grantsLoopback ? "" : "localhost,127.0.0.1,::1";
  return {
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: direct,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: direct,
    NODE_USE_ENV_PROXY: "1",
  };
}

/** Which program passes connections on inside. The relay in Perl starts in a third of the time of the one in Python. */
export type RelayInterpreter = "perl" | "python";

/** The folder with the programs of the relay on the host; mount it read-only at {@link relayTarget}. */
export const relaySource: string = join(import.meta.dirname, "inside");

/** Where the folder with the programs of the relay is inside. */
export const relayTarget = "/opt/kitbag/egress";

/** Where each relay has its interpreter, on the host and inside. */
export const relayPrograms: Readonly<Record<RelayInterpreter, string>> = {
  perl: "/usr/bin/perl",
  python: "/usr/bin/python3",
};

/** Variables of the command have it until the relay becomes the command: what starts the relay must not read them. */
const variablePrefix = "KITBAG_FOR_";

/** Finds the relay that starts fastest on this machine; undefined if it has neither Perl nor Python. */
export function findRelayInterpreter(): RelayInterpreter | undefined {
  return (["perl", "python"] as const).find((name) => existsSync(relayPrograms[name]));
}

/** A port of the loopback interface inside, and the Unix socket that its connections are passed on to. */
export interface RelayRoute {
  readonly port: number;
  readonly socket: string;
}

/** What a relay is told. */
export interface RelayOrder {
  readonly interpreter: RelayInterpreter;
  readonly routes: readonly RelayRoute[];
  /** A file with the system-call filter of the command. The relay itself must be free to open Unix sockets. */
  readonly filter: string;
  /** @default {@link relayTarget} */
  readonly folder?: string;
}

/**
 * Puts the relay in front of a command: it opens its ports, leaves a process behind that passes connections on, puts on the filter and
 * becomes the command. The interface `lo` must be up, or the relay must have the right to bring it up.
 */
export function toRelayCommand(
  { interpreter, routes, filter, folder = relayTarget }: RelayOrder,
  command: readonly string[],
): string[] {
  const start = interpreter === "perl" ? [`${folder}/relay.pl`] : ["-I", "-S", `${folder}/relay.py`];
  const prctl = process.arch === "x64" ? "157" : "167";
  const words = routes.flatMap(({ port, socket }) => [String(port), socket]);
  return [relayPrograms[interpreter], ...start, prctl, filter, ...words, "--", ...command];
}

/** The environment to start a relay with, so that its command has `environment`. No tool chooses `PATH`. */
export function toRelayEnvironment(environment: Readonly<Record<string, string>>): Record<string, string> {
  const toName = (name: string): string => (name === "PATH" ? name : variablePrefix + name);
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [toName(name), value]));
}
