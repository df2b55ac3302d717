import { type FileHandle, open } from "node:fs/promises";

/**
 * Says what is wrong with a model file before it is loaded: it is not there, is no GGUF file, or was cut. `undefined` if it is whole, as
 * far as its header says. No length in it is believed that the file cannot hold.
 */
export async function findGgufProblem(path: string): Promise<string | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read (${code ?? "no reason is known"})`;
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return `${path} is no file`;
    return await checkHeader(new Reader(file, stats.size));
  } catch (cause) {
    if (cause instanceof CutError) return cause.message;
    throw cause;
  } finally {
    await file.close();
  }
}

/** It ends before what its header says: thrown while it is read. */
class CutError extends Error {}

/** Models have some hundreds of either. */
const mostEntries = 100_000;

async function checkHeader(reader: Reader): Promise<string | undefined> {
  if (reader.size < 4 || (await reader.bytes(4)).toString("latin1") !== "GGUF") return "it is no GGUF file";
  const version = await reader.u32();
  if (version < 2 || version > 3)
    return `it is a GGUF file of version ${version}, and llama.cpp reads versions 2 and 3`;
  const tensors = await reader.u64();
  const entries = await reader.u64();
  if (tensors > mostEntries || entries > mostEntries) return "its header is broken";
  for (let entry = 0; entry < entries; entry++) {
    reader.skip(await reader.u64());
    await skipValue(reader, await reader.u32());
  }
  let lastOffset = 0;
  for (let tensor = 0; tensor < tensors; tensor++) {
    reader.skip(await reader.u64());
    const dimensions = await reader.u32();
    if (dimensions > 8) return "its header is broken";
    reader.skip(dimensions * 8 + 4);
    lastOffset = Math.max(lastOffset, await reader.u64());
  }
  const least = reader.position + lastOffset;
  return least < reader.size ? undefined : describeCut(reader.size, least);
}

function describeCut(size: number, least: number): string {
  return `the file was cut: it has ${show(size)} bytes, and its header says at least ${show(least)}; download it again`;
}

function show(bytes: number): string {
  return bytes.toLocaleString("en-US");
}

/** The bytes of a value of each type; texts (8) and lists (9) say their length. */
const sizes: readonly number[] = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

async function skipValue(reader: Reader, type: number, depth = 0): Promise<void> {
  if (type === 8) return reader.skip(await reader.u64());
  if (type !== 9) return reader.skip(sizes[type] ?? 8);
  const inner = await reader.u32();
  const count = await reader.u64();
  if (inner !== 8 && inner !== 9) return reader.skip(count * (sizes[inner] ?? 8));
  if (depth > 4) return reader.skip(Infinity);
  for (let item = 0; item < count; item++) await skipValue(reader, inner, depth + 1);
}

const blockBytes = 1024 ** 2;

/** Reads numbers one after the other, a block of the file at a time. */
class Reader {
  readonly size: number;
  position = 0;
  readonly #file: FileHandle;
  #block = Buffer.alloc(0);
  #start = 0;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  async bytes(length: number): Promise<Buffer> {
    if (this.position + length > this.size) throw new CutError(describeCut(this.size, this.position + length));
    const from = this.position - this.#start;
    this.position += length;
    if (from >= 0 && from + length <= this.#block.length) return this.#block.subarray(from, from + length);
    this.#start = this.position - length;
    const { buffer, bytesRead } = await this.#file.read({ buffer: Buffer.alloc(blockBytes), position: this.#start });
    this.#block = buffer.subarray(0, bytesRead);
    if (bytesRead < length) throw new CutError(describeCut(this.size, this.position));
    return this.#block.subarray(0, length);
  }

  async u32(): Promise<number> {
    return (await this.bytes(4)).readUInt32LE();
  }

  /** A larger number than the file has bytes is as good as any that is too large. */
  async u64(): Promise<number> {
    return Number((await this.bytes(8)).readBigUInt64LE());
  }

  skip(length: number): void {
    if (this.position + length > this.size) throw new CutError(describeCut(this.size, this.position + length));
    this.position += length;
  }
}
