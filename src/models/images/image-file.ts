/** An image whose type and size were read from its bytes. */
export interface ImageFile {
  /** What errors call it. */
  readonly name: string;
  /** The type of the bytes, whatever type the caller declared. */
  readonly mediaType: string;
  /** The bytes, without anything after the end of the image. */
  readonly bytes: Uint8Array;
  /** Not set for an image that must be converted before it is sent. */
  readonly size?: ImageSize;
}

/** The size of an image in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The size of an image as its headers give it, and the offset at which the image ends in its bytes. */
export interface Measured extends ImageSize {
  readonly end: number;
}

/** Reads the headers of an image; `undefined` if the bytes end too early, or are not of the type that the first bytes give. */
export type Measure = (view: DataView) => Measured | undefined;
