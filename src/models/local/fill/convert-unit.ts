import type { Parameter } from "./parameter.ts";

type UnitKind = "length" | "mass" | "size" | "time";

/** How much of the smallest unit of its kind each unit is: milliseconds, bytes, millimetres, grams. */
const units = new Map<string, readonly [kind: UnitKind, amount: number]>();
for (const [names, kind, amount] of [
  ["ms milli millis millisecond milliseconds", "time", 1],
  ["s sec secs second seconds", "time", 1000],
  ["min mins minute minutes", "time", 60_000],
  ["h hr hrs hour hours", "time", 3_600_000],
  ["day days", "time", 86_400_000],
  ["week weeks", "time", 604_800_000],
  ["byte bytes", "size", 1],
  ["kb kilobyte kilobytes", "size", 1000],
  ["kib", "size", 1024],
  ["mb megabyte megabytes", "size", 1e6],
  ["mib", "size", 1_048_576],
  ["gb gigabyte gigabytes", "size", 1e9],
  ["gib", "size", 1_073_741_824],
  ["mm millimeter millimeters millimetre millimetres", "length", 1],
  ["cm centimeter centimeters centimetre centimetres", "length", 10],
  ["m meter meters metre metres", "length", 1000],
  ["km kilometer kilometers kilometre kilometres", "length", 1e6],
  ["ft foot feet", "length", 304.8],
  ["inch inches", "length", 25.4],
  ["mi mile miles", "length", 1_609_344],
  ["g gram grams", "mass", 1],
  ["kg kilo kilos kilogram kilograms", "mass", 1000],
  ["lb lbs pound pounds", "mass", 453.592_37],
  ["oz ounce ounces", "mass", 28.349_523_125],
] as const) {
  for (const name of names.split(" ")) units.set(name, [kind, amount]);
}

/** Converts "5 minutes" for a parameter that counts in another unit, by its name or description; `undefined` if units do not meet. */
export function convertUnit(parameter: Parameter, amount: number, unit: string): number | undefined {
  const given = units.get(unit.toLowerCase());
  const wanted = unitOf(parameter);
  if (given === undefined || wanted === undefined || given[0] !== wanted[0]) return undefined;
  const converted = Number(((amount * given[1]) / wanted[1]).toPrecision(12));
  return parameter.type === "integer" ? Math.round(converted) : converted;
}

/** Tells whether an amount in this unit is certainly not for this parameter: kilograms are no height. */
export function isOtherUnit(parameter: Parameter, unit: string): boolean {
  const given = units.get(unit.toLowerCase());
  const wanted = unitOf(parameter);
  return given !== undefined && wanted !== undefined && given[0] !== wanted[0];
}

/** Tells whether a parameter is an amount of time or bytes. */
export function hasUnit(parameter: Parameter): boolean {
  return unitOf(parameter) !== undefined;
}

function unitOf({ words, description }: Parameter): readonly [UnitKind, number] | undefined {
  const last = units.get(words.at(-1) ?? "");
  if (last !== undefined && (words.at(-1)?.length ?? 0) > 1) return last;
  const [, said = ""] =
    /\b(?:in|of) (milliseconds|seconds|minutes|hours|days|bytes|kilobytes|megabytes)\b/iu.exec(description) ?? [];
  return units.get(said.toLowerCase());
}
