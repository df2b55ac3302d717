import { describeCause, KitbagError } from "../../../core/errors.ts";

const packageName = /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*$/iu;
const versionRange = /^(?:npm:(?:@[\w.~-]+\/)?[\w.~-]+@)?[\w .*^~<>=|+-]{0,200}$/u;
const most = 500;

/**
 * Reads the packages that a `package.json` needs to run. A part that only its developers need is left out.
 *
 * @throws {KitbagError} `dependency-refused` if the file, or a package in it, cannot be used.
 */
export function parsePackageJson(text: string, file: string): Readonly<Record<string, string>> {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\u{FEFF}/u, ""));
  } catch (cause) {
    throw refused(file, file, `it is not JSON: ${describeCause(cause, 200)}`);
  }
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw refused(file, file, "it is not an object");
  const { dependencies = {}, optionalDependencies = {} } = json as Record<string, unknown>;
  return checkPackages({ ...toRecord(dependencies, file), ...toRecord(optionalDependencies, file) }, file);
}

function toRecord(value: unknown, file: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refused("dependencies", file, "it is not an object");
}

/**
 * Reads the packages that a manifest lists: `lodash@^4`, `@scope/name`.
 *
 * @throws {KitbagError} `dependency-refused` if one cannot be used.
 */
export function parsePackageList(list: readonly string[], file: string): Readonly<Record<string, string>> {
  const entries = list.map((item) => {
    const at = item.indexOf("@", 1);
    return at === -1 ? [item.trim(), "*"] : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
  });
  return checkPackages(Object.fromEntries(entries) as Record<string, unknown>, file);
}

function checkPackages(packages: Record<string, unknown>, file: string): Readonly<Record<string, string>> {
  const entries = Object.entries(packages).toSorted(([left], [right]) => (left < right ? -1 : 1));
  if (entries.length > most) throw refused("dependencies", file, `there are more than ${most}`);
  for (const [name, range] of entries) {
    if (name.length > 214 || name === "__proto__" || !packageName.test(name)) {
      throw refused(name, file, "it is not the name of a package");
    }
    if (typeof range !== "string" || !versionRange.test(range)) {
      const reason =
        "only versions are possible, no addresses and no paths: packages come from the package index alone";
      throw refused(`${name}@${String(range)}`, file, reason);
    }
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function refused(dependency: string, file: string, reason: string): KitbagError<"dependency-refused"> {
  return new KitbagError("dependency-refused", { dependency, file, reason });
}
