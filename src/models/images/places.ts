import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { Model } from "../model.ts";
import { familyOf, providerRow, type PlaceForm } from "../providers.ts";
import type { ImageSize } from "./image-file.ts";
import { findImageLimits } from "./convert-image.ts";
import { findSentImage } from "./prepare-images.ts";
import { type ImageSource, toImagePart } from "./to-image-part.ts";

/** A box in an image, in pixels from its left and upper edge. */
export interface ImageBox {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A point in an image, in pixels from its left and upper edge. */
export interface ImagePoint {
  readonly x: number;
  readonly y: number;
}

/** How {@link toOriginalBox} and {@link toOriginalPoint} read the numbers of a model. */
export interface PlaceOptions extends Partial<PlaceForm> {
  /** How many images the request had: some providers get smaller images if there are many. @default 1 */
  readonly imageCount?: number;
}

/** An image: a path, a URL of a file, its bytes, or its size alone. */
export type OriginalImage = ImageSize | ImageSource;

/** The properties of a model that decide how it sees images. */
export type SeeingModel = Pick<Model, "modelId" | "provider" | "supportedUrls">;

const usual: PlaceForm = { scale: "thousandths", order: "xy" };
const pixels: PlaceForm = { scale: "pixels", order: "xy" };

/** The form in which a model gives places in an image: the one that its maker documents, or else thousandths. */
function placeFormOf(model: SeeingModel): PlaceForm {
  // The name of the model counts too: many providers serve models of other makers.
  const family = familyOf(model);
  if (family === "claude") return providerRow("anthropic").places ?? usual;
  if (family === "gemini") return providerRow("google").places ?? usual;
  return /qwen-?2(?:\.5)?-?vl/iu.test(model.modelId) ? pixels : (providerRow(model).places ?? usual);
}

const scales: Readonly<Record<PlaceForm["scale"], string>> = {
  pixels: "in pixels of the image",
  unit: "as numbers from 0 to 1, where 1 is the right or lower edge of the image",
  thousandths: "as whole numbers from 0 to 1000, where 1000 is the right or lower edge of the image",
};

/**
 * A sentence for the prompt that tells a model in which form to give places in an image. It is the form that the model knows best, and the
 * form that {@link toOriginalBox} and {@link toOriginalPoint} read.
 *
 * @example
 * ```ts
 * import { describePlaces } from "kitbag/models";
 *
 * const text = describePlaces({ provider: "google.generative-ai", modelId: "gemini-3.8-flash", supportedUrls: {} });
 *
 * console.assert(text.startsWith("Give a box as [top, left, bottom, right]"));
 * ```
 */
export function describePlaces(model: SeeingModel): string {
  const { scale, order } = placeFormOf(model);
  const [box, point] = order === "yx" ? ["top, left, bottom, right", "y, x"] : ["left, top, right, bottom", "x, y"];
  return `Give a box as [${box}] and a point as [${point}], ${scales[scale]}.`;
}

/**
 * Converts a box that a model gave, four numbers in its form, to pixels of the original image, also if the model got a smaller image. The
 * pixels are those of the upright image, also if the camera saved it rotated.
 *
 * @example
 * ```ts
 * import { toOriginalBox } from "kitbag/models";
 *
 * const gemini = { provider: "google.generative-ai", modelId: "gemini-3.8-flash", supportedUrls: {} };
 * const box = await toOriginalBox(gemini, { width: 4000, height: 3000 }, [100, 250, 500, 750]);
 *
 * console.assert(box.left === 1000 && box.top === 300 && box.right === 3000 && box.bottom === 1500);
 * ```
 *
 * @throws {KitbagError} (rejects) `option-invalid` if these are not four numbers in the form of the model; `image-invalid`,
 * `package-missing` as `prepareImages` does
 */
export async function toOriginalBox(
  model: SeeingModel,
  image: OriginalImage,
  box: readonly number[],
  options: PlaceOptions = {},
): Promise<ImageBox> {
  if (!Array.isArray(box) || box.length !== 4) throw refuse("box", box, "four numbers");
  const [first, second, third, fourth] = box as [number, number, number, number];
  const map = await createMap(model, image, options, "box");
  const [from, to] = [map(first, second), map(third, fourth)];
  return {
    left: Math.min(from.x, to.x),
    top: Math.min(from.y, to.y),
    right: Math.max(from.x, to.x),
    bottom: Math.max(from.y, to.y),
  };
}

/**
 * Converts a point that a model gave, two numbers in its form, to pixels of the original image: see {@link toOriginalBox}.
 *
 * @throws {KitbagError} (rejects) as {@link toOriginalBox} does
 */
export async function toOriginalPoint(
  model: SeeingModel,
  image: OriginalImage,
  point: readonly number[],
  options: PlaceOptions = {},
): Promise<ImagePoint> {
  if (!Array.isArray(point) || point.length !== 2) throw refuse("point", point, "two numbers");
  const [first, second] = point as [number, number];
  return (await createMap(model, image, options, "point"))(first, second);
}

/** A place may be outside of the image by this part of its edge. A place that is further outside must be in another form. */
const tolerance = 0.02;

async function createMap(
  model: SeeingModel,
  image: OriginalImage,
  { imageCount = 1, ...given }: PlaceOptions,
  option: string,
): Promise<(first: number, second: number) => ImagePoint> {
  const { scale, order } = { ...placeFormOf(model), ...given };
  const { original, sent } = await findSizes(model, image, imageCount);
  const seen = familyOf(model) === "claude" ? toClaudeSize(sent, model.modelId) : sent;
  const whole = scale === "pixels" ? seen : toSquare(scale === "unit" ? 1 : 1000);
  const along = (value: number, edge: number, side: number): number => {
    const isRight = typeof value === "number" && value >= -edge * tolerance && value <= edge * (1 + tolerance);
    if (!isRight) throw refuse(option, value, `numbers from 0 to ${edge}: the model gave them ${scales[scale]}`);
    return Math.round((Math.min(Math.max(value, 0), edge) / edge) * side);
  };
  return (first, second) => {
    const [x, y] = order === "yx" ? [second, first] : [first, second];
    return { x: along(x, whole.width, original.width), y: along(y, whole.height, original.height) };
  };
}

function toSquare(edge: number): ImageSize {
  return { width: edge, height: edge };
}

interface Sizes {
  readonly original: ImageSize;
  /** As the provider receives it. */
  readonly sent: ImageSize;
}

async function findSizes(model: SeeingModel, image: OriginalImage, count: number): Promise<Sizes> {
  if (isSize(image)) {
    const { maxEdge } = findImageLimits(model, count);
    return { original: image, sent: scaleBy(image, maxEdge / Math.max(image.width, image.height)) };
  }
  const found = await findSentImage(await toImagePart(image), model, count);
  const { original, sent } = found;
  // The image was rotated upright when it was converted.
  const isTurned = original.width > original.height !== sent.width > sent.height && sent.width !== sent.height;
  return isTurned ? { original: { width: original.height, height: original.width }, sent } : found;
}

function isSize(image: OriginalImage): image is ImageSize {
  return typeof image === "object" && "width" in image && "height" in image;
}

function scaleBy({ width, height }: ImageSize, factor: number): ImageSize {
  if (!(factor < 1)) return { width, height };
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** Claude models that see images of up to 1,568 pixels. Later models see 2,576. */
const seesLess =
  /claude-(?:instant|v?2|3|(?:opus|sonnet|haiku)-4-[0-6](?!\d)|(?:opus|sonnet|haiku)-4(?:-\d{8})?(?:$|@))/iu;
/** The edge of a patch in pixels. The number of patches of an image is limited. */
const patch = 28;

/** The size in which Claude sees an image and gives places: the largest within its limits for the longest edge and for patches. */
function toClaudeSize(size: ImageSize, modelId: string): ImageSize {
  const [maxEdge, maxPatches] = seesLess.test(modelId) ? [1568, 1568] : [2576, 4784];
  const fits = ({ width, height }: ImageSize): boolean =>
    Math.max(width, height) <= maxEdge && Math.ceil(width / patch) * Math.ceil(height / patch) <= maxPatches;
  const longest = Math.max(size.width, size.height);
  let seen = size;
  for (let edge = Math.min(longest, maxEdge); !fits(seen) && edge > 1; edge -= 1) seen = scaleBy(size, edge / longest);
  return seen;
}

function refuse(option: string, found: unknown, expected: string): KitbagError {
  return new KitbagError("option-invalid", { option, found: showValue(found), expected });
}
