/** Copies `value` without the keys that hold nothing, so that what is made of it is plain JSON. */
export function withoutUndefined<Value extends object>(value: {
  readonly [Key in keyof Value]: Value[Key] | undefined;
}): Value {
  const copy: Partial<Value> = {};
  for (const key of Object.keys(value) as (keyof Value)[]) {
    const item = value[key];
    if (item !== undefined) copy[key] = item;
  }
  return copy as Value;
}
