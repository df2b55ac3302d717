import { afterAll, describe, expect, test, type TestContext } from "vitest";

import { corners, openArena, programsOf, type Arena } from "../../../test/support/attacks/arena.ts";
import { needProgram } from "../../../test/support/need-program.ts";

const words = {
  "flags of the sandbox": ["--bind", "/", "/", "--", "--args", "4", "--dev-bind", "--share-net", "--setenv"],
  "flags of interpreters": ["-c", "-e", "--eval", "-i", "--", "-", "--require", "-m", "--version", "--help"],
  "words of a plan": ["run", "mount", "keep", "set", "in", "link", "limit", "exec", "source", "kitbag"],
  "what shells expand": ["$(id)", "`id`", "$HOME", "${IFS}", "~", "*", "{a,b}", "!!", "<(id)", "$((1+1))", "a[$(id)]"],
  "what shells split": ["a b", "a\tb", "; id", "| id", "&& id", "> /tmp/x", "'", '"', "\\", "#"],
  "lines and odd characters": ["a\nb", "\r\n", "\u0007\u001B[2J", "\u202E", "é😀", "", " ", "\n"],
  "many words": Array.from({ length: 2000 }, (_, index) => String(index)),
  "a long word": ["x".repeat(100_000)],
};

describe.for(corners)("$sandbox, $way,", (corner) => {
  let opened: Promise<Arena> | undefined;
  const open = (context: TestContext): Promise<Arena> => {
    for (const program of programsOf(corner)) needProgram(context, program);
    opened ??= openArena(corner);
    return opened;
  };
  afterAll(async () => (await opened)?.close());

  test.for(Object.entries(words))("hands on %s as they are", async ([, argv], context) => {
    const arena = await open(context);

    const { outcome } = await arena.call({ language: "arguments", argv });

    expect(outcome).toEqual({ status: "ok", output: argv.map((word) => `${word}\0`).join("") });
  });

  test.for([
    ["a zero byte", ["a\0set\0LD_PRELOAD\0/tmp/x"]],
    ["2 MB in one word", ["x".repeat(2_000_000)]],
    ["2 MB in many words", Array.from({ length: 20 }, () => "x".repeat(100_000))],
  ] as const)("refuses arguments with %s, and says so", async ([, argv], context) => {
    const arena = await open(context);

    const { outcome } = await arena.call({ language: "arguments", argv });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
  });
});
