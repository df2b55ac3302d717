/**
 * What an address is counted as: an IPv4 address by itself, an IPv6 address with all the others of its network (`/64`), since whoever
 * has one of them has all.
 */
export function toNetwork(address: string): string {
  if (!address.includes(":")) return address;
  if (address.startsWith("::ffff:") && address.includes(".")) return address.slice("::ffff:".length);
  const [front = [], back] = address.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const missing = back === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: missing }, () => "0"), ...(back ?? [])];
  return groups.slice(0, 4).join(":");
}
