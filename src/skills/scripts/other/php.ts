import type { HelpTexts } from "../arguments/help-texts.ts";
import { isWhole, textOf, textsOf } from "../code/literals.ts";
import { findCalls, readRange, type Scanned } from "../code/scan.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";

/** Reads `getopt("ab:", ["file:", "force"])` of PHP. */
export function fromGetopt(scanned: Scanned, help: HelpTexts): DerivedInterface | undefined {
  const [call] = findCalls(scanned, /\bgetopt\s*\(/gu);
  if (call === undefined) return undefined;
  const [short, long] = call.args.map((range) => readRange(scanned, range));
  const letters = (textOf(short) ?? "").match(/[A-Za-z0-9]:{0,2}/gu) ?? [];
  const notations = [...letters.map((letter) => `-${letter}`), ...textsOf(long).map((name) => `--${name}`)];
  const parameters = notations.map((notation) => toFlag(notation, help)).filter((flag) => flag !== undefined);
  const isKnown = isWhole(short) && isWhole(long);
  if (parameters.length === 0 && isKnown) return undefined;
  return { commands: [{ parameters, ...(!isKnown && { open: true }) }], confidence: "declared", source: "getopt" };
}

function toFlag(notation: string, help: HelpTexts): Parameter | undefined {
  const flag = notation.replace(/:+$/u, "");
  if (/^(?:--help|-h|--version|-V)$/u.test(flag)) return undefined;
  const text = help.flag([flag]);
  const colons = notation.length - flag.length;
  if (colons === 0) return switchFlag({ flags: [flag], description: text.description });
  // An optional value must be joined to its flag.
  const joint = flag.startsWith("--") ? "=" : "";
  return valueFlag({
    flags: [flag],
    description: text.description,
    choices: text.choices,
    default: text.default,
    required: text.required,
    joint,
    joined: colons === 2 ? "always" : undefined,
    alone: colons === 2 ? true : undefined,
  });
}
