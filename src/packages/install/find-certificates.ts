import { existsSync, realpathSync } from "node:fs";

/** Where systems keep the certificates that they trust. */
const usual = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Finds the certificates that this machine trusts: those that the environment names, else those of the system. An index inside a
 * company often has one that only they know.
 */
export function findCertificates(env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const named = [env["SSL_CERT_FILE"], env["NODE_EXTRA_CA_CERTS"]].filter((path) => path !== undefined);
  const found = [...named, ...usual].find((path) => existsSync(path));
  return found === undefined ? undefined : realpathSync(found);
}
