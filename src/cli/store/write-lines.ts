import { once } from "node:events";
import { createWriteStream, existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";

import { type Invocation, usageError } from "../cli-command.ts";
import { describeFileError, renameDurably } from "../../platform/files.ts";

/** Takes lines, one after the other; the next may come when it is done. */
export type LineSink = (line: string) => Promise<void>;

/** The file that lines go to; none for standard output, which may also be named `-`. */
export function toLinesFile(word: string | undefined): string | undefined {
  return word === "-" ? undefined : word;
}

/** After so many lines it waits until they are read. */
const linesAtOnce = 256;

/**
 * Writes lines to a new file for their owner alone, which is there only when it is complete; to standard output without one.
 *
 * @throws {KitbagError} `usage-invalid` if there is something at `path`, it cannot be written, or standard output must be JSON.
 */
export async function writeLines<Result>(
  path: string | undefined,
  invocation: Invocation,
  work: (sink: LineSink) => Promise<Result>,
): Promise<Result> {
  if (path !== undefined) return writeFile(resolve(invocation.cwd, path), work);
  if (invocation.json) throw usageError("Cannot print lines and one JSON document: name a file for the lines");
  const { terminal } = invocation;
  let count = 0;
  const result = await work(async (line) => {
    terminal.print(terminal.toShown(line));
    count += 1;
    if (count % linesAtOnce === 0) await terminal.flush();
  });
  await terminal.flush();
  return result;
}

async function writeFile<Result>(path: string, work: (sink: LineSink) => Promise<Result>): Promise<Result> {
  if (existsSync(path)) throw usageError(`Cannot write ${path}: there is something already; name another file`);
  const half = `${path}.${process.pid}.tmp`;
  const stream = createWriteStream(half, { flags: "wx", mode: 0o600 });
  const failed = new Promise<never>((_, reject) => stream.once("error", reject));
  failed.catch(() => undefined);
  try {
    await Promise.race([once(stream, "open"), failed]);
    const result = await work(async (line) => {
      if (!stream.write(line)) await Promise.race([once(stream, "drain"), failed]);
    });
    await Promise.race([new Promise((done) => stream.end(done)), failed]);
    renameDurably(half, path);
    return result;
  } catch (cause) {
    stream.destroy();
    rmSync(half, { force: true });
    if (typeof (cause as NodeJS.ErrnoException).syscall !== "string") throw cause;
    throw usageError(`Cannot write ${path}: ${describeFileError(cause)}`);
  }
}
