import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { parse } from "smol-toml";

import { describeCause, KitbagError } from "../../../core/errors.ts";
import { showValue } from "../../../core/json.ts";
import {
  dependencyFailed,
  type DependencyFailure,
  explainCommon,
  explainRefused,
  lastWords,
} from "../dependency-failure.ts";
import type { LockedPackage, RustRequest } from "../dependency-request.ts";
import { type Installer, type InstallPlace, runStep, type StepResult } from "../run-step.ts";
import type { Lock } from "../package-cache.ts";

/** Where the sources of crates are inside when a tool is built. */
const rustPackages = "/opt/packages/rust";
const sourceInside = "/opt/source";

/** Cargo's own index, which it knows as `crates-io`. */
const ownIndex = "https://index.crates.io/";

/** What Cargo is told so that it fetches from this index. It refuses a second definition of its own one. */
export function indexOf(url: string): readonly string[] {
  const index = url.replace(/\/*$/u, "/");
  // Cargo 1.68 and 1.69 would ask a git repository.
  if (index === ownIndex) return ["--config", 'registries.crates-io.protocol="sparse"'];
  return [
    ...["--config", 'source.crates-io.replace-with="index"'],
    ...["--config", `source.index.registry=${JSON.stringify(`sparse+${index}`)}`],
  ];
}

/** What Cargo is told (since 1.63) so that it takes crates from this directory, and from nowhere else. */
export function vendoredCrates(directory: string): readonly string[] {
  return [
    ...["--config", 'source.crates-io.replace-with="packages"'],
    ...["--config", `source.packages.directory=${JSON.stringify(directory)}`],
  ];
}

/**
 * Makes an installer for the crates that a `Cargo.lock` names; undefined if it names none. They are fetched, not built.
 *
 * @throws {KitbagError} `dependency-refused` if there is no lock, or it cannot be used.
 */
export async function rustInstaller(request: RustRequest): Promise<Installer | undefined> {
  const text = await readFile(join(request.directory, "Cargo.lock"), "utf8").catch(() => undefined);
  if (text === undefined) {
    const reason = "there is no Cargo.lock beside it; make one with: cargo generate-lockfile";
    throw new KitbagError("dependency-refused", { dependency: "Cargo.toml", file: "Cargo.toml", reason });
  }
  const packages = parseCargoLock(text);
  if (packages.length === 0) return undefined;
  return {
    lockedBy: packages,
    platform: "",
    install: (place) => fetchCrates(request, packages, place),
    toPrepared: (directory) => ({ mounts: [{ source: directory, target: rustPackages }], environment: {} }),
  };
}

async function fetchCrates(
  { cargo, directory }: RustRequest,
  packages: readonly LockedPackage[],
  { bench, source, route, onProgress }: InstallPlace,
): Promise<Lock> {
  if (source.kind !== "index") {
    const reason = "crates cannot be taken from a folder of packages";
    const cure = "put them into the skill itself: cargo vendor, and .cargo/config.toml as it says";
    throw dependencyFailed("rust", { problem: "offline", reason, cure });
  }
  onProgress({ step: "download" });
  const content = join(bench.root, "done", "content");
  const prefix = dirname(dirname(cargo));
  const result = await runStep(bench, {
    command: [
      ...[cargo, "vendor", "--locked", "--versioned-dirs", "--respect-source-config"],
      ...indexOf(source.url),
      ...["--manifest-path", join(sourceInside, "Cargo.toml"), content],
    ],
    mounts: [
      { source: directory, target: sourceInside, granted: true },
      ...(prefix === "/usr" ? [] : [{ source: prefix, target: prefix }]),
    ],
    programs: prefix === "/usr" ? [cargo, "/usr/bin/rustc"] : [],
    environment: {
      CARGO_HOME: join(bench.root, "home", "cargo"),
      CARGO_NET_RETRY: "1",
      CARGO_HTTP_TIMEOUT: "30",
      CARGO_TERM_COLOR: "never",
      RUSTC: join(prefix, "bin", "rustc"),
    },
    route,
    onLine(line) {
      const [, name] = /^\s*(?:Downloaded|Vendoring) (\S+) v/u.exec(line) ?? [];
      if (name !== undefined) onProgress({ step: "download", package: name });
    },
  });
  if (result.code !== 0) {
    const circumstances = { maxBytes: bench.maxBytes, refusedHosts: route?.refused() ?? [], cargo };
    throw dependencyFailed("rust", explainCargo(result, circumstances));
  }
  await runStep(bench, { command: ["sync", "-f", content], environment: {} });
  return { format: 1, language: "rust", platform: "", packages };
}

const file = "Cargo.lock";
const registries = new Set([
  "registry+https://github.com/rust-lang/crates.io-index",
  "sparse+https://index.crates.io/",
]);

/**
 * Reads the crates that a `Cargo.lock` takes from the index, each with its hash. Crates of the folder itself are left out.
 *
 * @throws {KitbagError} `dependency-refused` if it cannot be read, or a crate comes from elsewhere.
 */
export function parseCargoLock(text: string): readonly LockedPackage[] {
  const { package: packages = [] } = parseToml(text);
  if (!Array.isArray(packages)) throw refused(file, "it has no list of packages");
  return packages.flatMap((one: unknown) => {
    const { name, version, source, checksum } = (one ?? {}) as Record<string, unknown>;
    if (source === undefined) return [];
    const crate = `${String(name)} ${String(version)}`;
    if (typeof source !== "string" || !registries.has(source)) {
      throw refused(crate, `it comes from ${showValue(source)}, and crates come only from the package index`);
    }
    if (typeof checksum !== "string" || !/^[0-9a-f]{64}$/u.test(checksum)) {
      throw refused(crate, "it has no hash; write the lock again with: cargo generate-lockfile");
    }
    return [{ name: String(name), version: String(version), hash: `sha256:${checksum}` }];
  });
}

function parseToml(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    throw refused(file, `it is not TOML: ${describeCause(cause, 200)}`);
  }
}

function refused(dependency: string, reason: string): KitbagError<"dependency-refused"> {
  return new KitbagError("dependency-refused", { dependency, file, reason });
}

/** What is known beside what Cargo printed. */
interface CargoCircumstances {
  readonly maxBytes: number;
  /** Hosts that it wanted to reach and must not. */
  readonly refusedHosts: readonly string[];
  readonly cargo: string;
}

/** Says in words why Cargo failed. */
function explainCargo(result: StepResult, circumstances: CargoCircumstances): DependencyFailure {
  const { maxBytes, refusedHosts, cargo } = circumstances;
  const common = explainCommon(result, maxBytes);
  if (common !== undefined) return common;
  if (refusedHosts.length > 0) return explainRefused(refusedHosts);
  const text = result.stderr;
  const [, name] =
    /failed to (?:get|download|verify the checksum of|sync|load source for dependency) `([\w-]+)/u.exec(text) ?? [];
  if (/-Z sparse-registry|does not understand this lock file|unexpected argument|wasn't expected/u.test(text)) {
    const cure = "install a newer one: version 1.68 is the first that can do it (rustup update)";
    return { problem: "installer-missing", reason: `${cargo} is too old`, cure };
  }
  if (/needs to be updated but --locked|cannot (?:update|create) the lock file/u.test(text)) {
    const cure = "run cargo generate-lockfile in the skill's folder";
    return { problem: "lock", reason: "Cargo.lock does not fit Cargo.toml", cure };
  }
  if (/checksum/u.test(text)) {
    const cure = "it may have been changed on purpose: find out why before you change Cargo.lock";
    return { problem: "hash", package: name, reason: "the file on the index is not the one that was locked", cure };
  }
  if (/no matching package|not found in registry|is not present|got 404|status code 404/u.test(text)) {
    const cure = "check how its name is written, and its version";
    return { problem: "not-found", package: name, reason: "it is not on the package index", cure };
  }
  if (
    /spurious network error|Could not resolve|Couldn't connect|Timeout was reached|failed to download|got 5\d\d|HTTP response code/iu.test(
      text,
    )
  ) {
    const cure = "check the network and the index, or try again later";
    return { problem: "index", package: name, reason: `the package index failed (${lastWords(text)})`, cure };
  }
  return { problem: "unknown", reason: `cargo failed: ${lastWords(text)}`, cure: "see the message of cargo" };
}
