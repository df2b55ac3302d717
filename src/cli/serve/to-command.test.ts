import { expect, test } from "vitest";

import { toCommand, type OwnProgram } from "./print-config.ts";

const program: OwnProgram = {
  node: "/opt/node/bin/node",
  main: "/home/ann/shop/node_modules/kitbag/dist/cli/main.js",
  isSource: false,
  platform: "linux",
};

test("toCommand() uses npx where Kitbag is installed in the project or above it, and lets it fetch nothing", () => {
  const lines = ["/home/ann/shop", "/home/ann/shop/packages/web"].map((project) => toCommand(program, project));

  expect(lines).toEqual(
    Array.from({ length: 2 }, () => ({ command: "npx", args: ["--no", "--prefix", "/home/ann/shop", "kitbag"] })),
  );
});

test.for([
  ["in another project", program, "/home/ann/other"],
  ["in a folder that only begins alike", program, "/home/ann/shop2"],
  ["for everybody", { ...program, main: "/usr/lib/node_modules/kitbag/dist/cli/main.js" }, "/home/ann/shop"],
  ["on Windows", { ...program, platform: "win32" }, "/home/ann/shop"],
] as const)("toCommand() names the files where Kitbag is installed %s", ([, installed, project]) => {
  const line = toCommand(installed, project);

  expect(line).toEqual({ command: "/opt/node/bin/node", args: [installed.main] });
});

test("toCommand() of a clone of the repository runs the sources", () => {
  const line = toCommand({ ...program, main: "/home/ann/kitbag/src/cli/main.ts", isSource: true }, "/home/ann/kitbag");

  expect(line).toEqual({
    command: "/opt/node/bin/node",
    args: ["--conditions=@kitbag/source", "/home/ann/kitbag/src/cli/main.ts"],
  });
});
