import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { createTerminal, type Terminal } from "../terminal.ts";
import { highlightCode, runTour, toShownCode, type TourKit, type TourStep } from "./run-tour.ts";

/** The step uses nothing of it. */
const kit = {} as Omit<TourKit, "show">;

const step: TourStep = {
  title: "A step",
  why: "Because",
  run: async ({ show }) => {
    const value = 1 + 1; // sum

    if (value > 1) {
      show({ value });
    }
  },
};

test("runTour() waits for Enter between steps on a screen", async () => {
  const { terminal, stdin } = createScreen();

  const running = runTour([step, step], kit, terminal);
  const isDone = await Promise.race([
    running.then(() => true),
    new Promise((resolve) => setTimeout(resolve, 100, false)),
  ]);
  stdin.write("\n");

  expect(isDone).toBe(false);
  expect(await running).toHaveLength(2);
});

test("runTour() ends with q", async () => {
  const { terminal, stdin } = createScreen();

  const running = runTour([step, step], kit, terminal);
  stdin.write("q\n");

  expect(await running).toHaveLength(1);
});

test("runTour() ends when the input ends", async () => {
  const { terminal, stdin } = createScreen();

  const running = runTour([step, step], kit, terminal);
  stdin.end();

  expect(await running).toHaveLength(1);
});

test("runTour() shows title, code, what came out and why", async () => {
  const { terminal, stdin, stdout } = createScreen({ NO_COLOR: "1" });

  await runTour([step], kit, terminal);
  stdin.end();
  stdout.end();

  expect(await text(stdout)).toMatchInlineSnapshot(`
    "1/1  A step

      const value = 1 + 1;
      if (value > 1) {
      	show({ value });
      }

      → {"value":2}

    Because

    "
  `);
});

test("toShownCode() halves the wide indents of compiled code", () => {
  const wide = toShownCode({
    run: { toString: () => "async () => {\n        a({\n            b: 1,\n        });\n    }" } as never,
  });

  expect(wide).toBe("a({\n  b: 1,\n});");
});

test("highlightCode() colours and changes nothing else", () => {
  const code = 'const a = await call("x // y", 1_000); // `done`';

  const coloured = highlightCode(code, { style: (style, piece) => `<${String(style)}:${piece}>` });

  expect(coloured).toBe(
    '<magenta:const> a = <magenta:await> <cyan:call>(<green:"x // y">, <yellow:1_000>); <gray:// `done`>',
  );
});

function createScreen(env: Record<string, string> = {}): {
  terminal: Terminal;
  stdin: PassThrough;
  stdout: PassThrough;
} {
  const create = (): PassThrough => Object.assign(new PassThrough(), { isTTY: true });
  const [stdin, stdout, stderr] = [create(), create(), create()];
  stderr.resume();
  return { terminal: createTerminal({ stdin, stdout, stderr, env }), stdin, stdout };
}
