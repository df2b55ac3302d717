import type { Code } from "../code/code.ts";
import { isToken } from "../code/token.ts";
import { numberMade } from "../hand/code-positions.ts";

/** The kind of number that the code makes of a property: `Number(values.port)`, `parseInt(values["max-size"], 10)`. */
export function numberOfProperty(
  { tokens }: Code,
  owners: readonly string[],
  name: string,
): "integer" | "number" | undefined {
  for (const [index, token] of tokens.entries()) {
    if (token.text !== name || (token.kind !== "word" && token.kind !== "string")) continue;
    const owner = tokens[index - 2]?.text ?? "";
    const isRead =
      isToken(tokens[index - 1], ".") || isToken(tokens[index - 1], "?.") || isToken(tokens[index - 1], "[");
    if (!isRead || !owners.includes(owner) || !isToken(tokens[index - 3], "(")) continue;
    const made = numberMade(tokens, index - 4, index - 3);
    if (made !== undefined) return made;
  }
  return undefined;
}
