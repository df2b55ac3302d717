import { realpathSync } from "node:fs";
import { join } from "node:path";

import type { InstallPlace } from "../installer.ts";
import { runStep, type StepResult } from "../run-step.ts";
import { findNpm } from "./find-npm.ts";

const folderInside = "/opt/wheelhouse";
const programInside = "/opt/kitbag/dependencies";

/** How to run npm once. */
export interface NpmCall {
  readonly args: readonly string[];
  /** Whether packages may be fetched. */
  readonly fetches: boolean;
  readonly onLine?: (line: string) => void;
}

/** Runs npm in the sandbox, in `done` of the work directory. Its settings come from here alone. */
export function runNpm(
  { bench, source, route }: InstallPlace,
  { args, fetches, onLine }: NpmCall,
): Promise<StepResult> {
  const isFolder = fetches && source.kind === "folder";
  const npm = ["/opt/bin/node", "/opt/npm/bin/npm-cli.js", ...args];
  const node = realpathSync(process.execPath);
  return runStep(bench, {
    // A folder of packages needs somebody who answers as a registry does.
    command: isFolder ? ["/opt/bin/node", `${programInside}/${registryFile}`, folderInside, ...npm] : npm,
    mounts: [
      { source: node, target: "/opt/bin/node" },
      { source: findNpm(), target: "/opt/npm" },
      ...(isFolder
        ? [
            { source: realpathSync(source.folder), target: folderInside, granted: true },
            { source: join(import.meta.dirname, "..", "inside"), target: programInside },
          ]
        : []),
    ],
    directory: join(bench.root, "done"),
    environment: {
      ...settings,
      PATH: "/opt/bin:/usr/bin:/bin",
      npm_config_cache: join(bench.root, "files"),
      // Two names of files that do not exist: npm wants them to differ.
      npm_config_globalconfig: join(bench.root, "home", "global"),
      npm_config_userconfig: join(bench.root, "home", "user"),
      ...(source.kind === "index" && { npm_config_registry: source.url }),
    },
    ...(fetches && source.kind === "index" && { route }),
    ...(onLine !== undefined && { onLine }),
  });
}

/** From source it is run as it is written; a build has made JavaScript of it. */
const registryFile = import.meta.filename.endsWith(".ts") ? "tarball-registry.ts" : "tarball-registry.js";

const settings = {
  npm_config_audit: "false",
  npm_config_color: "false",
  npm_config_fetch_retries: "1",
  npm_config_fetch_retry_mintimeout: "1000",
  npm_config_fetch_timeout: "30000",
  npm_config_fund: "false",
  npm_config_ignore_scripts: "true",
  npm_config_json: "true",
  npm_config_loglevel: "http",
  npm_config_omit: "dev",
  npm_config_omit_lockfile_registry_resolved: "true",
  npm_config_update_notifier: "false",
};
