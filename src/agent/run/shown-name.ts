const wireGrammar = /^[A-Za-z0-9_-]{1,64}$/u;

/** The name of a tool as it may stand in a conversation: providers refuse one in which a model has called something impossible. */
export function toShownName(name: string): string {
  if (wireGrammar.test(name)) return name;
  const clean = name.slice(0, 64).replaceAll(/[^A-Za-z0-9_-]/gu, "_");
  return clean === "" ? "unknown" : clean;
}
