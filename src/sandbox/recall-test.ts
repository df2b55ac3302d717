import { createHash } from "node:crypto";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";

import { insideFile } from "./host.ts";
import { findProgram } from "./programs.ts";
import type { Sandbox } from "./sandbox.ts";
import { probe, socketProbes, testSandbox, type SelfTest } from "./self-test.ts";
import type { WorkArea } from "./work-area.ts";

/** Tests a sandbox, or recalls the test of the same one: same boot, same kernel, same programs, same user, same attempts. */
export async function recallTest(sandbox: Sandbox, area: WorkArea): Promise<SelfTest> {
  const path = join(area.kept, `self-test-${digestOf(sandbox)}.json`);
  const known = load(path);
  if (known !== undefined) return known;
  const result = await testSandbox(sandbox, area);
  // Only what holds is remembered: what does not may be cured.
  if (result.broken.length === 0) save(path, result);
  return result;
}

function digestOf(sandbox: Sandbox): string {
  const programs = ["bwrap", "unshare", "perl", "firejail", "nsjail", "prlimit", "bash"].map(describe);
  const own = [insideFile("enter.pl"), insideFile("own-mounts.pl"), process.execPath].map(describe);
  const probes = [probe, socketProbes];
  const facts = [sandbox.name, [...sandbox.enforces], process.getuid?.(), release(), bootId(), programs, own, probes];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32);
}

function describe(name: string): unknown {
  const path = findProgram(name) ?? name;
  const facts = statSync(path, { throwIfNoEntry: false });
  return [path, facts?.size, facts?.mtimeMs];
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
  } catch {
    return "";
  }
}

function load(path: string): SelfTest | undefined {
  try {
    const known = JSON.parse(readFileSync(path, "utf8")) as Partial<SelfTest> | null;
    const { enforced, broken } = known ?? {};
    // Only a test that all was held in is ever kept: whatever else is there was damaged.
    return Array.isArray(enforced) && Array.isArray(broken) && broken.length === 0 ? { enforced, broken } : undefined;
  } catch {
    return undefined;
  }
}

function save(path: string, result: SelfTest): void {
  const making = `${path}.${process.pid}`;
  writeFileSync(making, JSON.stringify(result), { mode: 0o600 });
  renameSync(making, path);
}
