import { KitbagError } from "../../core/errors.ts";
import { isInnerUrl } from "../../sandbox/download/guarded-fetch.ts";
import type { Lookup } from "../../sandbox/egress/network-rule.ts";
import type { Model, ModelMessage, ModelPrompt } from "../model.ts";
import { convertImage, findImageLimits, fitsLimits, measureImage, type NamedImageLimits } from "./convert-image.ts";
import { countImages, isImage } from "./count-images.ts";
import { downloadImage, showUrl } from "./download-image.ts";
import { createImageCache, type ImageCache } from "./image-cache.ts";
import type { ImageFile, ImageSize } from "./image-file.ts";
import { labelImages } from "./label-images.ts";
import { providerRow } from "../providers.ts";
import { readImage } from "./read-image.ts";
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
 * refuses are converted. Where a provider takes no pictures in results, they come in a message after them. Several pictures of a message
 * are labelled in order: "Image 1 (a.png):".
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
  const desk = await openDesk(model, count, options);
  const labelled = labelImages(hasResultImages(prompt, model) ? moveResultImages(prompt) : prompt);
  const prepared = await Promise.all(labelled.map((message) => prepareMessage(desk, message)));
  return prepared.every((message, index) => message === prompt[index]) ? prompt : prepared;
}

/** The size of a picture, and the size in which a model is sent it, in a question with so many. */
export async function findSentImage(
  part: ImagePart,
  model: Pick<Model, "provider" | "supportedUrls">,
  count: number,
): Promise<{ readonly original: ImageSize; readonly sent: ImageSize }> {
  const desk = await openDesk(model, count, {});
  const measure = async ({ data, filename = "image" }: ImagePart): Promise<ImageSize> => {
    if (data.type === "data") {
      const { image } = await readPart(desk, part, data);
      return image.size ?? (await measureImage(image, desk.limits));
    }
    throw new KitbagError("image-invalid", {
      image: filename,
      reason: "its size cannot be read; give its width and height",
    });
  };
  const sent = await preparePart(desk, part);
  return { original: await measure(part), sent: await measure(sent) };
}

async function openDesk(
  model: Pick<Model, "provider" | "supportedUrls">,
  count: number,
  options: PrepareImagesOptions,
): Promise<Desk> {
  const limits = findImageLimits(model, count);
  const { cache = createImageCache() } = options;
  return { options, cache, limits, maxEdge: limits.maxEdge, urls: toUrlForms(await model.supportedUrls) };
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
  const isOne = toFiles(part).length === 1;
  let number = 0;
  const texts = part.output.value.map((item) => {
    if (!isImageFile(item)) return item.type === "text" ? item.text : JSON.stringify(item);
    number += 1;
    const name = isOne ? "Image" : `Image ${number}`;
    waiting.push({ type: "text", text: `${name} from the result of ${part.toolName} (${part.toolCallId}):` }, item);
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
