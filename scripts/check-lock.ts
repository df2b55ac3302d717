/**
 * Fails if a lock file names a registry (everybody's npm uses its own), if a package in it has no checksum, or if one for another
 * platform is missing: `npm ci` refuses such a file.
 */
import { globSync, readFileSync } from "node:fs";

interface LockedPackage {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

for (const file of globSync("{.,test/*}/package-lock.json")) checkLock(file);

function checkLock(file: string): void {
  const { packages } = JSON.parse(readFileSync(file, "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const entries = Object.entries(packages).filter(([path, { link }]) => path !== "" && link !== true);
  const isThere = (path: string): boolean => packages[path] !== undefined;

  const addressed = entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path);
  const unsealed = entries.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path);
  const missing = entries.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !isThere(`${path}/node_modules/${name}`) && !isThere(`node_modules/${name}`))
      .map((name) => `${name} ${optionalDependencies[name]}`),
  );

  report(file, "these have an address", addressed, 'delete their "resolved" lines; .npmrc keeps new ones out');
  report(file, "these have no checksum", unsealed, "install them from a registry");
  const cure = "the registry does not have them: use a version that it has for all platforms";
  report(file, "these are missing", missing, cure);
}

function report(file: string, problem: string, names: readonly string[], cure: string): void {
  if (names.length === 0) return;
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  console.error(`Cannot accept ${file}: ${problem}: ${names.slice(0, 10).join(", ")}${more}; ${cure}`);
  process.exitCode = 1;
}
