/** Copies `value` without the keys that hold nothing, so that what is made of it is plain JSON. */
export function withoutUndefined<Value extends object>(value: {
  readonly [Key in keyof Value]: Value[Key] | undefined;
}): Value {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Value;
}
