import { isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

type Block = readonly [network: string, bits: number, what: string];

const blocks4: readonly Block[] = [
  ["0.0.0.0", 8, "an address of this machine"],
  ["10.0.0.0", 8, "a private address"],
  ["100.64.0.0", 10, "a shared address (carrier-grade NAT)"],
  ["127.0.0.0", 8, "a loopback address"],
  // The address at which a machine in Azure asks for its own secrets; it looks public.
  ["168.63.129.16", 32, "a metadata address"],
  ["169.254.0.0", 16, "a link-local or metadata address"],
  ["172.16.0.0", 12, "a private address"],
  ["192.0.0.0", 24, "a reserved address"],
  ["192.0.2.0", 24, "an address for documentation"],
  ["192.88.99.0", 24, "a relay address (6to4)"],
  ["192.168.0.0", 16, "a private address"],
  ["198.18.0.0", 15, "an address for benchmarks"],
  ["198.51.100.0", 24, "an address for documentation"],
  ["203.0.113.0", 24, "an address for documentation"],
  ["224.0.0.0", 4, "a multicast address"],
  ["240.0.0.0", 4, "a reserved address"],
];

/** Only within 2000::/3; everything outside of it is refused by that alone. */
const blocks6: readonly Block[] = [
  ["2001::", 23, "a reserved or tunnel address"],
  ["2001:db8::", 32, "an address for documentation"],
  ["3fff::", 20, "an address for documentation"],
];

const named6: readonly Block[] = [
  ["::", 128, "an address of this machine"],
  ["::1", 128, "a loopback address"],
  ["fc00::", 7, "a private address"],
  ["fe80::", 10, "a link-local address"],
  ["ff00::", 8, "a multicast address"],
];

/** Addresses that stand for an IPv4 address, and how many bits come before it. */
const wrapped: readonly (readonly [network: string, bits: number])[] = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
  ["2002::", 16],
];

/** Writes an address in the one way that we compare; `undefined` if it is no address. No zone, no brackets, no octal or short forms. */
export function toAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes("%")) return undefined;
  // The short form that URLs have: lower case, and never with an IPv4 address at its end.
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

/**
 * Says what kind of address it is if a program must not reach it by way of a name: anything but a public address of another
 * machine. IPv6 addresses that stand for an IPv4 address are judged as that one. The address is as {@link toAddress} writes it.
 */
export function describeInnerAddress(address: string): string | undefined {
  return describeBlock(address) ?? (isOwn(address) ? "an address of this machine" : undefined);
}

function describeBlock(address: string): string | undefined {
  if (isIPv4(address)) return findBlock(blocks4, toNumber4(address), 32, toNumber4);
  const number = toNumber6(address);
  for (const [network, bits] of wrapped) {
    if (!isWithin(number, toNumber6(network), bits, 128)) continue;
    const inner = describeBlock(fromNumber4((number >> BigInt(128 - bits - 32)) & 0xffff_ffffn));
    return inner === undefined ? undefined : `${inner} in the form of IPv6`;
  }
  const what = findBlock(named6, number, 128, toNumber6) ?? findBlock(blocks6, number, 128, toNumber6);
  return what ?? (number >> 125n === 1n ? undefined : "a reserved address");
}

function findBlock(
  blocks: readonly Block[],
  number: bigint,
  width: number,
  toNumber: (text: string) => bigint,
): string | undefined {
  return blocks.find(([network, bits]) => isWithin(number, toNumber(network), bits, width))?.[2];
}

function isWithin(number: bigint, network: bigint, bits: number, width: number): boolean {
  const rest = BigInt(width - bits);
  return number >> rest === network >> rest;
}

function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => toAddress(own.address) === address));
}

function toNumber4(text: string): bigint {
  return text.split(".").reduce((number, part) => (number << 8n) | BigInt(part), 0n);
}

function fromNumber4(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 0xffn).join(".");
}

function toNumber6(text: string): bigint {
  const [left = "", right] = text.split("::");
  const before = toGroups(left);
  const after = toGroups(right ?? "");
  const middle = Array.from({ length: 8 - before.length - after.length }, () => 0n);
  return [...before, ...middle, ...after].reduce((number, group) => (number << 16n) | group, 0n);
}

function toGroups(text: string): bigint[] {
  return text === "" ? [] : text.split(":").map((group) => BigInt(`0x${group}`));
}
