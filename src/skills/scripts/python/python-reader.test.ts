import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as setTimeoutAsync } from "node:timers/promises";

import { afterAll, expect, test } from "vitest";

import { needProgram } from "../../../../test/support/need-program.ts";
import { createPythonReader, largestPythonSource, type PythonReaderOptions } from "./python-reader.ts";
import type { PythonReading } from "./python-facts.ts";

const folder = mkdtempSync(join(tmpdir(), "kitbag-python-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("createPythonReader() reads many files, each with its own answer", async (context) => {
  needProgram(context, "python3");
  const sources = Array.from({ length: 250 }, (_, index) => `"""Doc ${index}"""\n`);

  const readings = await readAll(sources);

  expect(readings.map((reading) => reading.ok && reading.facts.doc)).toEqual(sources.map((_, index) => `Doc ${index}`));
});

test("createPythonReader() runs nothing of what it reads", async (context) => {
  needProgram(context, "python3");
  const mark = join(folder, "ran");

  await readAll([`open(${JSON.stringify(mark)}, "w").write("x")\nimport os\nos.system("touch ${mark}")\n`]);

  expect(existsSync(mark)).toBe(false);
});

test("createPythonReader() tells the line of a syntax error", async (context) => {
  needProgram(context, "python3");
  const [reading] = await readAll(["import os\nprint 'old'\n"]);

  expect(reading).toMatchObject({ ok: false, reason: "syntax", line: 2 });
});

const hostile: readonly { name: string; source: string; reason: string | undefined }[] = [
  { name: "many open brackets", source: `x = ${"(".repeat(5000)}${")".repeat(5000)}`, reason: "syntax" },
  { name: "a long chain of signs", source: `x = ${"-".repeat(200_000)}1`, reason: "deep" },
  { name: "a long chain of attributes", source: `a${".b".repeat(200_000)}`, reason: "deep" },
  { name: "a long sum", source: `1${"+1".repeat(200_000)}`, reason: "deep" },
  { name: "nested functions", source: "lambda:".repeat(50_000), reason: "deep" },
  {
    name: "deep blocks",
    source: Array.from({ length: 200 }, (_, index) => `${" ".repeat(index)}if x:`).join("\n"),
    reason: "syntax",
  },
  { name: "a NUL", source: "x = 1\0", reason: "syntax" },
  { name: "half a character", source: "x = '\uD800'", reason: undefined },
  { name: "a huge text", source: `x = "${"a".repeat(400_000)}"`, reason: undefined },
  { name: "too much of everything", source: "x".repeat(largestPythonSource + 1), reason: "too-large" },
];

test.for(hostile)("createPythonReader() survives $name", async ({ source, reason }, context) => {
  needProgram(context, "python3");
  const [first, second] = await readAll([source, '"""still here"""']);

  // Versions of Python differ in which of the two they say for what is nested too deeply.
  if (reason === "deep" || reason === "syntax")
    expect(["deep", "syntax", "failed"]).toContain(first?.ok === false && first.reason);
  else expect(first?.ok === false ? first.reason : undefined).toBe(reason);
  expect(second).toMatchObject({ ok: true, facts: { doc: "still here" } });
});

test("createPythonReader() stops following what never ends", async (context) => {
  needProgram(context, "python3");
  const doubling = Array.from(
    { length: 40 },
    (_, index) => `def f${index + 1}(p):\n  f${index}(p)\n  f${index}(p)\n`,
  ).join("");
  const calls = `import argparse\ndef f0(p): p.add_argument('--a')\n${doubling}p = argparse.ArgumentParser()\nf40(p)\np.parse_args()\n`;
  const lists = Array.from({ length: 60 }, (_, index) => `A${index + 1} = A${index} + A${index}`).join("\n");
  const constants = `import argparse\nA0 = ['x']\n${lists}\np = argparse.ArgumentParser()\np.add_argument('--x', choices=A60)\np.parse_args()\n`;
  const itself =
    "import argparse\nA = A + A\ndef f(p): f(p); p.add_argument('--y', default=A)\np = argparse.ArgumentParser()\nf(p)\np.parse_args()\n";
  const started = performance.now();

  const readings = await readAll([calls, constants, itself]);

  expect(readings.every(({ ok }) => ok)).toBe(true);
  expect(readings[0]).toMatchObject({ facts: { cut: true } });
  expect(readings[2]).toMatchObject({ facts: { parser: { arguments: [{ flags: ["--y"] }] } } });
  expect(performance.now() - started).toBeLessThan(30_000);
});

test("createPythonReader() says that Python is missing, once it knows, at once", async () => {
  const readings = await readAll(["a", "b"], { python: ["no-such-python-here"] });

  expect(readings).toEqual([
    { ok: false, reason: "missing", message: "spawn no-such-python-here ENOENT" },
    { ok: false, reason: "missing", message: "spawn no-such-python-here ENOENT" },
  ]);
});

test("createPythonReader() takes a program that is no Python for none", async () => {
  const [reading] = await readAll(["a"], { python: [process.execPath, "--eval", "process.exit(3)", "--"] });

  expect(reading).toMatchObject({ ok: false, reason: "missing", message: "it ended with code 3" });
});

test("createPythonReader() blames only the file that stops the helper, and starts it again for the others", async () => {
  const python = fakePython(`if (source === "die") process.exit(9); else answer();`);

  const readings = await readAll(["a", "die", "b", "die", "c"], { python });

  expect(readings.map((reading) => (reading.ok ? "ok" : reading.reason))).toEqual([
    "ok",
    "failed",
    "ok",
    "failed",
    "ok",
  ]);
});

test("createPythonReader() kills a helper that does not answer in time", async () => {
  const python = fakePython(`while (source === "hang"); answer();`);
  const started = performance.now();

  const readings = await readAll(["a", "hang", "b"], { python, limitMs: 1500 });

  expect(readings.map((reading) => (reading.ok ? "ok" : reading.message))).toEqual([
    "ok",
    "it took longer than 1500 ms",
    "ok",
  ]);
  expect(performance.now() - started).toBeLessThan(30_000);
});

test("createPythonReader() gives up on a helper that dies of everything", async () => {
  const python = fakePython("process.exit(9);");

  const readings = await readAll(
    Array.from({ length: 40 }, () => "x"),
    { python },
  );

  expect(readings.every(({ ok }) => !ok)).toBe(true);
});

test("createPythonReader() does not believe what is not JSON", async () => {
  const python = fakePython(`console.log("{");`);

  const [reading] = await readAll(["a"], { python });

  expect(reading).toMatchObject({
    ok: false,
    reason: "failed",
    message: "it answered with something that is not JSON",
  });
});

test("createPythonReader() does not take one file's answer for another's", async () => {
  const python = fakePython(`console.log(JSON.stringify({ id: id + 1, facts: { doc: "other" } }));`);

  const [reading] = await readAll(["a"], { python });

  expect(reading).toMatchObject({ ok: false, reason: "failed", message: "it answered out of order" });
});

test("createPythonReader() stops when it is told to, also before it has begun", async () => {
  const python = fakePython("");
  const controller = new AbortController();
  const reader = createPythonReader({ python, signal: controller.signal });
  const reading = reader.read("a");
  setTimeout(() => controller.abort(), 50);

  expect(await reading).toMatchObject({ ok: false, reason: "stopped" });
  await reader.close();
  expect(await readAll(["a"], { signal: AbortSignal.abort() })).toMatchObject([{ ok: false, reason: "stopped" }]);
});

test("createPythonReader() with keepsHelpers reads later files with the same helper, until it is closed", async () => {
  const python = fakePython(`console.log(JSON.stringify({ id, facts: { doc: String(process.pid) } }));`);
  const reader = createPythonReader({ python, keepsHelpers: true });

  const first = await reader.read("a");
  await nextTurn();
  const second = await reader.read("b");
  await reader.close();

  expect(second).toEqual(first);
  expect(await hasEnded(Number(docOf(first)))).toBe(true);
});

test("createPythonReader() with keepsHelpers starts another helper for one that ended while it waited", async () => {
  const python = fakePython(
    `console.log(JSON.stringify({ id, facts: { doc: String(process.pid) } })); if (source === "last") setImmediate(() => process.exit(9));`,
  );
  const reader = createPythonReader({ python, keepsHelpers: true });

  const first = docOf(await reader.read("last"));
  await hasEnded(Number(first));
  // What its end means is known once its outputs are closed.
  await setTimeoutAsync(200);
  const second = docOf(await reader.read("b"));
  await reader.close();

  expect(Number(second)).toBeGreaterThan(0);
  expect(second).not.toBe(first);
});

async function hasEnded(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 300; tries += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await setTimeoutAsync(100);
  }
  return false;
}

function docOf(reading: PythonReading): string | null {
  return reading.ok ? reading.facts.doc : null;
}

async function readAll(
  sources: readonly string[],
  options: PythonReaderOptions = {},
): Promise<readonly PythonReading[]> {
  const reader = createPythonReader(options);
  const readings = await Promise.all(sources.map((source) => reader.read(source)));
  await reader.close();
  return readings;
}

/** A program that speaks the helper's protocol; `body` decides what it does with each `source`. */
function fakePython(body: string): readonly string[] {
  const path = join(folder, `fake-${Math.random().toString(36).slice(2)}.cjs`);
  const program = `#!${process.execPath}
console.log('{"ready":"3"}');
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, source } = JSON.parse(line);
  const answer = () => console.log(JSON.stringify({ id, facts: { doc: source } }));
  ${body}
});
`;
  writeFileSync(path, program);
  chmodSync(path, 0o755);
  return [path];
}
