import type { Sharp, SharpOptions } from "sharp";

import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import { loadPackage } from "../../platform/load-package.ts";
import { isInnerUrl } from "../../sandbox/download/guarded-fetch.ts";
import type { Lookup } from "../../sandbox/egress/network-rule.ts";
import type { Model, ModelMessage, ModelPrompt } from "../model.ts";
import { countImages, isImage } from "./count-images.ts";
import { downloadImage, showUrl } from "./download-image.ts";
import { createImageCache, type ImageCache } from "./image-cache.ts";
import type { ImageFile } from "./image-file.ts";
import { providerOf, providerRow, type ImageLimits } from "../providers.ts";
import { maxPixels, readImage } from "./read-image.ts";
import { type ImagePart, maxSourceBytes, parseDataUrl } from "./to-image-part.ts";

/** Options of {@link prepareImages}. */
export interface PrepareImagesOptions {
  /** Pass the same cache for all steps of a conversation. @default a new cache for each call */
  readonly cache?: ImageCache;
  /** Private network addresses that images may be downloaded from, as rules: `127.0.0.1:8080`. @default none */
  readonly allow?: readonly string[];
  /** For one download. @default 20000 */
  readonly limitMs?: number;
  /** Of one download. @default 52428800 */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** @default the system's resolver */
  readonly lookup?: Lookup;
}

/**
 * Makes the pictures of a prompt such that `model` takes them, in messages and in the results of tools: those on the web stay
 * where they are if its provider downloads them itself, and are downloaded otherwise; those of a type or a size that the provider
 * refuses are converted. Where a provider takes no pictures in results, they come in a message after them.
 *
 * Contract: the prompt is not changed, and is answered itself if nothing has to be. The same prompt gives the same bytes.
 *
 * @throws {KitbagError} `image-invalid`, `network-refused` or `network-failed` if a picture cannot be given to a model,
 * `package-missing` if one must be converted and `sharp` is not installed; whatever `signal` was aborted with
 *
 * @example
 * ```ts
 * import { prepareImages } from "kitbag/models";
 *
 * const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }];
 * const prepared = await prepareImages(prompt, { provider: "anthropic.messages", supportedUrls: {} });
 *
 * console.assert(prepared === prompt); // there is no picture in it
 * ```
 */
export async function prepareImages(
  prompt: ModelPrompt,
  model: Pick<Model, "provider" | "supportedUrls">,
  options: PrepareImagesOptions = {},
): Promise<ModelPrompt> {
  const count = countImages(prompt);
  if (count === 0) return prompt;
  const limits = findImageLimits(model);
  const desk: Desk = {
    options,
    cache: options.cache ?? createImageCache(),
    limits,
    maxEdge: count > manyImages ? limits.maxEdgeOfMany : limits.maxEdge,
    urls: toUrlForms(await model.supportedUrls),
  };
  const moved = hasResultImages(prompt, model) ? moveResultImages(prompt) : prompt;
  const prepared = await Promise.all(moved.map((message) => prepareMessage(desk, message)));
  return prepared.every((message, index) => message === prompt[index]) ? prompt : prepared;
}

interface Desk {
  readonly options: PrepareImagesOptions;
  readonly cache: ImageCache;
  readonly limits: NamedImageLimits;
  readonly maxEdge: number;
  /** Forms of URLs of pictures that the provider downloads itself. */
  readonly urls: readonly RegExp[];
}

function toUrlForms(supported: Record<string, RegExp[]>): readonly RegExp[] {
  const keys = Object.keys(supported).filter((key) => key === "*" || key === "*/*" || key === "image/*");
  return keys.flatMap((key) => supported[key] ?? []);
}

async function prepareMessage(desk: Desk, message: ModelMessage): Promise<ModelMessage> {
  if (message.role === "user") {
    const content = await prepareParts(desk, message.content);
    return content === message.content ? message : { ...message, content };
  }
  if (message.role !== "tool") return message;
  const content = await Promise.all(
    message.content.map(async (part) => {
      if (part.type !== "tool-result" || part.output.type !== "content") return part;
      const value = await prepareParts(desk, part.output.value);
      return value === part.output.value ? part : { ...part, output: { ...part.output, value } };
    }),
  );
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
}

async function prepareParts<Part extends { readonly type: string }>(desk: Desk, parts: Part[]): Promise<Part[]> {
  const prepared = await Promise.all(
    parts.map(async (part) => (isImage(part) ? ((await preparePart(desk, part)) as Part & ImagePart) : part)),
  );
  return prepared.every((part, index) => part === parts[index]) ? parts : prepared;
}

async function preparePart(desk: Desk, part: ImagePart): Promise<ImagePart> {
  const { cache, limits, maxEdge } = desk;
  const { data } = part;
  // A file that the provider has already, and text, are no bytes of ours.
  if (data.type === "reference" || data.type === "text") return part;
  if (data.type === "url" && isForProvider(desk, data.url)) return part;
  const { image, isWhole } = await readPart(desk, part, data);
  const isSame = data.type === "data" && isWhole && image.mediaType === part.mediaType;
  if (fitsLimits(image, limits, maxEdge)) return isSame ? part : withBytes(part, image);
  const key = `${limits.provider} ${maxEdge} ${cache.digest(image.bytes)}`;
  return withBytes(part, await cache.recall(key, () => convertImage(image, limits, maxEdge)));
}

/** Tells whether the provider downloads a picture itself: it takes such URLs, and can follow this one. */
function isForProvider({ urls }: Desk, url: URL): boolean {
  return url.protocol !== "data:" && urls.some((form) => form.test(url.href)) && !isInnerUrl(url);
}

function withBytes(part: ImagePart, { mediaType, bytes }: ImageFile): ImagePart {
  return { ...part, mediaType, data: { type: "data", data: bytes } };
}

type Bytes = Extract<ImagePart["data"], { type: "data" | "url" }>;

/** `isWhole`: nothing was cut off. */
interface Read {
  readonly image: ImageFile;
  readonly isWhole: boolean;
}

async function readPart({ cache, options }: Desk, part: ImagePart, data: Bytes): Promise<Read> {
  const { maxBytes = maxSourceBytes, limitMs = 20_000, allow = [], signal, lookup } = options;
  const name = part.filename ?? "image";
  const read = (bytes: Uint8Array): Read => {
    const image = readImage(bytes, name);
    const isWhole = image.bytes.length === bytes.length;
    // The same object if nothing was cut off: its digest is known then.
    return { image: isWhole ? { ...image, bytes } : image, isWhole };
  };
  if (data.type === "data") {
    return read(typeof data.data === "string" ? new Uint8Array(Buffer.from(data.data, "base64")) : data.data);
  }
  const { url } = data;
  if (url.protocol === "data:") return read(parseDataUrl(url, maxBytes));
  const image = await cache.recall(`url ${url.href}`, async () => {
    const limits = { maxBytes, limitMs, allow, ...(signal && { signal }), ...(lookup && { lookup }) };
    return readImage(await downloadImage(url, limits), showUrl(url));
  });
  return { image, isWhole: true };
}

/** How many pictures are many. */
const manyImages = 20;

/** What every provider takes: for servers of which nothing is known, and for models that are several. */
const strictest: ImageLimits = {
  mediaTypes: ["image/png", "image/jpeg"],
  maxBytes: Math.floor((5 * 1024 ** 2 * 3) / 4),
  maxEdge: 8000,
  maxEdgeOfMany: 2000,
};

/** Which pictures a model takes, and whose limits these are. */
export interface NamedImageLimits extends ImageLimits {
  readonly provider: string;
}

/** Finds which pictures a model takes, by the name of its provider (`anthropic.messages`). */
export function findImageLimits(model: Pick<Model, "provider">): NamedImageLimits {
  const { images } = providerRow(model);
  return { provider: images === undefined ? "any" : providerOf(model), ...(images ?? strictest) };
}

type UserPart = Extract<ModelMessage, { role: "user" }>["content"][number];
type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type ToolPart = ToolMessage["content"][number];

/** Tells whether a prompt has pictures in results of tools that the model's provider takes no pictures in. */
function hasResultImages(prompt: ModelPrompt, { provider }: Pick<Model, "provider">): boolean {
  if (providerRow({ provider }).resultImages?.includes(provider) === true) return false;
  return prompt.some(({ role, content }) => role === "tool" && content.some((part) => toFiles(part).length > 0));
}

/** Moves the pictures of results into a message of the user right after all results; in their place stands where they are. */
function moveResultImages(prompt: ModelPrompt): ModelPrompt {
  const moved: ModelPrompt = [];
  let waiting: UserPart[] = [];
  for (const message of prompt) {
    // Results stand together: nothing may come between them.
    if (message.role !== "tool" && waiting.length > 0) {
      moved.push({ role: "user", content: waiting });
      waiting = [];
    }
    if (message.role !== "tool") moved.push(message);
    else moved.push({ ...message, content: message.content.map((part) => takeOut(part, waiting)) });
  }
  if (waiting.length > 0) moved.push({ role: "user", content: waiting });
  return moved;
}

function takeOut(part: ToolPart, waiting: UserPart[]): ToolPart {
  if (part.type !== "tool-result" || part.output.type !== "content" || toFiles(part).length === 0) return part;
  const label = `Image from the result of ${part.toolName} (${part.toolCallId}):`;
  const texts = part.output.value.map((item) => {
    if (!isImageFile(item)) return item.type === "text" ? item.text : JSON.stringify(item);
    waiting.push({ type: "text", text: label }, item);
    return "(The image is in the next message.)";
  });
  return { ...part, output: { type: "text", value: texts.join("\n") } };
}

type Item = Extract<Extract<ToolPart, { type: "tool-result" }>["output"], { type: "content" }>["value"][number];
type FileItem = Extract<Item, { type: "file" }>;

function toFiles(part: { readonly type: string }): readonly FileItem[] {
  const { output } = part as { output?: { type: string; value: readonly Item[] } };
  return output?.type === "content" ? output.value.filter(isImageFile) : [];
}

function isImageFile(item: Item): item is FileItem {
  return item.type === "file" && item.mediaType.startsWith("image");
}

type OpenSharp = (bytes: Uint8Array, options: SharpOptions) => Sharp;

/** Loads the package that converts pictures. */
type LoadSharp = (name: string, user: string) => Promise<unknown>;

const limitSeconds = 30;
const quality = 85;
/** A picture that is too many bytes is made smaller by this, so many times. */
const shrink = 0.7;
const tries = 8;
const smallestEdge = 64;

/** Tells whether a provider takes a picture as it is. */
export function fitsLimits({ mediaType, bytes, size }: ImageFile, limits: NamedImageLimits, maxEdge: number): boolean {
  if (!limits.mediaTypes.includes(mediaType) || bytes.length > limits.maxBytes) return false;
  return size === undefined || Math.max(size.width, size.height) <= maxEdge;
}

/**
 * Makes a picture that a provider takes out of one that it does not: of another type, smaller, turned the way that it is looked
 * at. Of a moving picture the first one stays, and of what a camera writes into it (place, time) nothing.
 *
 * @throws {KitbagError} `package-missing` if `sharp` is not installed, `image-invalid` if the picture cannot be converted.
 */
export async function convertImage(
  image: ImageFile,
  limits: NamedImageLimits,
  maxEdge: number,
  load: LoadSharp = loadPackage,
): Promise<ImageFile> {
  const sharp = await loadSharp(image, limits, load);
  try {
    const options = { limitInputPixels: maxPixels, failOn: "error", pages: 1 } as const;
    const { hasAlpha, autoOrient } = await sharp(image.bytes, options).metadata();
    const longest = Math.max(autoOrient.width, autoOrient.height);
    const isExact = hasAlpha || image.mediaType === "image/png" || image.mediaType === "image/gif";
    let edge = Math.min(maxEdge, longest);
    for (let attempt = 0; attempt < tries && edge >= Math.min(smallestEdge, longest); attempt++) {
      const turned = sharp(image.bytes, options)
        .autoOrient()
        .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
        .timeout({ seconds: limitSeconds });
      // Exactly as it was if that is small enough, else as a photograph.
      const exact = isExact && attempt === 0;
      const bytes = await (exact ? turned.png() : turned.flatten({ background: "white" }).jpeg({ quality })).toBuffer();
      if (bytes.length <= limits.maxBytes) return readImage(bytes, image.name);
      if (!exact) edge = Math.floor(edge * shrink);
    }
  } catch (cause) {
    if (isKitbagError(cause)) throw cause;
    const reason = `it cannot be converted from ${image.mediaType} (${describeCause(cause, 200)}); save it as PNG or JPEG`;
    throw new KitbagError("image-invalid", { image: image.name, reason }, { cause });
  }
  const reason = `it stays larger than the ${limits.maxBytes} bytes that ${limits.provider} takes; make it smaller`;
  throw new KitbagError("image-invalid", { image: image.name, reason });
}

async function loadSharp(image: ImageFile, limits: NamedImageLimits, load: LoadSharp): Promise<OpenSharp> {
  const provider = limits.provider === "any" ? "this model" : limits.provider;
  const user = `the image "${image.name}" (${image.mediaType}, ${image.bytes.length} bytes) with ${provider}, which takes it only converted or smaller`;
  return ((await load("sharp", user)) as { readonly default: OpenSharp }).default;
}
