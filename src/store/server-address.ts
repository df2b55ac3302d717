import { KitbagError } from "../core/errors.ts";

/** Where a server is. */
export interface ServerAddress {
  readonly url: string;
  /** For messages: without the name and the password of a user, and without what else may be secret. */
  readonly shown: string;
}

/**
 * Checks the address of a server.
 *
 * @throws {KitbagError} `option-invalid` if it is none. It does not repeat the text: there may be a password in it.
 */
export function parseServerAddress(url: string, protocols: readonly string[]): ServerAddress {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && protocols.includes(parsed.protocol)) {
    return { url, shown: `${parsed.protocol}//${parsed.host}${parsed.pathname}` };
  }
  throw new KitbagError("option-invalid", {
    option: "url",
    found: typeof url === "string" ? "another text" : typeof url,
    expected: `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  });
}
