import { pathToFileURL } from "node:url";
import { join } from "node:path";

import { expect, test } from "vitest";

import { makeImage } from "../../../test/support/make-image.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { toImagePart, type ImageSource } from "./to-image-part.ts";

test("toImagePart() takes a path, a URL of a file, a data URL and bytes, and finds the same picture", async () => {
  const bytes = await makeImage("jpeg");
  const path = join(createFolder({ "looks like a.png": bytes }), "looks like a.png");
  const text = Buffer.from(bytes).toString("base64");

  const parts = await Promise.all([
    toImagePart(path),
    toImagePart(pathToFileURL(path)),
    toImagePart(pathToFileURL(path).href),
    toImagePart(`data:image/png;base64,${text}`),
    toImagePart(`data:image/png;base64, ${text.replaceAll(/.{60}/gu, "$& \n")}`),
    toImagePart(`DATA:;Base64,${encodeURIComponent(text)}`),
    toImagePart(`data:image/png;charset=utf-8;base64,${text.replaceAll("+", "-").replaceAll("/", "_")}`),
    toImagePart(bytes),
    toImagePart(Buffer.from(bytes)),
    toImagePart(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer),
  ]);

  for (const part of parts) {
    expect(part).toMatchObject({ type: "file", mediaType: "image/jpeg", data: { type: "data" } });
    expect(Buffer.compare((part.data as { data: Uint8Array }).data, bytes)).toBe(0);
  }
});

test.for([
  ["https://example.com/a.png?b=c", "a.png"],
  ["http://example.com/", undefined],
  ["HTTPS://EXAMPLE.COM/A", "A"],
] as const)("toImagePart() leaves %s where it is", async ([url, filename]) => {
  expect(await toImagePart(url)).toEqual({
    type: "file",
    mediaType: "image",
    data: { type: "url", url: new URL(url) },
    ...(filename !== undefined && { filename }),
  });
});

test("toImagePart() calls a picture as its file, or as it is told", async () => {
  const bytes = await makeImage("png");
  const path = join(createFolder({ "receipt.png": bytes }), "receipt.png");

  const names = [
    (await toImagePart(path)).filename,
    (await toImagePart(path, { name: "March" })).filename,
    (await toImagePart(bytes)).filename,
    (await toImagePart(bytes, { name: "April" })).filename,
  ];

  expect(names).toEqual(["receipt.png", "March", undefined, "April"]);
});

test.for<[what: string, source: unknown, message: RegExp]>([
  ["an empty path", "", /the path is empty/u],
  ["a path that is not there", "missing/x.png", /"missing\/x.png": there is no such file/u],
  ["a path that looks like a protocol of a disk", "C:\\x.png", /there is no such file/u],
  ["a directory", "src", /it is a directory/u],
  ["a zero byte", "x\0.png", /"x\\\\0.png": a path has no zero byte/u],
  ["another protocol", "ftp://example.com/x.png", /"ftp:…": a picture has a path/u],
  ["a program", "javascript:alert(1)", /a picture has a path/u],
  ["a URL of a file elsewhere", "file://example.com/x.png", /it is no path of this machine/u],
  ["a data URL without a comma", "data:image/png;base64", /no comma/u],
  ["a data URL that is not base64", "data:image/svg+xml,<svg/>", /not written in base64/u],
  ["a data URL with other characters", "data:image/png;base64,AA AA<", /not written in base64/u],
  ["an empty data URL", "data:image/png;base64,", /it is empty/u],
  ["a data URL of no picture", `data:image/png;base64,${btoa("hello")}`, /no kind of picture/u],
  ["no bytes", new Uint8Array(), /"bytes": it is empty/u],
  ["nothing", undefined, /found undefined, expected a path/u],
  ["null", null, /found null, expected a path/u],
  ["a number", 7, /found number, expected a path/u],
  ["an object", { path: "x.png" }, /found object, expected a path/u],
])("toImagePart() refuses %s", async ([, source, message]) => {
  const part = toImagePart(source as ImageSource);

  await expect(part).rejects.toThrow(message);
  await expect(part).rejects.toMatchObject({ code: "image-invalid" });
});

test.for<[what: string, toSource: (bytes: Uint8Array) => ImageSource]>([
  ["bytes", (bytes) => bytes],
  ["a data URL", (bytes) => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`],
  ["a file", (bytes) => join(createFolder({ "x.png": bytes }), "x.png")],
])("toImagePart() refuses %s with more bytes than there may be", async ([, toSource]) => {
  const bytes = await makeImage("png", { width: 200, height: 200, noise: true });

  const part = toImagePart(toSource(bytes), { maxBytes: 1000 });

  await expect(part).rejects.toThrow(/1000/u);
});
