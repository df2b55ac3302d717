import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";

import { type Mount, type Sandbox, defaultLimits } from "../../../sandbox/sandbox.ts";
import { dependencyFailed, lastWords } from "../dependency-failure.ts";
import type { IndexRoute } from "../open-index.ts";
import type { PackageSource } from "../package-source.ts";
import { type Step, type StepResult, type Workbench, runInside, runStep } from "../run-step.ts";

/** Where a folder of packages is inside. */
const folderInside = "/opt/wheelhouse";

/** Runs pip with one interpreter and one source of packages. */
export interface Pip {
  readonly bench: Workbench;
  readonly python: string;
  readonly source: PackageSource;
  readonly route: IndexRoute | undefined;
}

/** How to run pip once. */
export interface PipCall {
  readonly args: readonly string[];
  /** Where packages are looked for: the source, or only in the work directory's `files`. */
  readonly from: "source" | "files";
  readonly onLine?: (line: string) => void;
}

/** Runs pip in the sandbox. Its settings come from here alone: not from files, not from the environment of this process. */
export function runPip({ bench, python, source, route }: Pip, { args, from, onLine }: PipCall): Promise<StepResult> {
  const usesIndex = from === "source" && source.kind === "index";
  const folder = from === "files" ? join(bench.root, "files") : folderInside;
  const where = usesIndex ? [] : ["--no-index", "--find-links", folder];
  const mounts: Mount[] =
    from === "source" && source.kind === "folder"
      ? [{ source: realpathSync(source.folder), target: folderInside, granted: true }]
      : [];
  return runStep(bench, {
    ...pythonStep(python, ["-I", "-m", "pip", ...args, ...where], mounts),
    environment: { ...settings, ...(usesIndex && indexSettings(source.url)) },
    ...(usesIndex && { route }),
    ...(onLine !== undefined && { onLine }),
  });
}

const settings = {
  PIP_CONFIG_FILE: "/dev/null",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_NO_CACHE_DIR: "1",
  PIP_NO_COLOR: "1",
  PIP_NO_INPUT: "1",
  PIP_PROGRESS_BAR: "off",
  PIP_RETRIES: "1",
  PIP_ROOT_USER_ACTION: "ignore",
  PIP_TIMEOUT: "30",
};

/** In the environment, because an address may hold a password and every user can read command lines. */
function indexSettings(url: string): Record<string, string> {
  const { protocol, host } = new URL(url);
  return { PIP_INDEX_URL: url, ...(protocol === "http:" && { PIP_TRUSTED_HOST: host }) };
}

/** A step that runs Python; an interpreter outside of the system's directory brings its own libraries. */
export function pythonStep(
  python: string,
  args: readonly string[],
  mounts: readonly Mount[] = [],
): Pick<Step, "command" | "mounts" | "programs"> {
  const isSystem = dirname(python) === "/usr/bin" || dirname(python) === "/bin";
  const prefix = dirname(dirname(python));
  return {
    command: [python, ...args],
    programs: isSystem ? [python] : [],
    mounts: isSystem ? mounts : [...mounts, { source: prefix, target: prefix }],
  };
}

/** What decides which files of a package fit an interpreter. */
export interface PythonFacts {
  /** `cpython-311-linux-x86_64-glibc`. */
  readonly platform: string;
  /** `3.11.2`. */
  readonly version: string;
}

const question = `
import json, platform, sys, sysconfig
try:
    import pip
    found = pip.__version__
except ImportError:
    found = ""
tag = sys.implementation.cache_tag or sys.implementation.name
parts = [tag, sysconfig.get_platform(), platform.libc_ver()[0]]
print(json.dumps({"pip": found, "version": "%d.%d.%d" % sys.version_info[:3], "platform": "-".join(p for p in parts if p)}))
`;

const oldestPip = [22, 2];

/**
 * Asks an interpreter what it is, and whether it has pip.
 *
 * @throws {KitbagError} `dependency-failed` if it has none, or one that is too old.
 */
export async function findPythonFacts(sandbox: Sandbox, python: string, signal: AbortSignal): Promise<PythonFacts> {
  const { command, mounts = [], programs = [] } = pythonStep(python, ["-I", "-c", question]);
  const profile = { mounts, programs, environment: {}, limits: defaultLimits };
  const result = await runInside(sandbox, { profile, command, signal });
  const { pip, version, platform } = parseAnswer(result.stdout, `${python}: ${lastWords(result.stderr)}`);
  const [major = 0, minor = 0] = pip.split(".").map(Number);
  if (pip === "") {
    const cure = `install it: apt install python3-pip, or ${python} -m ensurepip`;
    throw dependencyFailed("python", { problem: "installer-missing", reason: `${python} has no pip`, cure });
  }
  if (major < Number(oldestPip[0]) || (major === oldestPip[0] && minor < Number(oldestPip[1]))) {
    const reason = `the pip of ${python} is version ${pip}`;
    const cure = `version ${oldestPip.join(".")} or newer is needed: ${python} -m pip install --upgrade pip`;
    throw dependencyFailed("python", { problem: "installer-missing", reason, cure });
  }
  return { platform, version };
}

function parseAnswer(text: string, otherwise: string): { pip: string; version: string; platform: string } {
  try {
    return JSON.parse(text) as { pip: string; version: string; platform: string };
  } catch {
    const cure = "check that the interpreter runs by itself";
    throw dependencyFailed("python", { problem: "installer-missing", reason: `it does not start: ${otherwise}`, cure });
  }
}
