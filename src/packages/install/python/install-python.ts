import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { dependencyFailed, type DependencyFailure, explainRefused, lastWords } from "../dependency-failure.ts";
import type { LockedPackage, PythonRequest } from "../dependency-request.ts";
import { type InstallPlace, runStep, type StepResult } from "../run-step.ts";
import type { Lock } from "../package-cache.ts";
import { explainPip, missingPackage } from "./explain-pip.ts";
import { normaliseName, renderRequirement } from "./parse-requirement.ts";
import { type Pip, pythonStep, runPip, type PythonFacts } from "./pip.ts";

/** Where the packages are inside when a script runs. */
export const pythonPackages = "/opt/packages/python";

/** Installs Python packages: files are fetched first, with the index as the only network, and installed then, with none. */
export async function installPython(
  request: PythonRequest,
  facts: PythonFacts,
  place: InstallPlace,
  lock: Lock | undefined,
): Promise<Lock> {
  const { bench, source, route } = place;
  const pip: Pip = { bench, python: request.python, source, route };
  const fail = async (result: StepResult): Promise<Error> => {
    const missing = missingPackage(result);
    const failure = explainPip(result, { maxBytes: bench.maxBytes, refusedHosts: route?.refused() ?? [] });
    const isMissing = failure.problem === "unknown" && missing !== undefined;
    return dependencyFailed("python", isMissing ? await explainMissing(pip, { result, missing, facts }) : failure);
  };
  await download(request, place, { pip, lock, fail });
  const packages = lock?.packages ?? (await lockFiles(join(bench.work, "files")));
  await install(packages, place, { pip, fail });
  await compile(request.python, place);
  return lock ?? { format: 1, language: "python", platform: facts.platform, packages };
}

interface Running {
  readonly pip: Pip;
  readonly lock?: Lock | undefined;
  readonly fail: (result: StepResult) => Promise<Error>;
}

async function download(request: PythonRequest, place: InstallPlace, { pip, lock, fail }: Running): Promise<void> {
  const { bench, granted, onProgress } = place;
  const step = lock === undefined ? "resolve" : "download";
  const wanted = lock === undefined ? request.requirements.map(renderRequirement) : lock.packages.map(toLine);
  await writeFile(join(bench.told, "requirements.txt"), `${wanted.join("\n")}\n`);
  await writeFile(join(bench.told, "constraints.txt"), `${request.constraints.map(renderRequirement).join("\n")}\n`);
  onProgress({ step });
  const result = await runPip(pip, {
    args: [
      "download",
      ...["--dest", join(bench.root, "files"), ...onlyWheels(granted)],
      ...["--requirement", join(bench.toldInside, "requirements.txt")],
      ...(lock === undefined
        ? ["--constraint", join(bench.toldInside, "constraints.txt")]
        : ["--no-deps", "--require-hashes"]),
    ],
    from: "source",
    onLine: (line) => {
      const [, name] = /^Collecting ([A-Za-z0-9][\w.-]*)/u.exec(line) ?? [];
      const [, file] = /^\s*Downloading \S*?([A-Za-z0-9][\w.]*)-\d[^/\s]*(?:\s|$)/u.exec(line) ?? [];
      if (name !== undefined) onProgress({ step, package: name });
      if (file !== undefined) onProgress({ step: "download", package: normaliseName(file) });
    },
  });
  if (result.code !== 0) throw await fail(result);
}

async function install(packages: readonly LockedPackage[], place: InstallPlace, { pip, fail }: Running): Promise<void> {
  const { bench, granted, onProgress } = place;
  onProgress({ step: "install" });
  if (packages.length === 0) {
    // Nothing is needed here: all that was asked for is for other systems.
    await runStep(bench, { command: ["mkdir", join(bench.root, "done", "content")], environment: {} });
    return;
  }
  await writeFile(join(bench.told, "locked.txt"), `${packages.map(toLine).join("\n")}\n`);
  const result = await runPip(pip, {
    args: [
      "install",
      ...["--target", join(bench.root, "done", "content"), "--no-compile", "--no-deps", "--require-hashes"],
      ...["--no-warn-script-location", ...onlyWheels(granted)],
      ...["--requirement", join(bench.toldInside, "locked.txt")],
    ],
    // A package that is built needs the tools that build it, and they are on the index.
    from: granted.length > 0 ? "source" : "files",
  });
  if (result.code !== 0) throw await fail(result);
}

/** Compiles all modules for a place where nothing can be written. Files that do not compile are no failure: many packages have some. */
async function compile(python: string, { bench }: InstallPlace): Promise<void> {
  const content = join(bench.root, "done", "content");
  const mode = ["--invalidation-mode", "unchecked-hash", "-s", content, "-p", pythonPackages];
  await runStep(bench, { ...pythonStep(python, ["-I", "-m", "compileall", "-q", ...mode, content]), environment: {} });
  const synced = await runStep(bench, { command: ["sync", "-f", content], environment: {} });
  if (synced.code !== 0) throw new Error(`Cannot write ${bench.work} to the disk: ${synced.stderr}`);
}

/** Source packages run code when they are built; a wheel is only unpacked. */
function onlyWheels(granted: readonly string[]): readonly string[] {
  return ["--only-binary", ":all:", ...granted.flatMap((name) => ["--no-binary", normaliseName(name)])];
}

function toLine({ name, version, hash }: LockedPackage): string {
  return `${name}==${version} --hash=${hash}`;
}

/** Locks the files that pip has chosen. */
async function lockFiles(directory: string): Promise<readonly LockedPackage[]> {
  const locked: LockedPackage[] = [];
  if (!(await lstat(directory)).isDirectory()) return locked;
  for (const file of (await readdir(directory)).toSorted()) {
    const [, name, version] =
      /^([A-Za-z0-9][\w.]*)-([\w.+!]+)-[\w.-]+\.whl$/u.exec(file) ??
      /^(.+)-([^-]+?)\.(?:tar\.gz|zip)$/u.exec(file) ??
      [];
    const path = join(directory, file);
    if (name === undefined || version === undefined || !(await lstat(path)).isFile()) {
      const cure = "use another version, or report it to the index";
      throw dependencyFailed("python", { problem: "broken", reason: `${JSON.stringify(file)} is not a package`, cure });
    }
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash);
    locked.push({ name: normaliseName(name), version, hash: `sha256:${hash.digest("hex")}` });
  }
  return locked;
}

/** A package that pip found no file for. */
interface MissingPackage {
  readonly result: StepResult;
  readonly missing: string;
  readonly facts: PythonFacts;
}

const mostShown = 5;

/** Finds out why there is no file for a package: an index that fails, not there, not in this version, or not for this Python. */
async function explainMissing(pip: Pip, { result, missing, facts }: MissingPackage): Promise<DependencyFailure> {
  const [, newer] = /Requires-Python (\S+)/u.exec(result.stderr) ?? [];
  if (newer !== undefined) {
    const reason = `it needs Python ${newer}, and this is ${facts.version}`;
    const cure = "use another version of the package, or another Python";
    return { problem: "no-wheel", package: missing, reason, cure };
  }
  const log = await askAgain(pip, missing);
  const refused = pip.route?.refused() ?? [];
  if (refused.length > 0) return explainRefused(refused);
  return toFailure(pip, { result, missing, facts }, log);
}

/** Lets pip talk about what it skips: it takes an index that fails for one without the package. */
async function askAgain(pip: Pip, missing: string): Promise<string> {
  const place = ["--dest", join(pip.bench.root, "temporary")];
  const args = ["download", "--no-deps", "--only-binary", ":all:", "-vv", ...place, missing];
  const { stdout, stderr } = await runPip(pip, { args, from: "source" });
  return `${stdout}\n${stderr}`;
}

function toFailure({ source }: Pip, { result, missing, facts }: MissingPackage, log: string): DependencyFailure {
  const isFolder = source.kind === "folder";
  const place = isFolder ? "in the folder of packages" : "on the package index";
  const [, unreachable] = /Could not fetch URL \S+: (?!404 )([^\n]*) - skipping/u.exec(log) ?? [];
  if (unreachable !== undefined) {
    const cure = "check the network and the index, or try again later";
    return { problem: "index", package: missing, reason: `the package index failed (${lastWords(unreachable)})`, cure };
  }
  const [, wheels = "none"] = /\(from versions: ([^)]{1,300})\)/u.exec(result.stderr) ?? [];
  if (wheels !== "none") {
    const reason = `this version is not ${place} as a wheel, only ${wheels}`;
    const cure = "ask for one of these, or loosen what the other packages ask for";
    return { problem: "not-found", package: missing, reason, cure };
  }
  const skipped = Array.from(
    log.matchAll(/Skipping link: [^\n]*?([\w.+-]+\.(?:whl|tar\.gz|zip))\b/gu),
    ([, file = ""]) => file,
  );
  const others = skipped.filter((file) => normaliseName(file.split(/-\d/u)[0] ?? "") === missing);
  if (others.length > 0) {
    const shown = [...new Set(others)].slice(-mostShown).join(", ");
    const reason = `there is no wheel of it for Python ${facts.version} on this machine, only ${shown}`;
    const cure = "use another version or another package; to let its own code build it, grant it install scripts";
    return { problem: "no-wheel", package: missing, reason, cure };
  }
  const cure = isFolder
    ? `put a wheel of it there: pip download --only-binary :all: --dest ${source.folder} ${missing}`
    : "check how its name is written";
  return { problem: "not-found", package: missing, reason: `it is not ${place}`, cure };
}
