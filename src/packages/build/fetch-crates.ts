import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { parse } from "smol-toml";

import { isRecord } from "../../core/json.ts";
import type { Mount } from "../../sandbox/sandbox.ts";
import type { Dependencies } from "../install/create-dependencies.ts";
import type { Compiler } from "./compilers/compiler.ts";

/** A tool whose crates may have to be fetched. */
export interface CratesJob {
  readonly options: { readonly dependencies?: Dependencies | undefined; readonly signal?: AbortSignal | undefined };
  /** Relative to the skill's folder. */
  readonly source: string;
  readonly compiler: Compiler;
  /** `skill`: the copy of the skill's folder. */
  readonly work: { readonly skill: string };
}

/**
 * Fetches the crates that a Rust package takes from the index, unless it has vendored them, and says how the compiler gets them. What
 * is fetched is what `Cargo.lock` names, once for the same lock.
 *
 * @throws {KitbagError} `dependency-refused` if there is no lock, or crates come from elsewhere; `dependency-failed`.
 */
export async function fetchCrates(job: CratesJob, onStart: () => void): Promise<readonly Mount[]> {
  const { options, source, compiler, work } = job;
  const directory = join(work.skill, dirname(source));
  if (options.dependencies === undefined || basename(source) !== "Cargo.toml" || !takesCrates(directory)) return [];
  const cargo = await compiler.findCargo?.();
  if (cargo === undefined) return [];
  onStart();
  const { mounts } = await options.dependencies.prepare({ language: "rust", cargo, directory }, options.signal);
  return mounts;
}

/** Tells whether a package names crates of the index and does not say itself where they are. */
function takesCrates(directory: string): boolean {
  const has = (file: string): boolean => existsSync(join(directory, file));
  if (has(".cargo/config.toml") || has(".cargo/config")) return false;
  return has("Cargo.lock")
    ? /^source = /mu.test(readFileSync(join(directory, "Cargo.lock"), "utf8"))
    : listsCrates(readFileSync(join(directory, "Cargo.toml"), "utf8"));
}

function listsCrates(text: string): boolean {
  let manifest: Record<string, unknown>;
  try {
    manifest = parse(text);
  } catch {
    // Cargo says where it is wrong.
    return false;
  }
  const targets = isRecord(manifest["target"]) ? Object.values(manifest["target"]) : [];
  return [manifest, ...targets].filter(isRecord).some(({ dependencies }) => {
    if (!isRecord(dependencies)) return false;
    return Object.values(dependencies).some((one) => !isRecord(one) || one["path"] === undefined);
  });
}
