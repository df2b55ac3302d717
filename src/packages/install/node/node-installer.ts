import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { dependencyFailed } from "../dependency-failure.ts";
import type { NodeRequest } from "../dependency-request.ts";
import type { Installer, InstallPlace } from "../installer.ts";
import type { Lock } from "../package-cache.ts";
import { runStep, type StepResult } from "../run-step.ts";
import { checkPackageLock, type PackageLock } from "./check-package-lock.ts";
import { explainNpm } from "./explain-npm.ts";
import { runNpm } from "./npm.ts";

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
