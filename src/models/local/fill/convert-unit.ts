import type { Parameter } from "./parameter.ts";

type UnitKind = "length" | "mass" | "share" | "size" | "temperature" | "time" | "volume";

interface Unit {
  readonly kind: UnitKind;
  /** How much of the base unit of its kind it is. */
  readonly amount: number;
  /** Where it begins to count, in its own unit: only temperatures do not begin at nothing. */
  readonly offset: number;
}

const units = new Map<string, Unit>();
for (const [names, kind, amount, offset = 0] of [
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
  ["tb terabyte terabytes", "size", 1e12],
  ["mm millimeter millimeters millimetre millimetres", "length", 1],
  ["cm centimeter centimeters centimetre centimetres", "length", 10],
  ["m meter meters metre metres", "length", 1000],
  ["km kilometer kilometers kilometre kilometres", "length", 1e6],
  ["ft foot feet", "length", 304.8],
  ["inch inches", "length", 25.4],
  ["yd yard yards", "length", 914.4],
  ["mi mile miles", "length", 1_609_344],
  ["mg milligram milligrams", "mass", 0.001],
  ["g gram grams", "mass", 1],
  ["kg kilo kilos kilogram kilograms", "mass", 1000],
  ["ton tons tonne tonnes", "mass", 1e6],
  ["lb lbs pound pounds", "mass", 453.592_37],
  ["oz ounce ounces", "mass", 28.349_523_125],
  ["ml millilitre millilitres milliliter milliliters", "volume", 1],
  ["cl centilitre centilitres centiliter centiliters", "volume", 10],
  ["l litre litres liter liters", "volume", 1000],
  ["c celsius °c", "temperature", 1, 273.15],
  ["f fahrenheit °f", "temperature", 5 / 9, 459.67],
  ["percent pct %", "share", 1],
] as const) {
  for (const name of names.split(" ")) units.set(name, { kind, amount, offset });
}

/** Converts "5 minutes" for a parameter that counts in another unit, by its name or description; `undefined` if units do not meet. */
export function convertUnit(parameter: Parameter, amount: number, unit: string): number | undefined {
  const wanted = unitOf(parameter);
  // Degrees alone are those that the parameter counts in.
  const given = /^degrees?$/iu.test(unit) && wanted?.kind === "temperature" ? wanted : units.get(unit.toLowerCase());
  if (given === undefined || wanted === undefined || given.kind !== wanted.kind) return undefined;
  const base = (amount + given.offset) * given.amount;
  const converted = Number((base / wanted.amount - wanted.offset).toPrecision(10));
  return parameter.type === "integer" ? Math.round(converted) : converted;
}

/** Tells whether an amount in this unit is certainly not for this parameter: kilograms are no height. */
export function isOtherUnit(parameter: Parameter, unit: string): boolean {
  const given = units.get(unit.toLowerCase());
  const wanted = unitOf(parameter);
  return given !== undefined && wanted !== undefined && given.kind !== wanted.kind;
}

/** Tells whether a parameter is an amount of something that has a unit. */
export function hasUnit(parameter: Parameter): boolean {
  return unitOf(parameter) !== undefined;
}

function unitOf({ words, description }: Parameter): Unit | undefined {
  const name = words.at(-1) ?? "";
  // A letter alone may be anything; behind what is measured (`height_m`) it is a unit.
  const last = name.length > 1 || words.length > 1 ? units.get(name) : undefined;
  if (last !== undefined) return last;
  const [, said = ""] =
    /\b(?:in|of) (milliseconds|seconds|minutes|hours|days|bytes|kilobytes|megabytes|grams|kilograms|met(?:er|re)s|kilomet(?:er|re)s|centimet(?:er|re)s|percent)\b/iu.exec(
      description,
    ) ?? [];
  return units.get(said.toLowerCase());
}
