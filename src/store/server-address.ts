import { KitbagError, quote } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";

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
 * @throws {KitbagError} `option-invalid` if it is none, or has a parameter that nothing reads. It does not repeat the text: there may be a password in it.
 */
export function parseServerAddress(
  url: string,
  protocols: readonly string[],
  placeName: "schema" | "prefix",
): ServerAddress {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && protocols.includes(parsed.protocol)) {
    const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
    if (placeName === "schema") checkParameters(parsed);
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

/** What the driver reads of an address, and what PostgreSQL has as parameters of a connection. */
const postgresParameters = [
  ...["application_name", "channel_binding", "client_encoding", "connect_timeout", "database", "dbname", "encoding"],
  ...["fallback_application_name", "gssencmode", "host", "hostaddr", "idle_in_transaction_session_timeout"],
  ...["keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "lock_timeout", "options"],
  ...["passfile", "password", "port", "query_timeout", "replication", "require_auth", "service", "ssl", "sslcert"],
  ...["sslcompression", "sslcrl", "sslkey", "sslmode", "sslnegotiation", "sslpassword", "sslrootcert", "sslsni"],
  ...["statement_timeout", "target_session_attrs", "tcp_user_timeout", "uselibpqcompat", "user"],
];

/** A schema that is misspelt must not become the usual one: that is the data of another project. */
function checkParameters({ searchParams }: URL): void {
  const known = ["schema", ...postgresParameters];
  const wrong = [...searchParams.keys()].find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const [nearest] = nearestNames(wrong, known, 1);
  throw new KitbagError("option-invalid", {
    option: "url",
    found: `the unknown parameter ${quote(wrong)}`,
    expected: `"schema" or a parameter of PostgreSQL${nearest === undefined ? "" : `; did you mean "${nearest}"?`}`,
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
