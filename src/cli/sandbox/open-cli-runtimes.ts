import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { DependencyProgress } from "../../packages/install/dependency-request.ts";
import type { PackageOptions } from "../../packages/install/package-options.ts";
import { openRuntimes, type Runtimes } from "../../runtimes/open-runtimes.ts";
import type { RuntimesOptions } from "../../runtimes/runtimes-options.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { createMcpTeller } from "../mcp/open-servers.ts";
import { toPrintableLine } from "../printable.ts";
import { findTokenPlaces } from "../serve/tokens.ts";
import { defaultStore, findNamedStore } from "../store/choose-store.ts";
import { findStoreFiles } from "../store/open-store.ts";
import { joinPackages, readPackages } from "./read-packages.ts";
import { sandboxNames, type SandboxName } from "../../sandbox/sandbox.ts";
import { getText } from "../options.ts";

/** The files of stores: no tool may read what others keep. */
function findStores(invocation: Invocation): readonly string[] {
  const stores = [findNamedStore(invocation), defaultStore(invocation)];
  return stores.flatMap((choice) => (choice?.kind === "sqlite" ? findStoreFiles(choice) : []));
}

/** The files of tokens: who could read one would be any user of the service, and who could write one would make users. */
function findTokenFiles(invocation: Invocation): readonly string[] {
  return findTokenPlaces(invocation).files.map(({ path }) => path);
}

/** Runtimes that a command opens before it knows what is configured; they read it when they are first used. */
export interface CliRuntimes extends Runtimes {
  /** Takes what the configuration says about packages; what the environment says goes before it. */
  usePackages(packages: PackageOptions): void;
}

/**
 * The runtimes of one command: for a single call nothing is kept warm, unless a command asks for it.
 *
 * @throws {KitbagError} `usage-invalid` for a sandbox, or a variable about packages, that cannot be used.
 */
export function openCliRuntimes(
  invocation: Invocation,
  more: Pick<RuntimesOptions, "debug" | "directory" | "onLearned" | "onMcp" | "warm"> = {},
): CliRuntimes {
  const options = { ...toOptions(invocation), ...more };
  const named = readPackages(invocation);
  let configured: PackageOptions = {};
  let opened: Runtimes | undefined;
  const open = (): Runtimes => (opened ??= openRuntimes({ ...options, ...joinPackages(configured, named) }));
  return {
    usePackages: (packages) => void (configured = packages),
    [Symbol.iterator]: () => open()[Symbol.iterator](),
    findSandbox: async () => open().findSandbox(),
    openMcp: async () => open().openMcp(),
    prepare: async (tools) => open().prepare(tools),
    close: async () => opened?.close(),
  };
}

function toOptions(invocation: Invocation): RuntimesOptions {
  const { cwd, env, terminal } = invocation;
  const home = resolveKitbagHome(env);
  const sandbox = chooseSandbox(invocation);
  const tokens = findTokenFiles(invocation);
  return {
    directory: cwd,
    home,
    fixed: tokens,
    hidden: [...findStores(invocation), ...tokens],
    warm: false,
    findSecret: createSecretFinder(env, home),
    onInstall: createInstallTeller(invocation),
    onMcp: createMcpTeller(invocation),
    onConnection: ({ host, port, allowed, reason }) => {
      const target = host === "" ? "" : ` to ${host}:${port}`;
      if (!allowed) terminal.note(toPrintableLine(`Refused a connection${target}: ${reason}`) + "\n");
    },
    ...(sandbox !== undefined && { sandbox }),
  };
}

/** Shows what is being installed. */
export function createInstallTeller({
  terminal,
}: Pick<Invocation, "terminal">): (progress: DependencyProgress) => void {
  return ({ step, package: name }) =>
    terminal.showStatus(step === "ready" ? "" : `Packages: ${step}${name === undefined ? "" : ` ${name}`}`);
}

/** The file of secrets in Kitbag's home: a line `NAME=value` each. */
export function toSecretFile(home: string): string {
  return join(home, "secrets.env");
}

/**
 * Finds values for names that tools may see: in the environment, else in the file of secrets. No other user may read that file.
 *
 * @throws {KitbagError} `config-invalid` if others can read the file, or one of its lines is not NAME=value.
 */
export function createSecretFinder(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): (name: string) => string | undefined {
  let secrets: ReadonlyMap<string, string> | undefined;
  const fromEnvironment = (name: string): string | undefined => (Object.hasOwn(env, name) ? env[name] : undefined);
  return (name) => fromEnvironment(name) ?? (secrets ??= loadSecretFile(toSecretFile(home))).get(name);
}

/**
 * Reads the file of secrets; there need not be one.
 *
 * @throws {KitbagError} `config-invalid` if others can read it, or one of its lines is not NAME=value.
 */
export function loadSecretFile(path: string): ReadonlyMap<string, string> {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return new Map();
  if ((facts.mode & 0o077) !== 0) {
    throw new KitbagError("config-invalid", { path, reason: "others can read it; run chmod 600 on it" });
  }
  const lines = readFileSync(path, "utf8").split(/\r?\n/u);
  return new Map(lines.flatMap((line, index) => parseLine(line, index + 1, path)));
}

function parseLine(line: string, number: number, path: string): [[name: string, value: string]] | [] {
  if (/^\s*(?:#|$)/u.test(line)) return [];
  const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/u.exec(line) ?? [];
  if (name === undefined || value === undefined) {
    throw new KitbagError("config-invalid", { path, reason: `line ${number} is not NAME=value` });
  }
  return [[name, value.replace(/^(["'])(.*)\1$/u, "$2")]];
}

/** What tells which sandbox a person wants. */
export type SandboxFlags = Pick<Invocation, "options" | "env" | "terminal">;

/**
 * The sandbox that the person names, by flag or environment; none to take the best of this machine. To run without one is shown.
 *
 * @throws {KitbagError} `usage-invalid` for an unknown name.
 */
export function chooseSandbox({ options, env, terminal }: SandboxFlags): SandboxName | undefined {
  const given = getText(options, "sandbox") ?? env["KITBAG_SANDBOX"];
  if (given === undefined || given === "") return undefined;
  const name = sandboxNames.find((candidate) => candidate === given);
  if (name === undefined) throw usageError(`Cannot use the sandbox ${given}: there are ${sandboxNames.join(", ")}`);
  if (name === "off") {
    terminal.note(`${terminal.style("red", "No sandbox:")} what runs can read and change all that you can\n`);
  }
  return name;
}
