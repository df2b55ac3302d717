const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** A number of bytes for a person: `12.3 MiB`. */
export function showBytes(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return step === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** step).toFixed(1)} ${units[step] ?? ""}`;
}
