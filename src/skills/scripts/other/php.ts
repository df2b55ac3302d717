import { argumentsOf, findCalls } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { textOf, textsOf } from "../code/literals.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { switchFlag, valueFlag } from "../flag-parameter.ts";
import type { HelpTexts } from "../hand/help-texts.ts";
import type { Parameter } from "../parameter.ts";

/** Reads `getopt("ab:", ["file:", "force"])` of PHP. */
export function fromGetopt(code: Code, help: HelpTexts): DerivedInterface | undefined {
  const [call] = findCalls(code, "getopt");
  if (call === undefined) return undefined;
  const [short, long] = argumentsOf(code, call);
  const letters = (textOf(short) ?? "").match(/[A-Za-z0-9]:{0,2}/gu) ?? [];
  const notations = [...letters.map((letter) => `-${letter}`), ...textsOf(long).map((name) => `--${name}`)];
  const flags = notations.flatMap((notation) => {
    const parameter = toFlag(notation, help);
    return parameter === undefined ? [] : [parameter];
  });
  return flags.length === 0
    ? undefined
    : { commands: [{ parameters: flags }], confidence: "declared", source: "getopt" };
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
