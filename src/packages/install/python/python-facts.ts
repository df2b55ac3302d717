import { defaultLimits, type Sandbox } from "../../../sandbox/sandbox.ts";
import { dependencyFailed, lastWords } from "../dependency-failure.ts";
import { runInside } from "../run-step.ts";
import { pythonStep } from "./pip.ts";

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
