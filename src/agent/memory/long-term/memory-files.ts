import { isKitbagError, KitbagError } from "../../../core/errors.ts";
import { isRecord, showValue } from "../../../core/json.ts";
import type { KeyValueStore } from "../../../core/store.ts";
import type { MemoryLimits } from "./memory-rows.ts";

/** A file of a memory. */
export interface MemoryFile {
  readonly path: string;
  readonly text: string;
  /** When it was last written, in milliseconds since 1970. */
  readonly time: number;
}

/** One of the six commands of a memory folder, with the names that models know from Claude's memory tool. */
export type FileCommand =
  | { readonly command: "view"; readonly path: string; readonly view_range?: readonly number[] }
  | { readonly command: "create"; readonly path: string; readonly file_text: string }
  | { readonly command: "str_replace"; readonly path: string; readonly old_str: string; readonly new_str?: string }
  | { readonly command: "insert"; readonly path: string; readonly insert_line: number; readonly insert_text: string }
  | { readonly command: "delete"; readonly path: string }
  | { readonly command: "rename"; readonly old_path: string; readonly new_path: string };

const root = "/memories";
const longestPath = 200;
const deepest = 8;

/**
 * Notes of a model, as files under `/memories`. They are values in the store: no path reaches a file of the machine.
 *
 * **Contract**: of two changes of one file at the same time, one is refused.
 */
export class MemoryFiles {
  readonly #kv: KeyValueStore;
  readonly #prefix: string;
  readonly #limits: MemoryLimits;
  readonly #now: () => number;

  /** All its keys begin with `prefix`. */
  constructor(kv: KeyValueStore, prefix: string, limits: MemoryLimits, now: () => number) {
    this.#kv = kv;
    this.#prefix = `${prefix}file:`;
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Runs a command, and answers with a text for the model.
   *
   * @throws {KitbagError} `memory-invalid` for a wrong path or text, `memory-full`, `name-not-found`.
   */
  run(command: FileCommand): Promise<string> {
    switch (command.command) {
      case "view":
        return this.#view(toPath(command.path), command.view_range);
      case "create":
        return this.#create(toFilePath(command.path), toText(command.file_text, "file_text"));
      case "str_replace":
        return this.#replace(toFilePath(command.path), toText(command.old_str, "old_str"), command.new_str ?? "");
      case "insert":
        return this.#insert(toFilePath(command.path), command.insert_line, toText(command.insert_text, "insert_text"));
      case "delete":
        return this.#delete(toFilePath(command.path));
      case "rename":
        return this.#rename(toFilePath(command.old_path), toFilePath(command.new_path));
    }
  }

  async list(): Promise<readonly MemoryFile[]> {
    const files = await this.#kv.list({ prefix: this.#prefix, limit: this.#limits.files });
    return files.flatMap(([key, { value }]) => {
      const { text, time } = isRecord(value) ? value : {};
      return typeof text === "string" ? [{ path: key.slice(this.#prefix.length), text, time: Number(time) }] : [];
    });
  }

  async #view(path: string, range: readonly number[] | undefined): Promise<string> {
    const found = path === root ? await this.list() : await this.#findAll(path);
    const [file] = found;
    if (file?.path === path) return showLines(file, range);
    const lines = found.map((one) => `${Buffer.byteLength(one.text)} bytes\t${one.path}`);
    return [`The files in ${path}:`, ...(lines.length === 0 ? ["(none)"] : lines)].join("\n");
  }

  async #create(path: string, text: string): Promise<string> {
    await this.#write(path, text, (await this.#kv.get(this.#prefix + path))?.version ?? 0);
    return `Wrote ${path}`;
  }

  async #replace(path: string, old: string, next: string): Promise<string> {
    const { text, version } = await this.#read(path);
    const count = old === "" ? 0 : text.split(old).length - 1;
    if (count !== 1) {
      const expected = "a text that is in the file exactly once";
      throw new KitbagError("memory-invalid", { what: "old_str", found: `${count} times in ${path}`, expected });
    }
    await this.#write(
      path,
      text.replace(old, () => next),
      version,
    );
    return `Edited ${path}`;
  }

  async #insert(path: string, line: number, added: string): Promise<string> {
    const { text, version } = await this.#read(path);
    const lines = text.split("\n");
    if (!Number.isInteger(line) || line < 0 || line > lines.length) {
      const expected = `a whole number from 0 to ${lines.length}`;
      throw new KitbagError("memory-invalid", { what: "insert_line", found: showValue(line), expected });
    }
    await this.#write(path, lines.toSpliced(line, 0, added.replace(/\n$/u, "")).join("\n"), version);
    return `Edited ${path}`;
  }

  async #delete(path: string): Promise<string> {
    for (const file of await this.#findAll(path)) await this.#kv.delete(this.#prefix + file.path);
    return `Deleted ${path}`;
  }

  async #rename(from: string, to: string): Promise<string> {
    const moved = await this.#findAll(from);
    const isTaken = (await this.list()).some(({ path }) => path === to || path.startsWith(`${to}/`));
    if (isTaken || to.startsWith(`${from}/`))
      throw invalidPath(to, "a path that is free, and not inside of the old one");
    for (const file of moved) {
      const path = toFilePath(to + file.path.slice(from.length));
      await this.#kv.set(this.#prefix + path, { text: file.text, time: this.#now() }, { ifVersion: 0 });
      await this.#kv.delete(this.#prefix + file.path);
    }
    return `Renamed ${from} to ${to}`;
  }

  /** The file at a path, or the files in the folder. */
  async #findAll(path: string): Promise<readonly MemoryFile[]> {
    const found = (await this.list()).filter((file) => file.path === path || file.path.startsWith(`${path}/`));
    if (found.length > 0) return found;
    throw missing(path);
  }

  async #read(path: string): Promise<{ readonly text: string; readonly version: number }> {
    const kept = await this.#kv.get(this.#prefix + path);
    const { text } = isRecord(kept?.value) ? kept.value : {};
    if (kept === undefined || typeof text !== "string") throw missing(path);
    return { text, version: kept.version };
  }

  async #write(path: string, text: string, version: number): Promise<void> {
    const { files, fileBytes } = this.#limits;
    const others = (await this.list()).filter((file) => file.path !== path);
    if (others.length >= files) throw new KitbagError("memory-full", { what: "files", limit: files });
    const bytes = others.reduce((sum, file) => sum + Buffer.byteLength(file.text), Buffer.byteLength(text));
    if (bytes > fileBytes) throw new KitbagError("memory-full", { what: "bytes of files", limit: fileBytes });
    try {
      const value = { text: text.toWellFormed(), time: this.#now() };
      await this.#kv.set(this.#prefix + path, value, { ifVersion: version });
    } catch (cause) {
      if (!isKitbagError(cause, "store-conflict")) throw cause;
      const expected = "the file as it was read: another call has changed it; view it again";
      throw new KitbagError("memory-invalid", { what: path, found: "another version", expected });
    }
  }
}

function missing(path: string): KitbagError {
  return new KitbagError("name-not-found", { what: "memory file", name: path, cure: "view /memories lists the files" });
}

function showLines({ path, text }: MemoryFile, range: readonly number[] | undefined): string {
  const lines = text.split("\n");
  const [first = 1, last = -1] = range ?? [];
  const end = last === -1 ? lines.length : last;
  if (!(first >= 1 && end >= first && first <= lines.length)) {
    const expected = `two line numbers from 1 to ${lines.length}, the second -1 for the end`;
    throw new KitbagError("memory-invalid", { what: "view_range", found: showValue(range), expected });
  }
  const shown = lines.slice(first - 1, end).map((line, index) => `${String(first + index).padStart(6)}\t${line}`);
  return `${path}, with line numbers:\n${shown.join("\n")}`;
}

function toText(text: unknown, what: string): string {
  if (typeof text === "string") return text;
  throw new KitbagError("memory-invalid", { what, found: showValue(text), expected: "a text" });
}

/** Checks a path. What could mean another place is refused and not tidied: a model that writes it means something else. */
function toPath(given: unknown): string {
  const expected = `a path such as /memories/notes.md: letters, digits, spaces and ._-@+(), at most ${deepest} deep and ${longestPath} characters`;
  if (typeof given !== "string" || given.length > longestPath) throw invalidPath(given, expected);
  const path = given.replace(/\/+$/u, "").normalize("NFC");
  const [empty, first, ...names] = path.split("/");
  const isFileName = (name: string): boolean =>
    /^[\p{L}\p{N}._\-@+() ]+$/u.test(name) && !/^\.+$/u.test(name) && name.trim() === name;
  if (empty !== "" || first !== "memories" || names.length > deepest || !names.every(isFileName)) {
    throw invalidPath(given, expected);
  }
  return path;
}

function toFilePath(given: unknown): string {
  const path = toPath(given);
  if (path === root) throw invalidPath(path, "the path of a file or folder in /memories");
  return path;
}

function invalidPath(found: unknown, expected: string): KitbagError {
  return new KitbagError("memory-invalid", { what: "the path of a memory file", found: showValue(found), expected });
}
