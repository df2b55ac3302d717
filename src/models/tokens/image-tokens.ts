import type { ImageSize } from "../images/image-file.ts";
import type { TokenFamily } from "./token-family.ts";

/** About how many tokens a picture costs, by what the providers say about its size. */
export function imageTokens(size: ImageSize, family: TokenFamily): number {
  switch (family) {
    case "claude":
      return claudeTokens(size);
    case "gemini":
      return geminiTokens(size);
    case "usual":
      return tileTokens(size);
  }
}

/** Made smaller until the longest side has 1,568 pixels; 750 pixels are a token. */
function claudeTokens(size: ImageSize): number {
  const { width, height } = shrink(size, 1568 / Math.max(size.width, size.height));
  return Math.min(1600, Math.ceil((width * height) / 750));
}

/** A small picture is one tile of 258 tokens; others are cut into tiles of 768 pixels. */
function geminiTokens({ width, height }: ImageSize): number {
  if (width <= 384 && height <= 384) return 258;
  return 258 * Math.ceil(width / 768) * Math.ceil(height / 768);
}

/** Made smaller until it fits into 2,048 pixels and the shorter side has 768; cut into tiles of 512. */
function tileTokens(size: ImageSize): number {
  const fitting = shrink(size, 2048 / Math.max(size.width, size.height));
  const { width, height } = shrink(fitting, 768 / Math.min(fitting.width, fitting.height));
  return 85 + 170 * Math.ceil(width / 512) * Math.ceil(height / 512);
}

function shrink({ width, height }: ImageSize, factor: number): ImageSize {
  if (!(factor < 1)) return { width, height };
  return { width: Math.max(1, Math.floor(width * factor)), height: Math.max(1, Math.floor(height * factor)) };
}
