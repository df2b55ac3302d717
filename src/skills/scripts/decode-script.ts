/** A file's text, and what was wrong with its bytes. */
export interface DecodedScript {
  readonly text: string;
  /** Only the beginning was read. */
  readonly isCut: boolean;
  /** Some bytes are not UTF-8; they are shown as "�". */
  readonly isDamaged: boolean;
  /** It has NUL bytes: no script has those. */
  readonly isBinary: boolean;
}

/** Larger files are not read as a whole: they are bundles or data, and only their head says something. */
export const largestScript = 1024 * 1024;

const headBytes = 64 * 1024;

/** Turns the bytes of a script into text with plain line ends. Never throws. */
export function decodeScript(content: Uint8Array | string): DecodedScript {
  const isCut = content.length > largestScript;
  if (typeof content === "string")
    return fromText(isCut ? content.slice(0, headBytes) : content, { isCut, isDamaged: false });
  const bytes = isCut ? content.subarray(0, headBytes) : content;
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return fromText(new TextDecoder("utf-16le").decode(bytes), { isCut, isDamaged: false });
  const text = new TextDecoder("utf-8").decode(bytes);
  // A cut may go through a character; that is our doing, not the file's.
  const isDamaged = text.includes("\uFFFD") && !isCut && !includesReplacement(bytes);
  return fromText(text, { isCut, isDamaged });
}

/** Whether the file itself has the character that stands for bytes nobody can read. */
function includesReplacement(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("\uFFFD");
}

function fromText(text: string, { isCut, isDamaged }: Pick<DecodedScript, "isCut" | "isDamaged">): DecodedScript {
  const plain = text.replace(/^\uFEFF/u, "").replaceAll(/\r\n?/gu, "\n");
  return { text: plain, isCut, isDamaged, isBinary: plain.includes("\0") };
}
