import { quote } from "../../../core/errors.ts";
import type { YamlPlace, YamlReader } from "./yaml-reader.ts";

/** What stands under the keys of a map. */
export type Fields = ReadonlyMap<string, YamlPlace>;

/** Reads one of `choices` under a key; anything else is reported, and then there is no answer. */
export function parseChoice<Choice extends string>(
  reader: YamlReader,
  fields: Fields,
  key: string,
  choices: readonly Choice[],
): Choice | undefined {
  const place = fields.get(key);
  if (place === undefined) return undefined;
  const found = choices.find((choice) => choice === place.value);
  if (found === undefined) reader.expect(choices.map((choice) => quote(choice)).join(" or "), key, place);
  return found;
}
