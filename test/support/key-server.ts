/** An authorization server as far as a resource server sees it: metadata, keys, and tokens signed with them. */
import { createServer } from "node:http";

import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from "jose";
import { onTestFinished } from "vitest";

/** What a token says. */
export interface TokenClaims {
  readonly issuer?: string;
  readonly audience?: string | string[];
  readonly subject?: string;
  readonly scope?: string;
  /** Seconds from now; below 0 for one that is over. */
  readonly expiresIn?: number;
  readonly more?: Record<string, unknown>;
}

/** A server with one key. */
export interface KeyServer {
  readonly url: string;
  /** Requests for keys so far. */
  readonly asked: number;
  sign(claims?: TokenClaims, key?: CryptoKey, header?: { readonly kid?: string }): Promise<string>;
  /** Answers everything with 500 from now on, or no longer. */
  fail(fails: boolean): void;
}

/** Starts one on loopback; the end of the test stops it. */
export async function startKeyServer(): Promise<KeyServer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "key-1", alg: "ES256", use: "sig" };
  let asked = 0;
  let fails = false;
  let url = "";
  const server = createServer((request, response) => {
    if (request.url === "/keys") asked += 1;
    const documents: Record<string, unknown> = {
      "/keys": { keys: [jwk] },
      "/.well-known/oauth-authorization-server": { issuer: url, jwks_uri: `${url}/keys` },
    };
    const document = fails ? undefined : documents[request.url ?? ""];
    response.writeHead(fails ? 500 : document === undefined ? 404 : 200).end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : ""}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  return {
    url,
    get asked() {
      return asked;
    },
    async sign({ expiresIn = 60, ...claims } = {}, key = privateKey, header = { kid: "key-1" }) {
      const { issuer = url, audience = "https://tools.example.com/mcp", subject = "ann", scope, more } = claims;
      return new SignJWT({ ...more, ...(scope !== undefined && { scope }) })
        .setProtectedHeader({ alg: "ES256", ...header })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(subject)
        .setExpirationTime(Math.floor(Date.now() / 1000) + expiresIn)
        .sign(key);
    },
    fail(now) {
      fails = now;
    },
  };
}
