import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** A client of the official SDK that is connected. */
export interface Connection {
  readonly client: Client;
  /** Ends the session, then closes; `client.close()` alone abandons it. */
  end(): Promise<void>;
}

/** Connects by one of the two generations of the protocol. */
export async function connectClient(url: string, token: string, generation: "2025" | "2026"): Promise<Connection> {
  const negotiation = generation === "2026" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
  const client = new Client({ name: "soak", version: "1.0.0" }, negotiation);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  await client.connect(transport);
  return {
    client,
    async end() {
      await transport.terminateSession();
      await client.close();
    },
  };
}
