import { isUtf8 } from "node:buffer";

import type { WrittenFile } from "../../../core/call-files.ts";
import { isKitbagError } from "../../../core/errors.ts";
import { mayCallTool } from "../../../core/scopes.ts";
import { toKitbagUri } from "./kitbag-uri.ts";
import type { ResourcePart } from "./resource-part.ts";

const mimeType = "text/plain";

/** What was read stays as it is: a handle is made of the bytes. */
const dayMs = 24 * 60 * 60 * 1000;

const wholeNumber = /^\d{1,15}$/u;

/** What a caller needs the scope of: a resource gives what this tool gives. */
const readOutput = { tool: { name: "read_output", annotations: { readOnly: true } }, owner: "global" };

/**
 * Outputs that were too large to hand over, page by page. The user whose call made one reads it with its handle, if they may call
 * `read_output`. There is no way to find a handle, so none is listed.
 */
export const outputResources: ResourcePart = {
  kind: "outputs",
  isFor: ({ caller }) => mayCallTool(caller.scopes, readOutput),
  templates: [
    {
      name: "output",
      title: "Large output",
      uriTemplate: "kitbag://outputs/{handle}{?offset}",
      description:
        "An output that was too large to hand over, from a byte on; _meta has the URI of the next page as kitbag/next",
      mimeType,
    },
  ],
  list: () => [],
  async read({ name: handle, query }, { session, caller: { id: user } }) {
    const given = query.get("offset") ?? "0";
    if (!wholeNumber.test(given)) return undefined;
    const page = await ifKept(session.readOutput(handle, { offset: Number(given), user }));
    if (page === undefined) return undefined;
    const { text, offset, nextOffset, bytes } = page;
    const uri = toKitbagUri("outputs", handle, given === "0" ? {} : { offset: given });
    const next =
      nextOffset === undefined ? {} : { "kitbag/next": toKitbagUri("outputs", handle, { offset: String(nextOffset) }) };
    const _meta = { "kitbag/offset": offset, "kitbag/bytes": bytes, ...next };
    return { contents: [{ uri, mimeType, text, _meta }], ttlMs: dayMs };
  },
};

/** Answers `undefined` if nothing is kept for the user under the handle. */
async function ifKept<Found>(reading: Promise<Found>): Promise<Found | undefined> {
  try {
    return await reading;
  } catch (cause) {
    if (isKitbagError(cause, "output-missing")) return undefined;
    throw cause;
  }
}

/** The maximum number of bytes of a file in one answer. */
const fileBytes = 1024 * 1024;

/** The URI of a file that a call wrote and that is kept; `undefined` for any other. */
export function toFileUri({ path, handle }: WrittenFile): string | undefined {
  return handle === undefined ? undefined : toKitbagUri("files", handle, { name: path.split("/").at(-1) ?? "" });
}

/**
 * Files that tools wrote and that were not saved. The user whose call wrote one reads it with its handle, under the same conditions as a large
 * output. One that is text comes as text; any other, and one that is longer than an answer, in base64.
 */
export const fileResources: ResourcePart = {
  kind: "files",
  isFor: outputResources.isFor,
  templates: [
    {
      name: "file",
      title: "File of a call",
      uriTemplate: "kitbag://files/{handle}{?name,offset}",
      description: "A file that a tool wrote, from a byte on; _meta has the URI of the next part as kitbag/next",
    },
  ],
  list: () => [],
  async read({ name: handle, query }, { session, caller: { id: user } }) {
    const [name = "", given = "0"] = [query.get("name"), query.get("offset")];
    if (!wholeNumber.test(given)) return undefined;
    const offset = Number(given);
    const whole = await ifKept(session.readOutputBytes(handle, { user }));
    if (whole === undefined) return undefined;
    const bytes = whole.length;
    const end = Math.min(offset + fileBytes, bytes);
    const part = whole.subarray(offset, end);
    const toUri = (from: number): string =>
      toKitbagUri("files", handle, { ...(name !== "" && { name }), ...(from > 0 && { offset: String(from) }) });
    const isText = part.length === bytes && isUtf8(part);
    const content = isText
      ? { text: Buffer.from(part).toString("utf8") }
      : { blob: Buffer.from(part).toString("base64") };
    const next = end < bytes ? { "kitbag/next": toUri(end) } : {};
    const _meta = { "kitbag/offset": offset, "kitbag/bytes": bytes, ...next };
    return {
      contents: [{ uri: toUri(offset), mimeType: findMimeType(name, isText), ...content, _meta }],
      ttlMs: dayMs,
    };
  },
};

const mimeTypes: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  webp: "image/webp",
  xml: "application/xml",
  zip: "application/zip",
};

function findMimeType(name: string, isText: boolean): string {
  const ending = /\.(\w+)$/u.exec(name)?.[1]?.toLowerCase() ?? "";
  const known = Object.hasOwn(mimeTypes, ending) ? mimeTypes[ending] : undefined;
  return known ?? (isText ? mimeType : "application/octet-stream");
}
