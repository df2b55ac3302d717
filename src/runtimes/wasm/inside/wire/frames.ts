/** The bytes before a frame: the length of its header and of its payload. */
const prefixBytes = 8;

/** Writes a frame: two lengths, a header as JSON, and bytes as they are. */
export function toFrame(header: object, payload?: Uint8Array): Uint8Array {
  const head = Buffer.from(JSON.stringify(header));
  const bodyBytes = payload?.length ?? 0;
  const frame = Buffer.allocUnsafe(prefixBytes + head.length + bodyBytes);
  frame.writeUInt32LE(head.length, 0);
  frame.writeUInt32LE(bodyBytes, 4);
  frame.set(head, prefixBytes);
  if (payload !== undefined) frame.set(payload, prefixBytes + head.length);
  return frame;
}

/** What a frame carried. The payload is a copy of its own. */
export interface Frame<Header> {
  readonly header: Header;
  readonly payload: Uint8Array;
}

/**
 * Makes a reader that is given bytes as they come and answers with the frames that are complete.
 *
 * @throws {RangeError} When a frame says that it is larger than `maxBytes`.
 * @throws {SyntaxError} When a header is not JSON. After either the stream cannot be read any further.
 */
export function createFrameReader<Header>(maxBytes: number): (chunk: Uint8Array) => readonly Frame<Header>[] {
  let parts: Uint8Array[] = [];
  let held = 0;
  let needed = prefixBytes;

  return (chunk) => {
    parts.push(chunk);
    held += chunk.length;
    // Pieces of a large frame are joined once, when the last of them is there.
    if (held < needed) return [];
    const bytes = parts.length === 1 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat(parts);
    const frames: Frame<Header>[] = [];
    let start = 0;
    for (;;) {
      needed = frameBytes(bytes, start, maxBytes);
      if (bytes.length - start < needed) break;
      frames.push(readFrame(bytes.subarray(start, start + needed)));
      start += needed;
    }
    held = bytes.length - start;
    parts = held === 0 ? [] : [bytes.subarray(start)];
    return frames;
  };
}

function frameBytes(bytes: Buffer, start: number, maxBytes: number): number {
  if (bytes.length - start < prefixBytes) return prefixBytes;
  const total = prefixBytes + bytes.readUInt32LE(start) + bytes.readUInt32LE(start + 4);
  if (total > maxBytes) throw new RangeError(`A frame of ${total} bytes is larger than ${maxBytes}`);
  return total;
}

function readFrame<Header>(frame: Buffer): Frame<Header> {
  const end = prefixBytes + frame.readUInt32LE(0);
  const header = JSON.parse(frame.toString("utf8", prefixBytes, end)) as Header;
  // Not a Buffer: a small one of those is a part of a larger piece of memory, all of which goes along when it is posted to a thread.
  return { header, payload: new Uint8Array(frame.subarray(end)) };
}
