import type { Model } from "../model.ts";

/** Which pictures a provider takes. */
export interface ImageLimits {
  /** Whose limits they are. */
  readonly provider: string;
  readonly mediaTypes: readonly string[];
  readonly maxBytes: number;
  /** The longest side, in pixels. */
  readonly maxEdge: number;
  /** The longest side if there are more than `many` pictures. */
  readonly maxEdgeOfMany: number;
}

/** How many pictures are many. */
export const manyImages = 20;

const web = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** As the documentation of the providers says. They count the bytes of the base64 text, which is a third longer. */
const known: readonly ImageLimits[] = [
  { provider: "openai", mediaTypes: web, maxBytes: toBytes(20), maxEdge: Infinity, maxEdgeOfMany: Infinity },
  { provider: "anthropic", mediaTypes: web, maxBytes: toBytes(5), maxEdge: 8000, maxEdgeOfMany: 2000 },
  {
    provider: "google",
    mediaTypes: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    maxBytes: toBytes(7),
    maxEdge: Infinity,
    maxEdgeOfMany: Infinity,
  },
];

/** What everybody takes: for servers of which nothing is known, and for models that are several. */
const strictest: ImageLimits = {
  provider: "any",
  mediaTypes: ["image/png", "image/jpeg"],
  maxBytes: toBytes(5),
  maxEdge: 8000,
  maxEdgeOfMany: 2000,
};

/** Finds which pictures a model takes, by the name of its provider (`anthropic.messages`). */
export function findImageLimits({ provider }: Pick<Model, "provider">): ImageLimits {
  const [name] = provider.split(".");
  return known.find((limits) => limits.provider === name) ?? strictest;
}

function toBytes(megabytes: number): number {
  return Math.floor((megabytes * 1024 ** 2 * 3) / 4);
}
