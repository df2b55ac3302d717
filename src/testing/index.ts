export type { ConformanceCheck } from "./conformance.ts";
export type {
  ExitStatus,
  Guarantee,
  Limits,
  Mount,
  Profile,
  Sandbox,
  SandboxName,
  SandboxProcess,
} from "../sandbox/sandbox.ts";
export { sandboxConformance } from "./sandbox-conformance.ts";
export { storeConformance, type StoreConformanceOptions, type StorePart } from "./store-conformance.ts";
