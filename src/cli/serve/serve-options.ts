import { addModelOption } from "../agent/agent-options.ts";
import { resolve } from "node:path";

import type { Command } from "commander";

import { quote } from "../../core/errors.ts";
import { shortestToken } from "../../gate/check-gate-options.ts";
import type { GateOAuth, GateToken } from "../../gate/gate.ts";
import { describeFileError } from "../../platform/files.ts";
import type { McpExposure } from "../../mcp/server/client.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import {
  addListOption,
  addModuleOption,
  addOption,
  addSkillsOption,
  getText,
  getTexts,
  addSandboxOption,
  addStoreOption,
} from "../options.ts";
import { clientNames } from "../connect/clients.ts";
import { findTokenPlaces, type TokenPlaces } from "./tokens.ts";

const exposures: readonly McpExposure[] = ["both", "dispatch", "direct"];

/** What a person wants served, to whom and where. */
export interface ServeOptions {
  /** Folders with skills, as they were written. */
  readonly directories: readonly string[];
  /** As the person says; else the configuration decides. */
  readonly exposure: McpExposure | undefined;
  /** The skills that are open from the start, for every client. */
  readonly open: readonly string[];
  /** Whether clients may make tools. */
  readonly hasForge: boolean;
  /** Where HTTP is served; none for stdio. */
  readonly http: HttpOptions | undefined;
}

/** How HTTP is served. */
export interface HttpOptions extends ListenAddress {
  /** Where its tokens come from; nothing if none is asked for. */
  readonly tokens: TokenPlaces | undefined;
  readonly oauth: GateOAuth | undefined;
  /** Names that clients may call this machine by. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  /** The address as clients know it, if something stands in front. */
  readonly publicUrl: string | undefined;
}

/** Adds `--print-config`. */
export function addPrintOption(command: Command): void {
  addOption(
    command,
    "--print-config <client>",
    `print what this client must be told, and serve nothing: ${clientNames.join(", ")}`,
  );
}

/** Adds the options that say what is served, and how. */
export function addServeOptions(command: Command): void {
  command.option(
    "--http [address]",
    `serve Streamable HTTP at /mcp and an HTTP API at /api instead of stdio; ${defaultAddress.host}:${defaultAddress.port} if none is named`,
  );
  addTokenOptions(command);
  addOption(command, "--oauth <issuer>", "let in who has a JWT of this authorization server");
  addOption(command, "--public-url <url>", "the address of /mcp as clients know it, behind a proxy");
  addListOption(
    command,
    "--allow-host <name>",
    "another name that clients may call this machine by; may be given again",
  );
  addListOption(
    command,
    "--allow-origin <origin>",
    "web pages that may call, as https://app.example.com; may be given again",
  );
  addOption(
    command,
    "--exposure <what>",
    `which tools clients see: ${exposures.join(", ")}; else as "serve" of the configuration says, or both`,
  );
  addListOption(command, "--open <skills>", "open these skills at the start, as pdf,forge; may be given again");
  command.option("--no-forge", "serve only what is there: clients make, change and import no tools");
  addOption(command, "--project <dir>", "work in this folder instead of the working directory");
  addModelOption(command);
  addModuleOption(command);
  addSkillsOption(command);
  addSandboxOption(command);
  addStoreOption(command);
}

/** The weaker of the two must not win, in whatever order they come: `--no-token` makes the list of tokens `false`. */
function addTokenOptions(command: Command): void {
  const refuse = (): never => {
    throw usageError("Cannot use --no-token with --token: leave out one of them");
  };
  const collect = (value: string, before: readonly string[] | false = []): string[] =>
    before === false ? refuse() : [...before, value];
  command.option(
    "--token <token>",
    "let in who has this token; @file follows a file of tokens; may be given again; else those of kitbag token, and the first start makes one",
    collect,
  );
  command.on("option:no-token", () => void (getTexts(command.opts(), "token").length > 0 && refuse()));
  command.option("--no-token", "let in everybody on this machine without a token");
}

/**
 * Reads the options of `kitbag serve`.
 *
 * @throws {KitbagError} `usage-invalid` for what cannot be used. It never repeats a token.
 */
export function readServeOptions(invocation: Invocation): ServeOptions {
  const { args, options } = invocation;
  const http = readHttp(invocation);
  const onlyHttp = ["token", "oauth", "publicUrl", "allowHost", "allowOrigin"].find(
    (name) => options[name] !== undefined,
  );
  if (http === undefined && onlyHttp !== undefined) {
    const flag = options[onlyHttp] === false ? `no-${onlyHttp}` : toFlag(onlyHttp);
    throw usageError(`Cannot use --${flag} on stdio: who starts the program is let in; add --http`);
  }
  return {
    directories: [...args, ...getTexts(options, "skills")],
    open: getTexts(options, "open").flatMap((names) => names.split(",")),
    hasForge: options["forge"] !== false,
    exposure: readExposure(getText(options, "exposure")),
    http,
  };
}

function readHttp(invocation: Invocation): HttpOptions | undefined {
  const { options } = invocation;
  const given = options["http"];
  if (given === undefined) return undefined;
  const publicUrl = readPublicUrl(getText(options, "publicUrl"));
  const issuer = getText(options, "oauth");
  return {
    ...(typeof given === "string" ? parseAddress(given) : defaultAddress),
    tokens: readPlaces(invocation),
    oauth: issuer === undefined ? undefined : { issuer, ...(publicUrl !== undefined && { resource: publicUrl }) },
    hosts: [...getTexts(options, "allowHost"), ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname])],
    origins: getTexts(options, "allowOrigin"),
    publicUrl,
  };
}

/** Who logs in elsewhere needs no token of this machine. */
function readPlaces(invocation: Invocation): TokenPlaces | undefined {
  const { options, env } = invocation;
  if (options["token"] === false) {
    if ((env["KITBAG_TOKEN"] ?? "") === "") return undefined;
    throw usageError("Cannot use --no-token with KITBAG_TOKEN: unset the variable, or leave out --no-token");
  }
  const places = findTokenPlaces(invocation);
  const source = options["token"] === undefined ? "KITBAG_TOKEN" : "--token";
  places.given.forEach((token) => checkLength(token, source));
  const isOwn = places.files.some((place) => place.isOwn);
  return isOwn && options["oauth"] !== undefined ? undefined : places;
}

function checkLength(given: GateToken, source: string): void {
  if ("sha256" in given || given.token.length >= shortestToken) return;
  const found = `it has ${given.token.length} characters`;
  throw usageError(`Cannot use ${source}: ${found}, expected at least ${shortestToken}, so that it cannot be guessed`);
}

function readPublicUrl(text: string | undefined): string | undefined {
  if (text === undefined || /^https?:$/u.test(URL.canParse(text) ? new URL(text).protocol : "")) return text;
  throw usageError(`Cannot use --public-url ${quote(text)}: expected an address as https://tools.example.com/mcp`);
}

function readExposure(text: string | undefined): McpExposure | undefined {
  if (text === undefined) return undefined;
  const exposure = exposures.find((candidate) => candidate === text);
  if (exposure !== undefined) return exposure;
  throw usageError(`Cannot use --exposure ${quote(text)}: there are ${exposures.join(", ")}`);
}

function toFlag(option: string): string {
  return option.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
}

/** Everything is looked for from the project: also what a configuration finds by the working directory. */
export function enterProject(given: Invocation): Invocation {
  const project = getText(given.options, "project");
  if (project === undefined) return given;
  const cwd = resolve(given.cwd, project);
  try {
    process.chdir(cwd);
  } catch (cause) {
    throw usageError(`Cannot work in --project ${quote(project)}: ${describeFileError(cause)}`);
  }
  return { ...given, cwd };
}

/** Where HTTP is served. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Where HTTP is served if nothing else is said. */
const defaultAddress: ListenAddress = { host: "127.0.0.1", port: 3210 };

/**
 * Reads what a person writes for an address: `8080`, `0.0.0.0`, `0.0.0.0:8080`, `[::1]:8080`.
 *
 * @throws {KitbagError} `usage-invalid` for anything else.
 */
export function parseAddress(text: string): ListenAddress {
  if (/^:?\d{1,5}$/u.test(text)) return { host: defaultAddress.host, port: toPort(text.replace(":", ""), text) };
  const [, bracketed, name, port] = /^(?:\[([\da-f:.]*:[\da-f:.]*)\]|([\w.-]+))(?::(\d{1,5}))?$/iu.exec(text) ?? [];
  const host = bracketed ?? name;
  if (host === undefined) throw wrongAddress(text);
  return { host, port: port === undefined ? defaultAddress.port : toPort(port, text) };
}

function toPort(digits: string, text: string): number {
  const port = Number(digits);
  if (port > 65_535) throw wrongAddress(text);
  return port;
}

function wrongAddress(text: string): Error {
  return usageError(
    `Cannot use --http ${quote(text)}: expected host:port, a port or a host, as 127.0.0.1:8080; folders of skills come before --http`,
  );
}
