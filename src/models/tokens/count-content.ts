import type { ImageSize } from "../images/image-file.ts";
import { readImage } from "../images/read-image.ts";
import type { ModelMessage, ModelTool } from "../model.ts";
import { readNativeChange } from "../tool-changes.ts";
import { countText, type TokenCount } from "./count-text.ts";

/** What the content of a message or a tool costs; pictures cost what the model says. */
export interface ContentCount extends TokenCount {
  readonly images: readonly ImageSize[];
}

/** What each message and each tool costs beside what it says. */
const messageTokens = 4;
const toolTokens = 8;
/** The assumed size of an image of unknown size, such as one behind a URL. */
const usualSize: ImageSize = { width: 1024, height: 1024 };
/** The tokens of a file that is neither text nor an image, for each started 50 kB: about a page. */
const pageTokens = 1500;
const pageBytes = 50_000;

const counts = new WeakMap<object, ContentCount>();

/** What a message costs: counted once for each message object. */
export function countMessage(message: ModelMessage): ContentCount {
  return remember(message, (sum) => {
    sum.addTokens(messageTokens);
    if (typeof message.content === "string") sum.addText(message.content);
    else if (Array.isArray(message.content)) for (const part of message.content) addPart(sum, part);
    addToolChange(sum, message);
  });
}

/** A message may say nothing and yet show tools. */
function addToolChange(sum: Sum, message: ModelMessage): void {
  const { added = [], removed = [] } = readNativeChange(message) ?? {};
  for (const tool of added) sum.add(countTool(tool));
  for (const name of removed) sum.addText(name);
}

/** What a tool costs that a model is shown: counted once for each tool object. */
export function countTool(tool: ModelTool): ContentCount {
  return remember(tool, (sum) => {
    sum.addTokens(toolTokens);
    sum.addText(tool.name);
    sum.addText(tool.description ?? "");
    sum.addJson(tool.inputSchema);
    if (tool.inputExamples !== undefined) sum.addJson(tool.inputExamples);
  });
}

/** What one part of a message costs: counted once for each part object. */
export function countPart(part: object): ContentCount {
  return remember(part, (sum) => addPart(sum, part));
}

function remember(key: object, add: (sum: Sum) => void): ContentCount {
  let count = counts.get(key);
  if (count === undefined) {
    const sum = new Sum();
    add(sum);
    counts.set(key, (count = sum));
  }
  return count;
}

class Sum implements ContentCount {
  usual = 0;
  claude = 0;
  images: ImageSize[] = [];

  addTokens(tokens: number): void {
    this.usual += tokens;
    this.claude += tokens;
  }

  add({ usual, claude }: TokenCount): void {
    this.usual += usual;
    this.claude += claude;
  }

  addText(text: unknown): void {
    if (typeof text === "string" && text !== "") this.add(countText(text));
  }

  addJson(value: unknown): void {
    this.addText(toJson(value));
  }
}

/** What has no JSON cannot be sent, so it costs nothing. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The fields of message parts that are read here. There are other types of parts. */
interface AnyPart {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly output?: { readonly type?: unknown; readonly value?: unknown; readonly reason?: unknown };
  readonly mediaType?: unknown;
  readonly data?: { readonly type?: unknown; readonly data?: unknown; readonly text?: unknown };
}

function addPart(sum: Sum, given: unknown): void {
  if (typeof given !== "object" || given === null) return;
  const part = given as AnyPart;
  sum.addText(part.text);
  switch (part.type) {
    case "tool-call":
      sum.addTokens(messageTokens);
      sum.addText(part.toolName);
      // In an answer it is text that is JSON already.
      if (typeof part.input === "string") sum.addText(part.input);
      else sum.addJson(part.input);
      return;
    case "tool-result":
      sum.addTokens(messageTokens);
      addResult(sum, part.output ?? {});
      return;
    case "file":
    case "reasoning-file":
      addFile(sum, part);
  }
}

function addResult(sum: Sum, { type, value, reason }: NonNullable<AnyPart["output"]>): void {
  if (type === "content" && Array.isArray(value)) for (const part of value) addPart(sum, part);
  else if (typeof value === "string") sum.addText(value);
  else if (value !== undefined) sum.addJson(value);
  else sum.addText(reason);
}

function addFile(sum: Sum, { mediaType, data }: AnyPart): void {
  sum.addText(data?.text);
  if (data?.type === "text") return;
  const type = typeof mediaType === "string" ? mediaType : "";
  const bytes = toBytes(data?.data);
  if (type.startsWith("image")) sum.images.push(sizeOf(bytes) ?? usualSize);
  else if (type.startsWith("text") && bytes !== undefined) sum.addText(new TextDecoder().decode(bytes));
  else sum.addTokens(pageTokens * Math.max(1, Math.ceil((bytes?.length ?? 0) / pageBytes)));
}

function toBytes(data: unknown): Uint8Array | undefined {
  if (data instanceof Uint8Array) return data;
  return typeof data === "string" ? Buffer.from(data, "base64") : undefined;
}

function sizeOf(bytes: Uint8Array | undefined): ImageSize | undefined {
  if (bytes === undefined) return undefined;
  try {
    return readImage(bytes, "image").size;
  } catch {
    return undefined;
  }
}
