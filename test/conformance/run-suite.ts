import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** How the scenarios of one run went. */
export interface SuiteResult {
  /** Scenarios that count and passed. */
  readonly passed: readonly string[];
  /** Scenarios that count and did not. */
  readonly failed: readonly string[];
  readonly checks: number;
  /** All that the suite said. */
  readonly text: string;
}

const require = createRequire(import.meta.url);

/** Runs the installed conformance suite against a server. */
export async function runSuite(url: string, ...options: readonly string[]): Promise<SuiteResult> {
  const program = join(dirname(require.resolve("@modelcontextprotocol/conformance/package.json")), "dist/index.js");
  const text = await run([program, "server", "--url", `${url}/mcp`, ...options]);
  const [, summary = "", notScored = ""] =
    /=== SUMMARY ===\n([\s\S]*?)(?:\nNot scored[^\n]*\n([\s\S]*))?$/u.exec(text) ?? [];
  const ignored = new Set([...notScored.matchAll(/^\s*[✓✗] (\S+)/gmu)].map(([, name]) => name));
  const lines = [...summary.matchAll(/^([✓✗]) (\S+): (\d+) passed/gmu)].filter(([, , name]) => !ignored.has(name));
  const named = (mark: string): string[] => lines.filter(([, one]) => one === mark).map(([, , name]) => String(name));
  const checks = lines.reduce((sum, [, , , passed]) => sum + Number(passed), 0);
  return { passed: named("✓"), failed: named("✗"), checks, text };
}

/** The suite ends with 1 when a scenario fails; what it said tells which. */
function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve(`${stdout}\n${stderr}`),
    );
  });
}
