import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { readText } from "./read-input.ts";

test("readText() takes a text as it is, @ for a file, and @@ for one @", () => {
  const folder = createFolder();
  writeFileSync(join(folder, "code.py"), "print('grün')\n");

  expect(readText("--code", "@code.py", folder)).toBe("print('grün')\n");
  expect(readText("--code", "@@code.py", folder)).toBe("@code.py");
  expect(readText("--code", "code.py", folder)).toBe("code.py");
});

test.for(["/dev/zero", "/dev/null", "/dev/tty"])(
  "readText() refuses %s, which is neither a file nor a pipe",
  (path) => {
    expect(() => readText("--code", `@${path}`, "/")).toThrow(
      `Cannot read --code @${path}: it is neither a file nor a pipe; name a file`,
    );
  },
);

test("readText() refuses a folder, and what is not there", () => {
  const folder = createFolder();

  expect(() => readText("--code", "@.", folder)).toThrow("Cannot read --code @.: it is a folder");
  expect(() => readText("--code", "@x", folder)).toThrow("Cannot read --code @x: there is no such file");
});

test("readText() reads no more than an input may have", () => {
  const folder = createFolder();
  const make = (name: string, bytes: number): void => {
    const file = openSync(join(folder, name), "w");
    ftruncateSync(file, bytes);
    closeSync(file);
  };
  const most = 16 * 1024 * 1024;
  make("long", most);
  make("longer", most + 1);

  expect(readText("--code", "@long", folder)).toHaveLength(most);
  expect(() => readText("--code", "@longer", folder)).toThrow("Cannot use --code: it is longer than 16777216 bytes");
});

test("readText() reads a pipe to its end, and stops where one has none", () => {
  const read = (program: string): string =>
    execFileSync("bash", ["-c", `node --input-type=module -e "$CODE" <(${program}) 2>&1`], {
      encoding: "utf8",
      env: { ...process.env, CODE: code },
    });

  expect(read("printf one; sleep 0.1; printf two")).toBe("onetwo");
  expect(read("cat /dev/zero")).toContain("it is longer than 16777216 bytes");
});

const code = `
  const { readText } = await import(${JSON.stringify(new URL("read-input.ts", import.meta.url).href)});
  try { process.stdout.write(readText("--code", "@" + process.argv[1], "/")); } catch (error) { console.log(error.message); }
`;
