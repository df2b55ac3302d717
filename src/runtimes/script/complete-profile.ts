import { join } from "node:path";

import type { Mount, Profile } from "../../sandbox/sandbox.ts";
import type { Family } from "./families.ts";
import type { Interpreter } from "./launch.ts";

/** Programs and modules of ours that exist inside. */
const ownFolder = join(import.meta.dirname, "inside");
const ownTarget = "/opt/kitbag/script";
/** Node looks for packages in the folders above a script, up to here. */
const packagesTarget = "/node_modules";
const strippedTarget = "/opt/kitbag/typescript";

/** What a profile lacks to run a script. */
export interface Completion {
  readonly interpreter: Interpreter;
  /** The directory with TypeScript without its types. */
  readonly stripped?: string;
  /** There is no sandbox, so paths are those of this machine. */
  readonly isOff: boolean;
}

/** What completes a profile: the profile itself, and first arguments of the interpreter. */
export interface Completed {
  readonly profile: Profile;
  readonly interpreter: Interpreter;
}

/** Adds to what a tool may see what its interpreter needs, and the modules to talk to Kitbag with. */
export function completeProfile(base: Profile, completion: Completion): Completed {
  const { interpreter, stripped, isOff } = completion;
  const hasPackages = base.mounts.some(({ target }) => target === packagesTarget);
  const own: Mount[] = [{ source: ownFolder, target: ownTarget }];
  if (interpreter.family === "node" && !hasPackages) {
    own.push({ source: join(ownFolder, "node"), target: `${packagesTarget}/kitbag` });
  }
  if (stripped !== undefined) own.push({ source: stripped, target: strippedTarget });
  const needsPreload = interpreter.family === "node" && (stripped !== undefined || isOff || hasPackages);
  const place = (path: string): string => (isOff ? toSource([...base.mounts, ...own], path) : path);
  const preload = needsPreload && isOff ? { KITBAG_PRELOAD: toPlaces(place) } : {};
  return {
    interpreter: needsPreload
      ? { ...interpreter, argv: ["--require", place(`${ownTarget}/preload.cjs`), ...interpreter.argv] }
      : interpreter,
    profile: {
      ...base,
      mounts: [...base.mounts, ...own, ...interpreter.mounts],
      programs: [...new Set([...base.programs, ...interpreter.programs])],
      environment: joinLists(withSkill(base.environment, interpreter.family, place("/skill")), {
        KITBAG_FD: "3",
        ...environmentOf(interpreter.family, place),
        ...preload,
      }),
    },
  };
}

function toPlaces(place: (path: string) => string): string {
  const kitbag = place(`${ownTarget}/node`);
  return JSON.stringify({ skill: place("/skill"), stripped: place(strippedTarget), kitbag });
}

function environmentOf(family: Family, place: (path: string) => string): Readonly<Record<string, string>> {
  switch (family) {
    case "python":
      return {
        PYTHONPATH: place(`${ownTarget}/python`),
        // What was printed is there when the script is stopped, and while it runs.
        PYTHONUNBUFFERED: "1",
        PYTHONDONTWRITEBYTECODE: "1",
      };
    case "ruby":
      return { RUBYLIB: place(`${ownTarget}/ruby`) };
    case "shell":
      return { KITBAG_SH: place(`${ownTarget}/shell/kitbag.sh`) };
    case "powershell":
      return { POWERSHELL_TELEMETRY_OPTOUT: "1", POWERSHELL_UPDATECHECK: "Off", DOTNET_EnableDiagnostics: "0" };
    case "node":
    case "perl":
    case "php":
    case "lua":
    case "r":
    case "javascript":
    case "other":
      return {};
  }
}

/** Python finds the modules of the skill by their way from its folder, as with `python -m scripts.x`, but behind those of packages. */
function withSkill(
  environment: Readonly<Record<string, string>>,
  family: Family,
  skill: string,
): Readonly<Record<string, string>> {
  if (family !== "python") return environment;
  const { PYTHONPATH: packages } = environment;
  return { ...environment, PYTHONPATH: packages === undefined ? skill : `${packages}:${skill}` };
}

const lists = new Set(["PYTHONPATH", "RUBYLIB"]);

/** Adds variables; lists of directories are joined, ours first: no module of a package takes the place of one of ours. */
function joinLists(
  base: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const joined: Record<string, string> = { ...base };
  for (const [name, value] of Object.entries(more)) {
    const before = base[name];
    if (before === undefined) joined[name] = value;
    else if (lists.has(name)) joined[name] = `${value}:${before}`;
  }
  return joined;
}

function toSource(mounts: readonly Mount[], path: string): string {
  const mount = mounts.find(({ target }) => path === target || path.startsWith(`${target}/`));
  return mount === undefined ? path : mount.source + path.slice(mount.target.length);
}
