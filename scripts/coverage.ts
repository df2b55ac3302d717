/**
 * Runs tests and prints what they cover of each folder of `src`: `npm run coverage`, or `npm run coverage src/core` for the tests and
 * files of some folders. What runs in processes that tests start (the command, scripts, servers) is not counted. The limits are those of
 * vitest.config.ts.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const kinds = ["lines", "functions", "branches"] as const;
type Counts = Readonly<Record<(typeof kinds)[number], { readonly total: number; readonly covered: number }>>;

const folder = mkdtempSync(join(tmpdir(), "kitbag-coverage-"));
try {
  const chosen = process.argv.slice(2).map((path) => join(path, "**/*.ts"));
  const included = (chosen.length > 0 ? chosen : ["src/**/*.ts"]).map((path) => `--coverage.include=${path}`);
  const options = ["--coverage", ...included, `--coverage.reportsDirectory=${folder}`];
  const report = ["--coverage.reporter=json-summary", "--coverage.reportOnFailure"];
  const { status } = spawnSync("vitest", ["run", ...options, ...report, ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  const files = JSON.parse(readFileSync(join(folder, "coverage-summary.json"), "utf8")) as Record<string, Counts>;
  delete files["total"];
  print(Object.entries(files).map(([path, counts]) => [relative(root, path), counts]));
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function print(files: readonly (readonly [path: string, counts: Counts])[]): void {
  const folders = Object.groupBy(files, ([path]) => path.split("/").slice(0, -1).slice(0, 2).join("/"));
  const row = (name: string, cells: readonly string[]): void =>
    console.log([name.padEnd(16), ...cells.map((cell) => cell.padStart(10))].join(""));
  row("covered", kinds);
  for (const name of Object.keys(folders).toSorted()) row(name, percentages(folders[name] ?? []));
  row("in all", percentages(files));
}

function percentages(files: readonly (readonly [path: string, counts: Counts])[]): readonly string[] {
  return kinds.map((kind) => {
    const total = files.reduce((sum, [, counts]) => sum + counts[kind].total, 0);
    const covered = files.reduce((sum, [, counts]) => sum + counts[kind].covered, 0);
    return total === 0 ? "–" : `${((100 * covered) / total).toFixed(1)} %`;
  });
}
