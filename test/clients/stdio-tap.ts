/** Starts the program that its arguments name, passes its input and output on, and writes what the client sent to the file of the first. */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [file = "", command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"] });
process.stdin.on("data", (chunk) => {
  appendFileSync(file, chunk);
  child.stdin.write(chunk);
});
process.stdin.on("end", () => child.stdin.end());
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code) => process.exit(code ?? 1));
