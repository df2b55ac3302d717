/** How many names a message lists. */
const most = 12;

/** Lists names for a message, the first dozen of them. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
