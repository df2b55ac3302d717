/**
 * Fails if the lock file names a registry (everybody's npm uses its own), if a package in it has no checksum, or if one for another
 * platform is missing: `npm ci` refuses such a file.
 */
import { readFileSync } from "node:fs";

interface LockedPackage {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Readonly<Record<string, LockedPackage>>;
};
const entries = Object.entries(packages).filter(([path, { link }]) => path !== "" && link !== true);

const addressed = entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path);
const unsealed = entries.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path);
const missing = entries.flatMap(([path, { optionalDependencies = {} }]) =>
  Object.keys(optionalDependencies)
    .filter(
      (name) =>
        packages[`${path}/node_modules/${name}`] === undefined && packages[`node_modules/${name}`] === undefined,
    )
    .map((name) => `${name} ${optionalDependencies[name]}`),
);

report("these have an address", addressed, 'delete their "resolved" lines; .npmrc keeps new ones out');
report("these have no checksum", unsealed, "install them from a registry");
report("these are missing", missing, "the registry does not have them: use a version that it has for all platforms");

function report(problem: string, names: readonly string[], cure: string): void {
  if (names.length === 0) return;
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  console.error(`Cannot accept package-lock.json: ${problem}: ${names.slice(0, 10).join(", ")}${more}; ${cure}`);
  process.exitCode = 1;
}
