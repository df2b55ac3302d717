import { expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createStandbyPython, type StandbyPython } from "./skill-source.ts";

const source =
  'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--name")\nparser.parse_args()\n';

test("createStandbyPython() reads with and without a helper, and says the same", async (context) => {
  needProgram(context, "python3");
  const python = create();

  const without = await python.read(source);
  python.prepare();
  const first = await python.read(source);
  const second = await python.read(source);

  expect(without.ok).toBe(true);
  expect(first).toEqual(without);
  expect(second).toEqual(without);
});

test("createStandbyPython() answers many files at once, each with its own facts", async (context) => {
  needProgram(context, "python3");
  const python = create();
  python.prepare();
  const sources = Array.from({ length: 60 }, (_, index) => source.replace("--name", `--name-${index}`));

  const readings = await Promise.all(sources.map((text) => python.read(text)));

  expect(readings.filter((reading, index) => JSON.stringify(reading).includes(`--name-${index}"`)).length).toBe(60);
});

test("createStandbyPython() says what is wrong with a file, and goes on", async (context) => {
  needProgram(context, "python3");
  const python = create();
  python.prepare();

  const wrong = await python.read("def (:\n");
  const large = await python.read("#".repeat(600_000));
  const right = await python.read(source);

  expect(wrong).toMatchObject({ ok: false, reason: "syntax" });
  expect(large).toMatchObject({ ok: false, reason: "too-large" });
  expect(right.ok).toBe(true);
});

test("close() ends the helper, and nothing is started after it", async (context) => {
  needProgram(context, "python3");
  const python = create();
  python.prepare();
  await python.read(source);

  await python.close();
  python.prepare();
  const after = await python.read(source);

  expect(after.ok).toBe(true);
});

function create(): StandbyPython {
  const python = createStandbyPython();
  onTestFinished(() => python.close());
  return python;
}
