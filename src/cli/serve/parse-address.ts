import { quote } from "../../core/errors.ts";
import { usageError } from "../usage-error.ts";

/** Where HTTP is served. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Where HTTP is served if nothing else is said. */
export const defaultAddress: ListenAddress = { host: "127.0.0.1", port: 3210 };

/**
 * Reads what a person writes for an address: `8080`, `0.0.0.0`, `0.0.0.0:8080`, `[::1]:8080`.
 *
 * @throws {KitbagError} `usage-invalid` for anything else.
 */
export function parseAddress(text: string): ListenAddress {
  if (/^:?\d{1,5}$/u.test(text)) return { host: defaultAddress.host, port: toPort(text.replace(":", ""), text) };
  const [, bracketed, name, port] = /^(?:\[([\da-f:.]*:[\da-f:.]*)\]|([\w.-]+))(?::(\d{1,5}))?$/iu.exec(text) ?? [];
  const host = bracketed ?? name;
  if (host === undefined) throw wrongAddress(text);
  return { host, port: port === undefined ? defaultAddress.port : toPort(port, text) };
}

function toPort(digits: string, text: string): number {
  const port = Number(digits);
  if (port > 65_535) throw wrongAddress(text);
  return port;
}

function wrongAddress(text: string): Error {
  return usageError(
    `Cannot use --http ${quote(text)}: expected host:port, a port or a host, as 127.0.0.1:8080; folders of skills come before --http`,
  );
}
