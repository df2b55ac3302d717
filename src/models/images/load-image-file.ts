import { constants } from "node:fs";
import { open } from "node:fs/promises";

import { KitbagError } from "../../core/errors.ts";

/**
 * Reads the bytes of a picture from disk: of a regular file alone, and never more than `maxBytes`.
 *
 * @throws {KitbagError} `image-invalid` if it is something else, cannot be read, or is too large.
 */
export async function loadImageFile(path: string, maxBytes: number): Promise<Uint8Array> {
  const refuse = (reason: string, cause?: unknown): KitbagError<"image-invalid"> =>
    new KitbagError("image-invalid", { image: path.replaceAll("\0", "\\0"), reason }, { cause });
  if (path === "") throw refuse("the path is empty");
  if (path.includes("\0")) throw refuse("a path has no zero byte");
  // Without O_NONBLOCK a named pipe that nobody writes to would never open.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw refuse(describeProblem(cause), cause);
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse(stats.isDirectory() ? "it is a directory" : "it is not a regular file");
    if (stats.size > maxBytes) throw refuse(`it has ${stats.size} bytes, and the most are ${maxBytes}`);
    // It may grow while it is read: one byte more than there may be tells.
    const buffer = new Uint8Array(Math.min(stats.size, maxBytes) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = await file.read(buffer, length, buffer.length - length, length).then(
        ({ bytesRead }) => bytesRead,
        (cause: unknown) => {
          throw refuse(describeProblem(cause), cause);
        },
      );
    }
    if (length > stats.size) throw refuse("it changed while it was read");
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "it may not be read",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "the path is too long",
  ENXIO: "it is not a regular file",
};

function describeProblem(cause: unknown): string {
  const code = String((cause as { code?: unknown } | null)?.code);
  return problems[code] ?? `it cannot be read (${code})`;
}
