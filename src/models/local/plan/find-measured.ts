import type { JsonValue } from "../../../core/json.ts";
import type { ModelTool } from "../../model.ts";
import { hasUnit } from "../fill/convert-unit.ts";
import { parametersOf } from "../fill/parameter.ts";
import { asksAbout, isDangerous } from "../match/danger.ts";
import type { Request } from "../text/read-request.ts";
import { isEmptyWord } from "../text/stems.ts";
import { wordAt } from "../text/token.ts";
import type { Fit } from "./fit-tool.ts";

/** A tool that an amount with its unit leads to. */
export interface Measured {
  readonly fit: Fit;
  /** Whether what it is done to is named as such a thing: a bedroom is a room, and milk is none. */
  readonly isNamed: boolean;
}

const making = /^(?:make|set|put|turn|bring|get|keep|change|adjust|heat|cool|warm)$/u;
const polite = /^(?:please|can|could|would|you|kindly|now)$/u;

/** Finds the one tool that a command without its name is for, by what is measured: "make the bedroom 18°C". */
export function findMeasured(
  request: Request,
  tools: readonly ModelTool[],
  fitOf: (tool: ModelTool) => Fit,
): Measured | undefined {
  const verb = request.tokens.findIndex(({ word }) => !polite.test(word));
  if (!making.test(wordAt(request.tokens, verb)) || asksAbout(request)) return undefined;
  const fits = tools
    .filter((tool) => !isDangerous(tool) && parametersOf(tool).some(hasUnit))
    .map(fitOf)
    .filter((fit) => isWhole(request, fit, verb));
  const [fit] = fits;
  return fit === undefined || fits.length > 1 ? undefined : { fit, isNamed: isNamedSo(fit) };
}

/** Everything that it needs was said, the amount with its unit, and nothing else. */
function isWhole({ tokens }: Request, { tool, filled }: Fit, verb: number): boolean {
  const { missing, guessed, recalled, places, covered, input } = filled;
  const isMeasured = parametersOf(tool).some((parameter) => {
    const { from, to } = places.get(parameter.name) ?? { from: 0, to: 0 };
    return hasUnit(parameter) && to > from + 1;
  });
  const isName = (name: string): boolean => {
    const words = textOf(input[name]).split(" ");
    return words.length <= 3 && !words.some((word) => isEmptyWord(word.toLowerCase()));
  };
  const isLost = tokens.some(
    ({ stem, kind }, at) => at > verb && !covered.has(at) && (stem !== "" || kind !== "word") && kind !== "mark",
  );
  return missing.length === 0 && recalled.size === 0 && isMeasured && !isLost && [...guessed].every(isName);
}

function isNamedSo({ tool, filled: { guessed, input } }: Fit): boolean {
  const isSo = (name: string): boolean => {
    const noun =
      parametersOf(tool)
        .find((parameter) => parameter.name === name)
        ?.words.at(-1) ?? "";
    return noun.length > 2 && textOf(input[name]).toLowerCase().endsWith(noun);
  };
  return [...guessed].every(isSo);
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
