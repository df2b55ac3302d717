/** A client in a process of its own, which is killed while it waits for a call: `killed-client-program.ts <url>`, its token in `TOKEN`. */
import { connectClient } from "./connect-client.ts";

const { client } = await connectClient(process.argv[2] ?? "", process.env["TOKEN"] ?? "", "2025");
await client.callTool({ name: "activate_skill", arguments: { name: "soak" } });
process.stdout.write("calling\n");
await client.callTool({ name: "soak__nap", arguments: {} });
