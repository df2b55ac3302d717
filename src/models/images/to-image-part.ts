import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { KitbagError } from "../../core/errors.ts";
import type { ModelMessage } from "../model.ts";
import { showUrl } from "./download-image.ts";
import type { ImageFile } from "./image-file.ts";
import { readImage } from "./read-image.ts";

/** A picture in a message. */
export type ImagePart = Extract<Extract<ModelMessage, { role: "user" }>["content"][number], { readonly type: "file" }>;

/** Where a picture is: a path, a URL (`http`, `https`, `data`, `file`), or its bytes. */
export type ImageSource = string | URL | Uint8Array | ArrayBuffer;

/** A picture that is called by a name of its own where several are shown. */
export interface NamedImage {
  readonly name: string;
  readonly image: ImageSource;
}

/** How {@link toImagePart} reads. */
export interface ImagePartOptions {
  /** What the picture is called where several are shown. @default the name of the file, if there is one */
  readonly name?: string;
  /** The most bytes that a picture may have before it is made smaller for a model. @default 52428800 */
  readonly maxBytes?: number;
}

/** The most bytes that a picture may have before it is made smaller for a model. */
export const maxSourceBytes: number = 50 * 1024 ** 2;

/**
 * Makes the part of a message that is a picture. It is the same for every model: what a provider does not take is converted when a
 * model is asked. What the picture is, is found out by its bytes. A picture on the web is not downloaded here.
 *
 * @throws {KitbagError} `image-invalid` if there is no picture, or one that is broken or too large.
 *
 * @example
 * ```ts
 * import { toImagePart } from "kitbag/models";
 *
 * const dot = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
 * const part = await toImagePart(`data:image/png;base64,${dot}`);
 *
 * console.assert(part.mediaType === "image/gif"); // by its bytes, whatever the URL says
 * ```
 */
export async function toImagePart(source: ImageSource, options: ImagePartOptions = {}): Promise<ImagePart> {
  const { name } = options;
  const part = await readSource(source, options);
  return name === undefined ? part : { ...part, filename: name };
}

async function readSource(source: ImageSource, { maxBytes = maxSourceBytes }: ImagePartOptions): Promise<ImagePart> {
  if (source instanceof Uint8Array) return fromBytes(source, "bytes", maxBytes);
  if (source instanceof ArrayBuffer) return fromBytes(new Uint8Array(source), "bytes", maxBytes);
  const url = findUrl(source);
  if (url?.protocol === "data:") return fromBytes(parseDataUrl(url, maxBytes), "data URL", maxBytes);
  if (url?.protocol === "http:" || url?.protocol === "https:") {
    return { type: "file", mediaType: "image", data: { type: "url", url }, ...toFilename(url.pathname) };
  }
  if (url !== undefined && url.protocol !== "file:") {
    const reason = "a picture has a path, or a URL with http, https, data or file";
    throw new KitbagError("image-invalid", { image: `${url.protocol}…`, reason });
  }
  const path = url === undefined ? String(source) : toPath(url);
  return { ...toPart(readImage(await loadImageFile(path, maxBytes), path)), ...toFilename(path) };
}

function toFilename(path: string): { readonly filename?: string } {
  const name = basename(path);
  return name === "" ? {} : { filename: name };
}

/** Reads the bytes of a picture that is written in a URL. */
export function parseDataUrl({ pathname }: URL, maxBytes: number): Uint8Array {
  const refuse = (reason: string): KitbagError<"image-invalid"> =>
    new KitbagError("image-invalid", { image: "data URL", reason });
  const [, base64, data] = /^[^,]*?(;\s*base64\s*)?,(.*)$/isu.exec(pathname) ?? [];
  if (data === undefined) throw refuse("there is no comma before its data");
  if (base64 === undefined) throw refuse("its data is not written in base64");
  if (data.length > maxBytes * 2) throw refuse(`it has more than the ${maxBytes} bytes that there may be`);
  // White space stands in many that were copied from somewhere.
  const bare = data.replaceAll(/%20|\s/gu, "");
  const text = bare.replaceAll(/%2b/giu, "+").replaceAll(/%2f/giu, "/").replaceAll(/%3d/giu, "=");
  if (/[^\w+/=-]/u.test(text)) throw refuse("its data is not written in base64");
  return new Uint8Array(Buffer.from(text, "base64"));
}

function toPart({ mediaType, bytes }: ImageFile): ImagePart {
  return { type: "file", mediaType, data: { type: "data", data: bytes } };
}

function fromBytes(bytes: Uint8Array, name: string, maxBytes: number): ImagePart {
  if (bytes.length <= maxBytes) return toPart(readImage(bytes, name));
  const reason = `it has ${bytes.length} bytes, and the most are ${maxBytes}`;
  throw new KitbagError("image-invalid", { image: name, reason });
}

/** A letter and a colon are a disk, not a protocol. */
function findUrl(source: string | URL): URL | undefined {
  if (source instanceof URL) return source;
  if (typeof source !== "string") {
    const reason = `found ${source === null ? "null" : typeof source}, expected a path, a URL or bytes`;
    throw new KitbagError("image-invalid", { image: "", reason });
  }
  if (!/^(?:https?|file|ftp|blob):\/\/|^(?:data|javascript):/iu.test(source)) return undefined;
  return URL.parse(source) ?? undefined;
}

function toPath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new KitbagError("image-invalid", { image: showUrl(url), reason: "it is no path of this machine" }, { cause });
  }
}

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
  // Without O_NONBLOCK, opening a named pipe without a writer would block forever.
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
