import type { DependencyProgress, PreparedDependencies } from "./dependency-request.ts";
import type { IndexRoute } from "./open-index.ts";
import type { Lock } from "./package-cache.ts";
import type { PackageSource } from "./package-source.ts";
import type { Workbench } from "./run-step.ts";

/** All that an install works with. */
export interface InstallPlace {
  readonly bench: Workbench;
  readonly source: PackageSource;
  readonly route: IndexRoute | undefined;
  /** Packages that may run code of their own while they are installed. */
  readonly granted: readonly string[];
  readonly onProgress: (progress: Omit<DependencyProgress, "language">) => void;
}

/** What knows how the packages of one request are installed. */
export interface Installer {
  /** What the lock depends on: equal requests have equal ones, on every machine. */
  readonly lockedBy: unknown;
  /** Where the installed packages run. */
  readonly platform: string;
  /**
   * Installs the packages into `done/content` of the work directory, and answers with their lock. With a lock it installs exactly
   * those files or fails; without one it resolves the request.
   */
  install(place: InstallPlace, lock: Lock | undefined): Promise<Lock>;
  /** How a sandbox gets the packages that are in `directory`. */
  toPrepared(directory: string): Pick<PreparedDependencies, "mounts" | "environment">;
}
