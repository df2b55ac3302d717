/**
 * The architecture, as a table. Imports only point down; folders on one row never import each other. The linter reads it
 * (`oxlint.config.ts`), and `test/architecture.test.ts` plants wrong imports to prove that it does.
 */
export const rows: readonly (readonly string[])[] = [
  ["cli"],
  ["mcp", "http", "adapters", "testing"],
  ["gate"],
  ["agent", "forge"],
  ["workspace"],
  ["skills", "runtimes", "models", "records"],
  ["packages", "store"],
  ["sandbox"],
  ["platform"],
  ["core"],
];

/** Node modules with power over the machine, and the only folders that may import them. */
export const powers: Readonly<Record<string, readonly string[]>> = {
  child_process: ["sandbox", "skills", "cli"],
  worker_threads: ["sandbox", "runtimes", "store"],
  vm: [],
  fs: ["cli", "skills", "models", "records", "packages", "store", "sandbox", "runtimes", "forge", "http", "platform"],
  net: ["sandbox", "gate"],
  tls: ["gate"],
  dgram: [],
  dns: ["sandbox"],
  http: ["gate", "sandbox"],
  https: ["gate", "sandbox"],
  http2: [],
  cluster: [],
  inspector: [],
  sqlite: ["store"],
  module: ["cli", "skills", "runtimes"],
};
