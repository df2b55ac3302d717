/** A module that does not run here; the message is the reason, in words that follow "because". */
export class RefusedModule extends Error {}
