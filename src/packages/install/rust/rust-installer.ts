import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { KitbagError } from "../../../core/errors.ts";
import { dependencyFailed } from "../dependency-failure.ts";
import type { LockedPackage, RustRequest } from "../dependency-request.ts";
import type { Installer, InstallPlace } from "../installer.ts";
import type { Lock } from "../package-cache.ts";
import { runStep } from "../run-step.ts";
import { explainCargo } from "./explain-cargo.ts";
import { parseCargoLock } from "./parse-cargo-lock.ts";

/** Where the sources of crates are inside when a tool is built. */
const rustPackages = "/opt/packages/rust";
const sourceInside = "/opt/source";

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
      ...["--config", 'source.crates-io.replace-with="index"'],
      ...["--config", `source.index.registry=${JSON.stringify(`sparse+${source.url.replace(/\/*$/u, "/")}`)}`],
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
