import type { JsonValue } from "../../../core/json.ts";
import { positional } from "../flag-parameter.ts";
import { mergePositionals } from "./merge-positionals.ts";
import { noFacts } from "./argv-facts.ts";
import type { Parameter } from "../parameter.ts";
import type { UsageFacts } from "../usage/read-usage.ts";
import type { UsagePositional } from "../usage/synopsis.ts";
import { readDescription } from "../usage/tables.ts";
import { withoutUndefined } from "../without-undefined.ts";

/** What the help of a script adds to a declaration that has no texts of its own. */
export interface HelpTexts {
  flag(flags: readonly string[]): FlagText;
  /** The positionals of the usage line; `names` are those that the code gives them, used where there is no such line. */
  positionals(names: readonly string[]): readonly Parameter[];
  /** Whether the code stops when the option is not given. */
  isDemanded(name: string): boolean;
}

/** What the help says about a flag. */
export interface FlagText {
  readonly description?: string;
  readonly default?: JsonValue;
  readonly choices?: readonly string[];
  readonly required: boolean;
}

/** Makes the help of a script ready to be asked; `demanded` are the names that the code does not go on without. */
export function createHelpTexts(usage: UsageFacts, demanded: ReadonlySet<string> = new Set()): HelpTexts {
  const lines = usage.synopses.map(({ items }) =>
    items.filter((item): item is UsagePositional => item.kind === "positional"),
  );

  return {
    flag(flags) {
      const isSame = (item: { readonly flags: readonly string[] }): boolean =>
        item.flags.some((flag) => flags.includes(flag));
      const row = usage.options.find(isSame);
      const inLines = usage.synopses.map(({ items }) => items.filter((item) => item.kind === "flag").find(isSame));
      const described = readDescription(row?.description ?? "");
      const isInAll = inLines.length > 0 && inLines.every((item) => item?.required === true);
      return withoutUndefined<FlagText>({
        ...described,
        required: described.required || isInAll,
        choices:
          inLines.find((item) => item?.value?.choices)?.value?.choices ?? row?.value?.choices ?? described.choices,
        description: row?.description,
      });
    },

    positionals(names) {
      if (lines.some((line) => line.length > 0))
        return mergePositionals({ lines, facts: noFacts, rows: usage.arguments });
      if (names.length === 0)
        return [positional({ name: "args", many: true, description: "The script's positional arguments" })];
      return names.map((name) => positional({ name: name.replace("...", ""), many: name.startsWith("...") }));
    },

    isDemanded: (name) => demanded.has(name),
  };
}
