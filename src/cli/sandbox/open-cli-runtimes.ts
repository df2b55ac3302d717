import { openRuntimes, type Runtimes } from "../../runtimes/open-runtimes.ts";
import type { DependencyProgress } from "../../packages/install/dependency-request.ts";
import type { PackageOptions } from "../../packages/install/package-options.ts";
import type { RuntimesOptions } from "../../runtimes/runtimes-options.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import { toPrintableLine } from "../printable.ts";
import type { Invocation } from "../cli-command.ts";
import { createMcpTeller } from "../mcp/open-servers.ts";
import { findTokenPlaces } from "../serve/read-tokens.ts";
import { defaultStore, findNamedStore } from "../store/choose-store.ts";
import { findStoreFiles } from "../store/open-store.ts";
import { chooseSandbox } from "./choose-sandbox.ts";
import { createSecretFinder } from "./find-secret.ts";
import { joinPackages, readPackages } from "./read-packages.ts";

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
 * The runtimes of one command: for a single call nothing is kept warm, unless somebody says so.
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
