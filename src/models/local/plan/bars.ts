import type { DoneCall } from "../conversation/read-conversation.ts";
import { parametersOf } from "../fill/parameter.ts";
import { splitName } from "../match/create-matcher.ts";
import { isChanging } from "../match/danger.ts";
import type { Fit } from "./fit-tool.ts";

/** Below it a match is chance. If the request says everything that is required, or nothing beside it, less will do. */
export const bars = {
  sure: 2.4,
  whole: 2.1,
  complete: 1.7,
  harmless: 1.5,
  near: 1.2,
  chosen: 1,
  opened: 0.4,
  meant: 3,
  meantTool: -0.6,
};

/** What a tool is measured in. */
interface BarPlace {
  readonly calls: readonly DoneCall[];
  readonly isChained: boolean;
  readonly recent: string | undefined;
  /** What the tool has won because its skill was opened. */
  readonly bonus: number;
  /** Whether the skill that was opened is certainly the right one. */
  readonly isMeant: boolean;
}

/** How well a tool must fit to be called. */
export function barOf(fit: Fit, place: BarPlace): number {
  const { tool, filled, loose, missed } = fit;
  if (place.bonus > 0) return place.bonus + (place.isMeant ? bars.meantTool : bars.opened);
  if (!isChanging(tool)) return readingBar(fit, place);
  const isTold = filled.missing.length === 0 && filled.guessed.size === 0;
  if (isTold && parametersOf(tool).some(({ isRequired }) => isRequired)) return bars.complete;
  const isWhole = loose === 0 && missed === 0 && filled.missing.length === 0;
  return isWhole && filled.places.size > filled.guessed.size ? bars.whole : bars.sure;
}

/** What only reads does no harm: if it has all it needs, and more so in a conversation about the same, less will do. */
function readingBar(fit: Fit, { isChained, calls, recent }: BarPlace): number {
  const { tool, filled, missed, loose } = fit;
  if (filled.missing.length > 0 || missed > 0) return bars.sure;
  if (isChained && calls.at(-1)?.tool !== tool.name) return bars.near;
  if (filled.guessed.size > filled.recalled.size) return loose === 0 ? bars.complete : bars.sure;
  if (isChosen(fit)) return bars.chosen;
  const isWhole = loose === 0 && filled.guessed.size === 0 && filled.places.size > 1;
  return isWhole || splitName(tool.name)[0] === recent ? bars.near : bars.harmless;
}

/** Tells whether one of its own choices was named, and hardly anything else. */
function isChosen({ tool, filled, loose }: Fit): boolean {
  const isNamed = parametersOf(tool).some(({ name, choices }) => choices.length > 0 && filled.places.has(name));
  return isNamed && filled.guessed.size === 0 && loose <= 2;
}

/** To ask does no harm: what is missing does not speak against a tool that has a use for everything that was said. */
export function askedBonus({ filled, missed }: Fit): number {
  return missed === 0 && filled.used.size > 0 ? Math.min(3, filled.missing.length) * 0.9 : 0;
}
