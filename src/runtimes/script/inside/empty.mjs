// Loaded while an interpreter waits, so that it has loaded what loads modules.
export const nothing = undefined;
