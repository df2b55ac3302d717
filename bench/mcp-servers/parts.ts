import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** What the tools beside `echo` take. */
export const fillerSchema = {
  type: "object" as const,
  properties: {
    path: { type: "string" as const, description: "Where it is" },
    count: { type: "integer" as const, minimum: 0 },
    kind: { type: "string" as const, enum: ["one", "other"] },
  },
  required: ["path"],
};

/** The names of the tools beside `echo`, if there are so many in all. */
export function fillerNames(count: number): readonly string[] {
  return Array.from({ length: count - 1 }, (_, index) => `tool_${String(index).padStart(4, "0")}`);
}

/** Listens on a free port, and prints where. */
export function listen(server: Server): void {
  server.listen(0, "127.0.0.1", () => {
    process.stderr.write(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`);
  });
}
