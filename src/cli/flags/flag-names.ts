/** Writes the name of a parameter as a flag: `maxItems` and `max_items` are `max-items`. */
function toFlagName(parameter: string): string {
  return parameter
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, "-")
    .replaceAll(/[_\s]+/gu, "-")
    .toLowerCase();
}

/** The one parameter that a flag means: the name itself, or else the only one that is written like this as a flag. */
export function findParameter(flag: string, parameters: Iterable<string>): string | undefined {
  const names = [...parameters];
  if (names.includes(flag)) return flag;
  const wanted = toFlagName(flag);
  const matches = names.filter((name) => toFlagName(name) === wanted);
  return matches.length === 1 ? matches[0] : undefined;
}

/** The flags for parameters, each as short as it can be without meaning two. */
export function toFlagNames(parameters: Iterable<string>): ReadonlyMap<string, string> {
  const names = [...parameters];
  return new Map(
    names.map((name) => [name, findParameter(toFlagName(name), names) === name ? toFlagName(name) : name]),
  );
}
