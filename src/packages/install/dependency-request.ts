import type { Mount } from "../../sandbox/sandbox.ts";
import type { Requirement } from "./python/parse-requirement.ts";

/** The Python packages that a script needs. */
export interface PythonRequest {
  readonly language: "python";
  /** The interpreter that the script runs with: absolute, symbolic links resolved. */
  readonly python: string;
  readonly requirements: readonly Requirement[];
  /** Versions to keep to for whatever is needed in the end. */
  readonly constraints: readonly Requirement[];
  /** The versions of Python that the script runs with; empty for any. */
  readonly requiresPython: string;
  /** The names of those that the script imports, as far as its text tells: if not all can be installed, it gets these. @default all */
  readonly imported?: readonly string[];
}

/** The npm packages that a script needs. */
export interface NodeRequest {
  readonly language: "node";
  /** Names and version ranges. */
  readonly packages: Readonly<Record<string, string>>;
  /** As for Python. */
  readonly imported?: readonly string[];
}

/** The crates that a Rust tool is built of. */
export interface RustRequest {
  readonly language: "rust";
  /** The program: absolute, symbolic links resolved; not the proxy of rustup, which is no Cargo itself. */
  readonly cargo: string;
  /** The folder with `Cargo.toml` and `Cargo.lock`, absolute. */
  readonly directory: string;
}

/** What a script, or a tool that is built, needs from a package index. */
export type DependencyRequest = PythonRequest | NodeRequest | RustRequest;

/** Tells whether nothing has to be installed. */
export function isNothingNeeded(request: DependencyRequest): boolean {
  if (request.language === "python") return request.requirements.length === 0;
  return request.language === "node" && Object.keys(request.packages).length === 0;
}

/** The names of the packages; none for crates, which their lock names. */
export function namesOf(request: DependencyRequest): readonly string[] {
  if (request.language === "python") return request.requirements.map(({ name }) => name);
  return request.language === "node" ? Object.keys(request.packages) : [];
}

/** The same request for the packages alone that the script imports; undefined if these are all. */
export function withImported(request: DependencyRequest): DependencyRequest | undefined {
  if (request.language === "rust" || request.imported === undefined) return undefined;
  const { imported, ...rest } = request;
  const names = new Set(imported);
  if (rest.language === "node") {
    const packages = Object.fromEntries(Object.entries(rest.packages).filter(([name]) => names.has(name)));
    return Object.keys(packages).length === Object.keys(rest.packages).length ? undefined : { ...rest, packages };
  }
  const requirements = rest.requirements.filter(({ name }) => names.has(name));
  return requirements.length === rest.requirements.length ? undefined : { ...rest, requirements };
}

/** One package of a lock. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha256:…` of its file for Python and Rust, the `integrity` for npm. */
  readonly hash: string;
}

/** What was resolved, once: the same lock gives the same bytes on every machine of its platform. */
export interface DependencyLock {
  /** The file it is kept in. */
  readonly file: string;
  readonly packages: readonly LockedPackage[];
}

/** Packages that are installed and can be used. */
export interface PreparedDependencies {
  readonly mounts: readonly Mount[];
  readonly environment: Readonly<Record<string, string>>;
  /** Missing when nothing is needed. */
  readonly lock?: DependencyLock;
}

/** What is being done, and about which package if that is known. */
export interface DependencyProgress {
  readonly language: DependencyRequest["language"];
  /** `wait`: another process installs the same. */
  readonly step: "wait" | "resolve" | "download" | "install" | "ready";
  readonly package?: string;
}
