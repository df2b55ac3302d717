import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { createNameTable, expectedName, isModelName, type FindByName } from "./name-table.ts";
import type { TokenPrice } from "./token-price.ts";

/** A price of your own, in US dollars for a million tokens. */
export interface OwnPrice {
  readonly input: number;
  readonly output: number;
  /** @default as `input` */
  readonly cacheRead?: number;
  /** @default as `input` */
  readonly cacheWrite?: number;
  /** @default as `output` */
  readonly reasoning?: number;
}

/**
 * Prices of your own by `provider/model`, with the provider as `resolveModel` names it. A name that ends in `*` is that of all
 * models that begin so; the longest wins, and a whole name wins over all of them.
 */
export type OwnPrices = Readonly<Record<string, OwnPrice>>;

/** Makes a lookup of the caller's prices by `provider/model`. @throws {KitbagError} `option-invalid` if a price is malformed. */
export function createOwnPrices(prices: OwnPrices): FindByName<TokenPrice> {
  const entries = Object.entries(prices);
  for (const [name, price] of entries) checkPrice(name, price);
  return createNameTable(entries);
}

const required = ["input", "output"] as const;
const optional = ["cacheRead", "cacheWrite", "reasoning"] as const;
const known: ReadonlySet<string> = new Set([...required, ...optional]);

function checkPrice(name: string, price: OwnPrice): void {
  const option = `prices.${name}`;
  if (!isModelName(name)) throw wrong("prices", name, expectedName);
  if (typeof price !== "object" || price === null) throw wrong(option, price);
  const unknown = Object.keys(price).find((key) => !known.has(key));
  if (unknown !== undefined) {
    const expected = `one of ${[...known].join(", ")}`;
    throw new KitbagError("option-invalid", { option: `${option}.${unknown}`, found: "an unknown option", expected });
  }
  for (const key of required) if (!isRate(price[key])) throw wrong(`${option}.${key}`, price[key]);
  for (const key of optional) {
    if (price[key] !== undefined && !isRate(price[key])) throw wrong(`${option}.${key}`, price[key]);
  }
}

function isRate(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value < Infinity;
}

const aRate = "US dollars for a million tokens, 0 or more";

function wrong(option: string, found: unknown, expected = aRate): KitbagError {
  return new KitbagError("option-invalid", { option, found: showValue(found), expected });
}
