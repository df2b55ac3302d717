import { cpSync, readFileSync, rmSync, statSync } from "node:fs";
import { crc32 } from "node:zlib";
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";

import { createWorkspace, type ToolOutcome } from "kitbag";
import { loadSkills } from "kitbag/skills";
import { parse } from "smol-toml";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";

import { wasmRuntime } from "../src/runtimes/wasm/wasm-runtime.ts";
import { findSandbox } from "../src/sandbox/find-sandbox.ts";
import type { Sandbox } from "../src/sandbox/sandbox.ts";
import { createProject, runKitbag } from "./run-kitbag.ts";
import { needProgram } from "./support/need-program.ts";

vi.setConfig({ testTimeout: 120_000 });

const folder = resolve(import.meta.dirname, "../skills/checksums");
const modules = ["digest.wasm", "check-number.wasm"];

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await findSandbox();
});
afterAll(() => sandbox.close());

test("the modules of checksums are small", () => {
  for (const name of modules) expect(statSync(join(folder, name)).size).toBeLessThan(120 * 1024);
});

test("the tests in the manifest of checksums pass", async () => {
  const call = await openSkill(folder);
  const { tests } = parse(readFileSync(join(folder, "kitbag.toml"), "utf8")) as unknown as Manifest;

  for (const { tool, input, output } of tests) expect(await call(tool, input)).toMatchObject({ status: "ok", output });

  expect(tests.length).toBeGreaterThanOrEqual(4);
});

test.for(["", "a", 'é😀\n"\\\t\0', "x".repeat(55), "x".repeat(56), "x".repeat(64), "lorem ".repeat(50_000)])(
  "checksums/digest agrees with Node about %j",
  async (text) => {
    const call = await openSkill(folder);
    const bytes = Buffer.byteLength(text);
    const sha256 = createHash("sha256").update(text).digest("hex");
    const crc = crc32(text).toString(16).padStart(8, "0");

    expect(await call("digest", { text })).toMatchObject({ output: { algorithm: "sha256", hex: sha256, bytes } });
    expect(await call("digest", { text, algorithm: "crc32" })).toMatchObject({ output: { hex: crc, bytes } });
  },
);

test.for([
  ["card", "4539 1488 0343 6467", { valid: true }],
  ["card", "4539148803436468", { valid: false, expected: "7" }],
  ["card", "1234", { valid: false, reason: "a card number has 12 to 19 digits" }],
  ["iban", "DE89 3704 0044 0532 0130 00", { valid: true }],
  ["iban", "gb82west12345698765432", { valid: true }],
  ["iban", "DE88370400440532013000", { valid: false, expected: "89" }],
  ["iban", "1289370400440532013000", { valid: false }],
  ["isbn", "0-8044-2957-X", { valid: true }],
  ["isbn", "978-3-16-148410-0", { valid: true }],
  ["isbn", "3-16-148410-1", { valid: false, expected: "X" }],
  ["ean", "4006381333931", { valid: true }],
  ["ean", "73513537", { valid: true }],
  ["ean", "4006381333932", { valid: false, expected: "1" }],
  ["ean", '"}; kind\\', { valid: false }],
] as const)("checksums/check-number knows whether the %s %s is right", async ([kind, number, output]) => {
  const call = await openSkill(folder);

  expect(await call("check-number", { kind, number })).toMatchObject({ status: "ok", output });
});

test("kitbag build makes the tools of checksums from their sources", async (context) => {
  needProgram(context, "clang-19");
  const project = createProject();
  const copy = join(project.folder, "checksums");
  cpSync(folder, copy, { recursive: true });
  for (const name of modules) rmSync(join(copy, name));

  const run = await runKitbag(["build", "checksums"], { project });
  const call = await openSkill(copy);

  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(await call("digest", { text: "abc", algorithm: "adler32" })).toMatchObject({ output: { hex: "024d0127" } });
  expect(await call("check-number", { kind: "ean", number: "4006381333931" })).toMatchObject({
    output: { valid: true },
  });
});

interface Manifest {
  readonly tests: readonly { readonly tool: string; readonly input: object; readonly output: object }[];
}

async function openSkill(directory: string): Promise<(tool: string, input: object) => Promise<ToolOutcome>> {
  const { reports } = await loadSkills({ directories: [directory] });
  const skills = reports.flatMap(({ skill }) => (skill === undefined ? [] : [skill]));
  const runtime = wasmRuntime({ sandbox, workers: 1 });
  onTestFinished(() => runtime.close());
  const workspace = createWorkspace({ skills, runtimes: [runtime] });
  await workspace.activateSkill("checksums");
  return (tool, input) => workspace.call(`checksums/${tool}`, input);
}
