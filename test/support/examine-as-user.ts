/** Prints what each sandbox is found to enforce for the user who starts it. */
import { examineSandboxes } from "../../src/sandbox/examine-sandboxes.ts";

console.log(JSON.stringify(await examineSandboxes()));
