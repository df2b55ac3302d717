import { dirname, resolve } from "node:path";

import { isKitbagError, KitbagError, quote } from "../../core/errors.ts";
import { isRecord, showValue } from "../../core/json.ts";
import {
  checkPackageOptions,
  packageOptionNames,
  type PackageOptions,
} from "../../packages/install/package-options.ts";
import { type Invocation, usageError } from "../cli-command.ts";

/** The variables that say something about packages, by the option that each is. */
const variables = {
  offline: "KITBAG_OFFLINE",
  wheelhouse: "KITBAG_WHEELHOUSE",
  "index.python": "KITBAG_PYTHON_INDEX",
  "index.npm": "KITBAG_NPM_INDEX",
  "index.cargo": "KITBAG_CARGO_INDEX",
  "index.hosts": "KITBAG_INDEX_HOSTS",
  allowInstallScripts: "KITBAG_INSTALL_SCRIPTS",
} as const;

/**
 * Reads what the environment says about packages.
 *
 * @throws {KitbagError} `usage-invalid` for a variable whose value cannot be used.
 */
export function readPackages({ env, cwd }: Pick<Invocation, "env" | "cwd">): PackageOptions {
  const get = (option: keyof typeof variables): string | undefined => env[variables[option]] || undefined;
  const [offline, wheelhouse] = [get("offline"), get("wheelhouse")];
  const index = { python: get("index.python"), npm: get("index.npm"), cargo: get("index.cargo") };
  const [hosts, scripts] = [toList(get("index.hosts")), toList(get("allowInstallScripts"))];
  const indexes = Object.entries({ ...index, hosts }).filter(([, value]) => value !== undefined);
  const options = {
    ...(offline !== undefined && { offline: toBoolean(offline) }),
    ...(wheelhouse !== undefined && { wheelhouse: resolve(cwd, wheelhouse) }),
    ...(indexes.length > 0 && { index: Object.fromEntries(indexes) as PackageOptions["index"] & object }),
    ...(scripts !== undefined && { allowInstallScripts: scripts }),
  };
  checked(options, ({ option, found, expected }) => {
    const name = variables[option as keyof typeof variables];
    return usageError(`Cannot use ${name}: found ${found}, expected ${expected}`);
  });
  return options;
}

/**
 * Reads `packages` of a configuration; paths are relative to the folder that it is in.
 *
 * @throws {KitbagError} `config-invalid` if something is wrong with it.
 */
export function fromConfig(value: unknown, path: string): PackageOptions {
  const refuse = (reason: string): KitbagError => new KitbagError("config-invalid", { path, reason });
  if (!isRecord(value)) throw refuse(`packages: expected an object, found ${showValue(value)}`);
  const unknown = Object.keys(value).find((name) => !packageOptionNames.includes(name));
  if (unknown !== undefined) {
    throw refuse(`packages cannot have ${quote(unknown)}; use ${packageOptionNames.join(", ")}`);
  }
  const { wheelhouse } = value;
  const options =
    typeof wheelhouse === "string" ? { ...value, wheelhouse: resolve(dirname(path), wheelhouse) } : { ...value };
  checked(options, ({ option, found, expected }) => refuse(`packages.${option}: expected ${expected}, found ${found}`));
  return options;
}

/** What was said first, and what goes before it; of the indexes each by itself. */
export function joinPackages(first: PackageOptions, before: PackageOptions): PackageOptions {
  const index = { ...first.index, ...before.index };
  return { ...first, ...before, ...(Object.keys(index).length > 0 && { index }) };
}

interface Wrong {
  readonly option: string;
  readonly found: string;
  readonly expected: string;
}

function checked(options: Readonly<Record<string, unknown>>, toError: (wrong: Wrong) => KitbagError): void {
  try {
    checkPackageOptions(options);
  } catch (cause) {
    throw isKitbagError(cause, "option-invalid") ? toError(cause.details) : cause;
  }
}

function toList(text: string | undefined): readonly string[] | undefined {
  return text
    ?.split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function toBoolean(text: string): boolean {
  if (["1", "true"].includes(text)) return true;
  if (["0", "false"].includes(text)) return false;
  throw usageError(`Cannot use ${variables.offline}: found ${showValue(text)}, expected 1 or 0`);
}
