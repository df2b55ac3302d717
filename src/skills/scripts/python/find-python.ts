import { closeSync, openSync, readSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * The Python that `PATH` leads to, past scripts of that name: version managers put some there that take longer to choose a Python
 * than it takes to start.
 */
export function findPython(path = process.env["PATH"] ?? ""): string {
  const places = path.split(delimiter).filter(isAbsolute);
  return places.map((place) => join(place, "python3")).find(isBinary) ?? "python3";
}

function isBinary(file: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return false;
  }
  try {
    const start = Buffer.alloc(2);
    return readSync(descriptor, start) === 2 && start.toString("latin1") !== "#!";
  } catch {
    return false;
  } finally {
    closeSync(descriptor);
  }
}
