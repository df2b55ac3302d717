/**
 * The name of the local user: the person who runs Kitbag on this machine. Calls over stdio, and over HTTP where no token is asked for,
 * are theirs, and so is what was kept without a user.
 */
export const localUser = "local";

/** Who owns what a tool or a skill was made by, as far as it says so. */
interface Owned {
  readonly owner?: string | undefined;
  readonly shared?: boolean | undefined;
}

/** Tells whether what a user made is there for the user `owner` (nothing: the local user): it is, if it is theirs, or shared. */
export function isThereFor(made: Owned | undefined, owner: string | undefined): boolean {
  return made?.owner === undefined || made.shared === true || made.owner === owner;
}
