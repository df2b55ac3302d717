/** How an archive is packed; a tar archive may be in gzip. */
export type ArchiveKind = "zip" | "gzip" | "tar";

/** Tells by its first bytes what an archive is; nothing if it is none. */
export function findArchiveKind(bytes: Uint8Array): ArchiveKind | undefined {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return "zip";
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "gzip";
  const isTar = new TextDecoder("latin1").decode(bytes.subarray(257, 262)) === "ustar" || bytes.length % 512 === 0;
  return isTar ? "tar" : undefined;
}
