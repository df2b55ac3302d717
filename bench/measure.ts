import type { Question } from "./question.ts";

/** What a contender cost: the median of the rounds, and between which values half of them lie. */
export interface ContenderResult {
  readonly name: string;
  readonly median: number;
  readonly middleHalf: readonly [from: number, to: number];
}

/** What a target came to. */
export interface TargetResult {
  readonly text: string;
  readonly unit: string;
  readonly limit: number;
  readonly value: number;
  readonly met: boolean;
}

/** The answer to a question. */
export interface Answer {
  readonly title: string;
  readonly text: string;
  readonly unit: string;
  readonly rounds: number;
  readonly contenders: readonly ContenderResult[];
  readonly targets: readonly TargetResult[];
}

/**
 * Answers a question: in each round every contender once, in a new order, so that a machine that becomes busy is busy for all of
 * them. The first rounds are thrown away.
 */
export async function measure(question: Question): Promise<Answer> {
  const contenders = await question.contenders();
  const costs = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  const warmUp = Math.ceil(question.rounds / 5);
  for (let round = -warmUp; round < question.rounds; round += 1) {
    const shift = (round + warmUp) % contenders.length;
    for (const contender of [...contenders.slice(shift), ...contenders.slice(0, shift)]) {
      const cost = await contender.measure();
      if (round >= 0) costsOf(contender.name).push(cost);
    }
  }
  return {
    title: question.title,
    text: question.text,
    unit: question.unit,
    rounds: question.rounds,
    contenders: contenders.map(({ name }) => summarise(name, costsOf(name))),
    targets: question.targets.map(({ text, unit, limit, value }) => {
      const rounds = Array.from({ length: question.rounds }, (_, round) =>
        value((name) => costsOf(name)[round] ?? NaN),
      );
      const median = quantile(rounds, 0.5);
      return { text, unit, limit, value: round3(median), met: median <= limit };
    }),
  };

  function costsOf(name: string): number[] {
    const found = costs.get(name);
    if (found === undefined) throw new Error(`Cannot compute a target: there is no contender "${name}"`);
    return found;
  }
}

function summarise(name: string, costs: readonly number[]): ContenderResult {
  return {
    name,
    median: round3(quantile(costs, 0.5)),
    middleHalf: [round3(quantile(costs, 0.25)), round3(quantile(costs, 0.75))],
  };
}

/** The value below which the given part of `values` lies. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const place = (sorted.length - 1) * part;
  const low = sorted[Math.floor(place)] ?? NaN;
  const high = sorted[Math.ceil(place)] ?? NaN;
  return low + (high - low) * (place - Math.floor(place));
}

/** Three digits are more than a measurement deserves. */
function round3(value: number): number {
  return Number(value.toPrecision(3));
}
