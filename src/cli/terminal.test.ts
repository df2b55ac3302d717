import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { createTerminal, type Terminal } from "./terminal.ts";

test("terminal.style() colours only for a screen without NO_COLOR", () => {
  const styled = [
    create({ isScreen: true }),
    create({ isScreen: false }),
    create({ isScreen: true, env: { NO_COLOR: "1" } }),
    create({ isScreen: true, env: { TERM: "dumb" } }),
    create({ isScreen: false, env: { FORCE_COLOR: "1" } }),
  ].map(({ terminal }) => terminal.style("red", "x"));

  expect(styled).toEqual(["\u001B[31mx\u001B[39m", "x", "x", "x", "x"]);
});

test("terminal.toShown() makes text harmless for a screen and leaves it alone for a pipe", () => {
  const hostile = "a\u001B[31mb\u009B1mc\u202Ed\te\r\nf";

  const onScreen = create({ isScreen: true }).terminal.toShown(hostile);
  const inPipe = create({ isScreen: false }).terminal.toShown(hostile);

  expect(onScreen).toBe(String.raw`a\u001b[31mb\u009b1mc\u202ed` + "\te\nf");
  expect(inPipe).toBe(hostile);
});

test("terminal.showStatus() shows a line that the next output replaces", async () => {
  const { terminal, stderr, finish } = create({ isScreen: true });

  terminal.showStatus("1/3");
  terminal.showStatus("2/3");
  terminal.note("done\n");
  finish();

  expect(await text(stderr)).toBe("\r\u001B[K1/3\r\u001B[K2/3\r\u001B[Kdone\n");
});

test.for<[where: string, screen: Parameters<typeof create>[0]]>([
  ["nobody watches", { isScreen: false }],
  ["the screen cannot take it back", { isScreen: true, env: { TERM: "dumb" } }],
])("terminal.showStatus() shows nothing where %s", async ([, screen]) => {
  const { terminal, stderr, finish } = create(screen);

  terminal.showStatus("1/3");
  finish();

  expect(await text(stderr)).toBe("");
});

test("terminal.print() keeps working when somebody replaces the stream's write", async () => {
  const { terminal, stdout, finish } = create({ isScreen: false });
  stdout.write = () => true;

  terminal.print("kept\n");
  finish();

  expect(await text(stdout)).toBe("kept\n");
});

test.for([
  ["yes\n", "yes"],
  ["  spaced  \n", "spaced"],
  ["\n", ""],
])("terminal.ask() answers %j with %j", async ([typed = "", answer]) => {
  const { terminal, stdin } = create({ isScreen: true });

  const asked = terminal.ask("Well? ");
  stdin.write(typed);

  expect(await asked).toBe(answer);
});

test("terminal.ask() answers nothing when the input ends", async () => {
  const { terminal, stdin } = create({ isScreen: true });

  const asked = terminal.ask("Well? ");
  stdin.end();

  expect(await asked).toBeUndefined();
});

test("terminal.ask() with dropTyped is not answered by a line that was typed before the question is shown", async () => {
  const { terminal, stdin, stderr } = create({ isScreen: true });
  stdin.write("y\n");

  const asked = terminal.ask("Well? ", { dropTyped: true });
  stdin.write("y\n");
  await once(stderr, "data");
  stdin.write("no\n");

  expect(await asked).toBe("no");
});

test("terminal.ask() with dropTyped answers nothing when the input ends before the question is shown", async () => {
  const { terminal, stdin } = create({ isScreen: true });

  const asked = terminal.ask("Well? ", { dropTyped: true });
  stdin.end("y\n");

  expect(await asked).toBeUndefined();
});

test("terminal.readInput() puts split characters together", async () => {
  const { terminal, stdin } = create({ isScreen: false });
  const bytes = Buffer.from("grün");

  stdin.write(bytes.subarray(0, 3));
  stdin.end(bytes.subarray(3));

  expect(await terminal.readInput(100)).toBe("grün");
});

test("terminal.readInput() stops at its limit", async () => {
  const { terminal, stdin } = create({ isScreen: false });

  stdin.end("x".repeat(101));

  await expect(terminal.readInput(100)).rejects.toThrow("more than 100 bytes");
});

test("terminal.columns has a width for a screen that does not say its own, and none for a pipe", () => {
  expect(create({ isScreen: true }).terminal.columns).toBe(80);
  expect(create({ isScreen: false }).terminal.columns).toBeUndefined();
});

interface Streams {
  readonly terminal: Terminal;
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  finish(): void;
}

function create({ isScreen, env = {} }: { isScreen: boolean; env?: Record<string, string> }): Streams {
  const [stdin, stdout, stderr] = [createStream(isScreen), createStream(isScreen), createStream(isScreen)];
  const finish = (): void => {
    stdout.end();
    stderr.end();
  };
  return { terminal: createTerminal({ stdin, stdout, stderr, env }), stdin, stdout, stderr, finish };
}

function createStream(isTTY: boolean): PassThrough & { isTTY: boolean } {
  return Object.assign(new PassThrough(), { isTTY });
}
