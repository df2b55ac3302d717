/** Finds what is said about a name. */
export type FindByName<Value> = (name: string) => Value | undefined;

/** What a name in a table must be like. */
export const expectedName = '"provider/model", or a beginning of it with * behind';

/** Tells whether a name in a table can be that of a model. */
export function isModelName(name: string): boolean {
  return name.includes("/") || name.endsWith("*");
}

/** Makes a table of names. One that ends in `*` is all names that begin so; the longest wins, and a whole name wins over all. */
export function createNameTable<Value>(entries: Iterable<readonly [name: string, value: Value]>): FindByName<Value> {
  const exact = new Map<string, Value>();
  const beginnings: { readonly start: string; readonly value: Value }[] = [];
  for (const [name, value] of entries) {
    if (name.endsWith("*")) beginnings.push({ start: name.slice(0, -1), value });
    else exact.set(name, value);
  }
  beginnings.sort((left, right) => right.start.length - left.start.length);
  return (name) => exact.get(name) ?? beginnings.find(({ start }) => name.startsWith(start))?.value;
}
