import { KitbagError } from "../core/errors.ts";

/** Where a server is. */
export interface ServerAddress {
  /** Without the part of it that is ours. */
  readonly url: string;
  /** What the address itself says of where on the server: `?schema=two`, `?prefix=two:`. */
  readonly place?: string;
  /** For messages: without the name and the password of a user, and without what else may be secret. */
  readonly shown: string;
}

/**
 * Checks the address of a server.
 *
 * @throws {KitbagError} `option-invalid` if it is none. It does not repeat the text: there may be a password in it.
 */
export function parseServerAddress(
  url: string,
  protocols: readonly string[],
  placeName: "schema" | "prefix",
): ServerAddress {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && protocols.includes(parsed.protocol)) {
    const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
    const places = parsed.searchParams.getAll(placeName);
    const [place] = places;
    if (place === undefined) return { url, shown };
    if (places.length > 1) throw refusePlace(placeName, `${places.length} in the address`, "one");
    parsed.searchParams.delete(placeName);
    return { url: parsed.href, place, shown: `${shown}?${placeName}=${place}` };
  }
  throw new KitbagError("option-invalid", {
    option: "url",
    found: typeof url === "string" ? "another text" : typeof url,
    expected: `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  });
}

/**
 * The place on a server that is meant: by the option, by the address, or the usual one.
 *
 * @throws {KitbagError} `option-invalid` if the option and the address name different ones.
 */
export function choosePlace(
  placeName: "schema" | "prefix",
  {
    option,
    address,
    usual,
  }: { readonly option: string | undefined; readonly address: ServerAddress; readonly usual: string },
): string {
  const { place } = address;
  if (option !== undefined && place !== undefined && option !== place) {
    throw refusePlace(
      placeName,
      `${JSON.stringify(option)}, and ${JSON.stringify(place)} in the address`,
      "the same in both, or only one",
    );
  }
  return option ?? place ?? usual;
}

function refusePlace(option: string, found: string, expected: string): KitbagError {
  return new KitbagError("option-invalid", { option, found, expected });
}
