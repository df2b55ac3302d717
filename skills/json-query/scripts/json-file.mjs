// Reads JSON and JSON Lines, and ends the program with one line when that is not possible.
import { readFileSync, statSync } from "node:fs";

const maxBytes = 256 * 1024 * 1024;

// Wrong flags, and a document that is nested too deeply to walk through, end here with one line.
process.on("uncaughtException", (cause) => fail(`cannot go on: ${cause.message}`));

/** Ends the program: what is wrong goes to standard error. */
export function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** The value in a file; `-` is standard input. */
export function readJson(path) {
  try {
    if (path !== "-" && statSync(path).size > maxBytes) fail(`${path}: it is larger than ${maxBytes} bytes`);
    return parseJson(readFileSync(path === "-" ? 0 : path, "utf8"));
  } catch (cause) {
    return fail(`${path}: ${cause.message.slice(0, 300)}`);
  }
}

/** One document, or a list of those on the lines. */
function parseJson(content) {
  const text = content.replace(/^\uFEFF/u, "");
  try {
    return JSON.parse(text);
  } catch (cause) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    if (lines.length < 2) throw cause;
    try {
      return lines.map((line) => JSON.parse(line));
    } catch {
      throw cause;
    }
  }
}

/** Tells what a value is. */
export function typeOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

/** A step of a path as text. */
export function joinPath(path, key) {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/** Prints the answer. */
export function print(answer) {
  process.stdout.write(`${typeof answer === "string" ? answer : JSON.stringify(answer, null, 2)}\n`);
}
