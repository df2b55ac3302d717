/**
 * The name of the local user: the person who runs Kitbag on this machine. Calls over stdio, and over HTTP where no token is asked for,
 * are theirs, and so is what was kept without a user.
 */
export const localUser = "local";
