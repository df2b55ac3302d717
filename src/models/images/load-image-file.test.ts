import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { loadImageFile } from "./to-image-part.ts";

test("loadImageFile() reads a file, also by a link", async () => {
  const folder = createFolder({ "a.png": "12345" });
  symlinkSync("a.png", join(folder, "b.png"));

  const bytes = await loadImageFile(join(folder, "b.png"), 5);

  expect(Buffer.from(bytes).toString()).toBe("12345");
});

test.for([
  ["a directory", ".", "it is a directory"],
  ["nothing", "missing.png", "there is no such file"],
  ["something below a file", "a.png/b.png", "there is no such file"],
  ["a name with a zero byte", "a.png\0.txt", "a path has no zero byte"],
  ["a circle of links", "circle", "its links lead in a circle"],
  ["a name that is too long", "x".repeat(5000), "the path is too long"],
  ["a named pipe", "pipe", "it is not a regular file"],
  ["a file that is too large", "a.png", "it has 5 bytes, and the most are 4"],
] as const)("loadImageFile() refuses %s", async ([, name, reason]) => {
  const folder = createFolder({ "a.png": "12345" });
  symlinkSync("circle", join(folder, "circle"));
  execFileSync("mkfifo", [join(folder, "pipe")]);

  const bytes = loadImageFile(`${folder}/${name}`, 4);

  await expect(bytes).rejects.toMatchObject({ code: "image-invalid", details: { reason } });
});

test.for(["/dev/zero", "/dev/null"])("loadImageFile() refuses the device %s", async (path) => {
  await expect(loadImageFile(path, 100)).rejects.toThrow("it is not a regular file");
});

test.skipIf(process.platform !== "linux")("loadImageFile() refuses a file that fails while it is read", async () => {
  await expect(loadImageFile("/proc/self/mem", 100)).rejects.toMatchObject({
    code: "image-invalid",
    details: { reason: "it cannot be read (EIO)" },
  });
});

test("loadImageFile() refuses an empty path", async () => {
  await expect(loadImageFile("", 100)).rejects.toThrow("the path is empty");
});
