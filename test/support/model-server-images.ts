import type { ReceivedImage } from "./model-server-wire.ts";

const most = 5 * 1024 ** 2;

/** What each provider's documentation lists as the pictures that it reads. */
const known: Readonly<Record<string, readonly string[]>> = {
  "openai-chat": ["image/png", "image/jpeg", "image/gif", "image/webp"],
  "openai-responses": ["image/png", "image/jpeg", "image/gif", "image/webp"],
  anthropic: ["image/png", "image/jpeg", "image/gif", "image/webp"],
  google: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
  "openai-compatible": ["image/png", "image/jpeg"],
  ollama: ["image/png", "image/jpeg"],
};

/** Says what a provider refuses about pictures: a type that it does not read, bytes of another type than it was told, too many bytes. */
export function findImageProblem(images: readonly ReceivedImage[], dialect: string): string | undefined {
  for (const { mediaType, bytes } of images) {
    if (bytes === undefined) continue;
    if (known[dialect]?.includes(mediaType) !== true) return `Unsupported image type: ${mediaType}`;
    const found = findType(bytes);
    if (found !== mediaType) {
      return `The image was specified using the ${mediaType} media type, but the image appears to be ${found ?? "something else"}`;
    }
    if (bytes.length > most) return `image exceeds 5 MB maximum: ${bytes.length} bytes > ${most} bytes`;
  }
  return undefined;
}

/** By the first bytes. On purpose not the function of ours that is under test. */
function findType(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  return start.startsWith("RIFF") && start.endsWith("WEBP") ? "image/webp" : undefined;
}
