import type { ServerModel } from "./server-model.ts";
import { bitsOf } from "./weights.ts";

/** What of a model that is almost all in VRAM is not worth a word. */
const enough = 0.98;
/** The usual roundings, with the bits that a weight takes in them, and the fewest bits that are still worth it. */
const roundings: readonly (readonly [name: string, bits: number])[] = [
  ["Q8", 8.5],
  ["Q6", 6.6],
  ["Q5", 5.7],
  ["Q4", 4.8],
  ["Q3", 3.9],
];
/** A context that most tasks with tools need. */
const smallContext = 8192;

/**
 * What to do about a loaded model that is not wholly in the memory of the graphics card: the rest of it is computed by the processor,
 * which is several times slower. `undefined` if there is nothing to do, or nothing is known.
 */
export function adviseOnMemory(model: ServerModel, others: readonly ServerModel[]): string | undefined {
  const { name, isLoaded, vramShare, sizeBytes, quantization, contextInUse = 0 } = model;
  if (isLoaded !== true || vramShare === undefined || vramShare >= enough) return undefined;
  const where = `${name}: ${Math.round(vramShare * 100)} % of it is in VRAM, the rest is computed by the processor, several times slower`;
  const bits = roundings.find(([rounding]) => rounding === `Q${bitsOf(quantization)}`)?.[1] ?? bitsOf(quantization);
  const fitting = roundings.find(([, size]) => size <= bits * vramShare)?.[0];
  const cures = [
    ...(fitting === undefined ? [] : [`the same model as ${fitting}`]),
    ...(contextInUse > smallContext ? [`a smaller context (now ${contextInUse.toLocaleString("en-US")} tokens)`] : []),
    ...(sizeBytes === undefined ? [] : findSmaller(others, sizeBytes * vramShare)),
  ];
  if (vramShare === 0) return `${where}; check that the server sees the graphics card`;
  return `${where}; use ${cures.length > 0 ? cures.join(", or ") : "a smaller model"}`;
}

/** The largest of the models that fit, if the server has one. */
function findSmaller(others: readonly ServerModel[], bytes: number): readonly string[] {
  const fitting = others.filter(({ sizeBytes = Infinity }) => sizeBytes <= bytes * 0.9);
  const [largest] = fitting.toSorted((left, right) => (right.sizeBytes ?? 0) - (left.sizeBytes ?? 0));
  return largest === undefined ? [] : [`${largest.name}, which fits`];
}
