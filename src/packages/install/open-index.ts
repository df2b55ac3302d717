import { existsSync, realpathSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openEgress } from "../../sandbox/egress/open-egress.ts";
import type { Mount, Sandbox } from "../../sandbox/sandbox.ts";

/** A way to the package index and to nowhere else. */
export interface IndexRoute {
  /** The socket of its proxy; missing where the network is open. */
  readonly egress?: string;
  readonly mounts: readonly Mount[];
  readonly environment: Readonly<Record<string, string>>;
  /** Hosts that a program wanted to reach and must not. */
  refused(): readonly string[];
  close(): Promise<void>;
}

/** Where a package index is, and how much may be fetched from it. */
export interface IndexReach {
  /** Each with its port. */
  readonly hosts: readonly string[];
  readonly maxBytes: number;
}

/** A file that is too large fails when it is written, with a message that says so; this bounds what is never written. */
const most = 2;

const certificatesInside = "/opt/kitbag/certificates.pem";

/** How pip, npm, Cargo and OpenSSL are told whom to trust. */
const trust = {
  CARGO_HTTP_CAINFO: certificatesInside,
  NODE_EXTRA_CA_CERTS: certificatesInside,
  PIP_CERT: certificatesInside,
  SSL_CERT_FILE: certificatesInside,
};

/** Without a sandbox no program is kept from the network. */
const openNetwork: IndexRoute = {
  mounts: [],
  environment: {},
  refused: () => [],
  close: async () => {},
};

/** Opens the way to the hosts of a package index. */
export async function openIndex(sandbox: Sandbox, { hosts, maxBytes }: IndexReach): Promise<IndexRoute> {
  if (sandbox.name === "off") return openNetwork;
  // The path of a socket must be short, and the home directory may be deep.
  const directory = await mkdtemp(join(tmpdir(), "kitbag-index-"));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const egress = await openEgress({ rules: hosts, directory, limits: { bytes: most * maxBytes } });
    const certificates = findCertificates();
    return {
      egress: egress.socket,
      mounts: certificates === undefined ? [] : [{ source: certificates, target: certificatesInside }],
      environment: { ...egress.environment, ...(certificates !== undefined && trust) },
      refused() {
        const wanted = egress.connections
          .filter(({ allowed, host }) => !allowed && host !== "")
          .map(({ host, port }) => `${host}:${port}`);
        return [...new Set(wanted)].filter((host) => !hosts.includes(host));
      },
      async close() {
        await egress.close();
        await remove();
      },
    };
  } catch (cause) {
    await remove();
    throw cause;
  }
}

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
