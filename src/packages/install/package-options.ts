import { statSync } from "node:fs";

import { KitbagError } from "../../core/errors.ts";
import { isRecord, showValue } from "../../core/json.ts";
import type { PackageIndex } from "./package-source.ts";

/** Where the packages of scripts and Rust tools come from, and what installing them may use. */
export interface PackageOptions {
  /** Use only packages that are installed already. @default false */
  readonly offline?: boolean;
  /** A folder of wheels and npm tarballs to install from, instead of the package index. */
  readonly wheelhouse?: string;
  /** Where packages come from, instead of the public indexes. */
  readonly index?: PackageIndex;
  /** Packages that may run code of their own while they are installed, in the sandbox. @default none */
  readonly allowInstallScripts?: readonly string[];
  /** What one install may take. @default ten minutes and 2 GiB */
  readonly installLimits?: InstallLimits;
}

interface InstallLimits {
  readonly limitMs?: number;
  readonly maxBytes?: number;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string" && value !== "";
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0;
const isAddress: Check = (value) =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol);
const isFolder: Check = (value) =>
  typeof value === "string" && statSync(value, { throwIfNoEntry: false })?.isDirectory() === true;

const address = [isAddress, "an address that begins with https:// or http://"] as const;

/** What each option must be. */
const rules: Readonly<Record<string, readonly [check: Check, expected: string]>> = {
  offline: [(value) => typeof value === "boolean", "true or false"],
  wheelhouse: [isFolder, "a folder that exists"],
  index: [isRecord, "an object with python, npm, cargo or hosts"],
  "index.python": address,
  "index.npm": address,
  "index.cargo": address,
  "index.hosts": [isTexts, "a list of hosts with their ports"],
  allowInstallScripts: [isTexts, "a list of names of packages"],
  installLimits: [isRecord, "an object with limitMs or maxBytes"],
  "installLimits.limitMs": [isCount, "a whole number of milliseconds"],
  "installLimits.maxBytes": [isCount, "a whole number of bytes"],
};

/** The names that the options may have. */
export const packageOptionNames: readonly string[] = Object.keys(rules).filter((name) => !name.includes("."));

/**
 * Checks the options about packages, and ignores other options.
 *
 * @throws {KitbagError} `option-invalid` with the name of the one that is wrong.
 */
export function checkPackageOptions(options: Readonly<Record<string, unknown>>): void {
  for (const [option, [check, expected]] of Object.entries(rules)) {
    const value = findValue(options, option.split("."));
    if (value === undefined || check(value)) continue;
    throw new KitbagError("option-invalid", { option, found: showValue(value), expected });
  }
  for (const option of ["index", "installLimits"]) checkNames(option, options[option]);
}

function findValue(options: Readonly<Record<string, unknown>>, [name = "", part]: readonly string[]): unknown {
  const value = options[name];
  return part === undefined || !isRecord(value) ? value : value[part];
}

function checkNames(option: string, value: unknown): void {
  for (const part of isRecord(value) ? Object.keys(value) : []) {
    const name = `${option}.${part}`;
    const expected = `one of ${Object.keys(rules)
      .filter((rule) => rule.startsWith(`${option}.`))
      .join(", ")}`;
    if (!Object.hasOwn(rules, name)) throw new KitbagError("option-invalid", { option: name, found: "it", expected });
  }
}

/** What `createDependencies` takes of them. */
export function toInstallOptions(options: PackageOptions): Omit<PackageOptions, "installLimits"> & InstallLimits {
  const { offline, wheelhouse, index, allowInstallScripts, installLimits } = options;
  return {
    ...(offline !== undefined && { offline }),
    ...(wheelhouse !== undefined && { wheelhouse }),
    ...(index !== undefined && { index }),
    ...(allowInstallScripts !== undefined && { allowInstallScripts }),
    ...installLimits,
  };
}
