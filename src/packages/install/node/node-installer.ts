import { existsSync, realpathSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join } from "node:path";

import { dependencyFailed } from "../dependency-failure.ts";
import type { LockedPackage, NodeRequest } from "../dependency-request.ts";
import { type Installer, type InstallPlace, runStep, type StepResult } from "../run-step.ts";
import type { Lock } from "../package-cache.ts";
import { explainNpm } from "./explain-npm.ts";

/** Where the packages are inside when a script runs; `require` looks there because of `NODE_PATH`. */
const nodePackages = "/opt/packages/node";

/** Makes an installer for npm packages. */
export function nodeInstaller(request: NodeRequest): Installer {
  const packages = Object.entries(request.packages).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return {
    lockedBy: packages,
    platform: [process.platform, process.arch, process.versions.modules].join("-"),
    install: (place, lock) => installNode(Object.fromEntries(packages), place, lock),
    toPrepared: (directory) => ({
      mounts: [
        { source: directory, target: nodePackages },
        // `import` does not know NODE_PATH: it looks for node_modules in the folders above a script, and this is above all of them.
        { source: directory, target: "/node_modules" },
      ],
      environment: { NODE_PATH: nodePackages },
    }),
  };
}

async function installNode(
  packages: Readonly<Record<string, string>>,
  place: InstallPlace,
  lock: Lock | undefined,
): Promise<Lock> {
  const { bench, granted, onProgress } = place;
  const done = join(bench.work, "done");
  const manifest = { name: "packages", version: "0.0.0", private: true, dependencies: packages };
  await writeFile(join(done, "package.json"), JSON.stringify(manifest));
  const made = lock ?? (await resolve(place));
  await writeFile(join(done, "package-lock.json"), JSON.stringify(made.installer));
  onProgress({ step: "download" });
  await run(place, ["ci", "--ignore-scripts"], true);
  const scripted = granted.filter((name) => made.packages.some((locked) => locked.name === name));
  if (scripted.length > 0) {
    onProgress({ step: "install" });
    // What runs here is the package's own code: it gets no network at all.
    await run(place, ["rebuild", ...scripted, "--ignore-scripts=false", "--dangerously-allow-all-scripts"], false);
  }
  const content = join(bench.root, "done", "content");
  const finish = 'mkdir -p node_modules && mv node_modules "$1" && sync -f "$1"';
  const finished = await runStep(bench, {
    command: ["sh", "-c", finish, "sh", content],
    environment: {},
    directory: join(bench.root, "done"),
  });
  if (finished.code !== 0) throw explain(place, finished);
  return made;
}

async function resolve(place: InstallPlace): Promise<Lock> {
  place.onProgress({ step: "resolve" });
  await run(place, ["install", "--package-lock-only", "--ignore-scripts"], true);
  const text = await readFile(join(place.bench.work, "done", "package-lock.json"), "utf8");
  const installer = JSON.parse(text) as PackageLock;
  return { format: 1, language: "node", platform: "", packages: checkPackageLock(installer), installer };
}

/** A line about a package's document, or about its file. */
const fetched =
  /npm http fetch GET 200 https?:\/\/\S*?\/(?:((?:@[\w.~-]+%2f)?[\w.~-]+)|((?:@[\w.~-]+\/)?[\w.~-]+)\/-\/\S+\.tgz) /iu;

async function run(place: InstallPlace, args: readonly string[], fetches: boolean): Promise<void> {
  const onLine = (line: string): void => {
    const [, document, file] = fetched.exec(line) ?? [];
    const name = document ?? file;
    if (name === undefined) return;
    const step = document === undefined ? "download" : "resolve";
    place.onProgress({ step, package: name.replace(/%2f/iu, "/") });
  };
  const result = await runNpm(place, { args, fetches, onLine });
  if (result.code !== 0) throw explain(place, result);
}

function explain({ bench, source, route }: InstallPlace, result: StepResult): Error {
  const folder = source.kind === "folder" ? source.folder : undefined;
  const refusedHosts = route?.refused() ?? [];
  return dependencyFailed("node", explainNpm({ result, maxBytes: bench.maxBytes, folder, refusedHosts }));
}

/** The parts of a `package-lock.json` that matter here. */
interface PackageLock {
  readonly packages?: Readonly<
    Record<
      string,
      {
        readonly name?: string;
        readonly version?: string;
        readonly integrity?: string;
        readonly resolved?: string;
        readonly link?: boolean;
        readonly inBundle?: boolean;
      }
    >
  >;
}

/**
 * The packages of a lock, each of which must come from the index and have a hash. npm was told to leave out addresses of the index:
 * an address that is there leads elsewhere.
 *
 * @throws {KitbagError} `dependency-failed` if one does not.
 */
export function checkPackageLock({ packages = {} }: PackageLock): readonly LockedPackage[] {
  return Object.entries(packages).flatMap(([path, { name, version = "", integrity, resolved, link, inBundle }]) => {
    if (path === "") return [];
    const found = name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    // A package that is part of another one comes with its file.
    if (inBundle === true) return [];
    if (link !== true && resolved === undefined && integrity !== undefined)
      return [{ name: found, version, hash: integrity }];
    const reason =
      integrity === undefined && resolved === undefined
        ? "the index gives no hash for it"
        : `another package wants it from ${resolved ?? path}, and packages come only from the package index`;
    const cure = "use another version, or another package";
    throw dependencyFailed("node", { problem: "broken", package: found, reason, cure });
  });
}

const folderInside = "/opt/wheelhouse";
const programInside = "/opt/kitbag/dependencies";

/** How to run npm once. */
interface NpmCall {
  readonly args: readonly string[];
  /** Whether packages may be fetched. */
  readonly fetches: boolean;
  readonly onLine?: (line: string) => void;
}

/** Runs npm in the sandbox, in `done` of the work directory. Its settings come from here alone. */
function runNpm({ bench, source, route }: InstallPlace, { args, fetches, onLine }: NpmCall): Promise<StepResult> {
  const isFolder = fetches && source.kind === "folder";
  const npm = ["/opt/bin/node", "/opt/npm/bin/npm-cli.js", ...args];
  const node = realpathSync(process.execPath);
  return runStep(bench, {
    // A folder of packages needs a program that answers as a registry does.
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

/**
 * Finds the directory of npm: beside the Node that runs this, else of the `npm` on the path.
 *
 * @throws {KitbagError} `dependency-failed` if npm is not installed.
 */
export function findNpm(node = process.execPath, path = process.env["PATH"] ?? ""): string {
  const directories = [dirname(node), ...path.split(delimiter).filter(isAbsolute), "/usr/bin", "/usr/local/bin"];
  for (const directory of directories) {
    const candidates = [
      join(directory, "npm"),
      join(directory, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
    ];
    for (const candidate of candidates.filter((file) => existsSync(file))) {
      const npm = dirname(dirname(realpathSync(candidate)));
      if (existsSync(join(npm, "bin", "npm-cli.js"))) return npm;
    }
  }
  const cure = "install it: it comes with Node.js, or apt install npm";
  throw dependencyFailed("node", { problem: "installer-missing", reason: "there is no npm on this machine", cure });
}
