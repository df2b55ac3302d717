import type { Sharp, SharpOptions } from "sharp";

import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import { loadPackage } from "../../platform/load-package.ts";
import type { Model } from "../model.ts";
import { type ImageLimits, providerOf, providerRow } from "../providers.ts";
import type { ImageFile, ImageSize } from "./image-file.ts";
import { maxPixels, readImage } from "./read-image.ts";

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

/** Finds which pictures a model takes in a question with so many, by the name of its provider (`anthropic.messages`). */
export function findImageLimits(model: Pick<Model, "provider">, count = 1): NamedImageLimits {
  const { images } = providerRow(model);
  const limits = images ?? strictest;
  const maxEdge = count > manyImages ? limits.maxEdgeOfMany : limits.maxEdge;
  return { provider: images === undefined ? "any" : providerOf(model), ...limits, maxEdge };
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

/** The size of a picture whose bytes only `sharp` understands, as it is looked at. */
export async function measureImage(image: ImageFile, limits: NamedImageLimits): Promise<ImageSize> {
  const sharp = await loadSharp(image, limits, loadPackage);
  const { autoOrient } = await sharp(image.bytes, { limitInputPixels: maxPixels }).metadata();
  return { width: autoOrient.width, height: autoOrient.height };
}

async function loadSharp(image: ImageFile, limits: NamedImageLimits, load: LoadSharp): Promise<OpenSharp> {
  const provider = limits.provider === "any" ? "this model" : limits.provider;
  const user = `the image "${image.name}" (${image.mediaType}, ${image.bytes.length} bytes) with ${provider}, which takes it only converted or smaller`;
  return ((await load("sharp", user)) as { readonly default: OpenSharp }).default;
}
