/** An image whose type and size were read from its bytes. */
export interface ImageFile {
  /** Its name in messages. */
  readonly name: string;
  /** The type of the bytes, whatever type the caller declared. */
  readonly mediaType: string;
  /** The bytes, without anything after the end of the image. */
  readonly bytes: Uint8Array;
  /** In pixels; only known where a picture can be sent as it is. */
  readonly size?: ImageSize;
}

/** How large a picture is, in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** What the headers of a picture say. `end` is where it ends: what comes after it is something else. */
export interface Measured extends ImageSize {
  readonly end: number;
}

/** Looks at the headers of a picture; `undefined` if it ends too early or is not what its first bytes say. */
export type Measure = (view: DataView) => Measured | undefined;
