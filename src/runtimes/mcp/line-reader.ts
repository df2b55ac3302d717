/** What a line reader answers when a line is longer than it may be. */
export const tooLong: unique symbol = Symbol("too long");

/**
 * Makes a function that takes bytes and answers with the lines that are complete, without their ends. A line of more than
 * `maxBytes` is not kept: the answer ends with {@link tooLong}, and the reader must not be used any more.
 */
export function createLineReader(maxBytes: number): (chunk: Buffer) => (string | typeof tooLong)[] {
  let pieces: Buffer[] = [];
  let held = 0;
  return (chunk) => {
    const lines: (string | typeof tooLong)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      if (held + end - start > maxBytes) return [...lines, tooLong];
      lines.push(Buffer.concat([...pieces, chunk.subarray(start, end)]).toString("utf8"));
      pieces = [];
      held = 0;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    if (rest.length > 0) pieces.push(rest);
    held += rest.length;
    return held > maxBytes ? [...lines, tooLong] : lines;
  };
}
