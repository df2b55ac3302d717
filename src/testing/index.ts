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
export { mockModel } from "./models/mock-model.ts";
export type { MockAnswer, MockCall, MockModel, MockModelOptions, MockScript } from "./models/mock-model.ts";
export { sandboxConformance } from "./sandbox-conformance.ts";
export { storeConformance, type StoreConformanceOptions, type StorePart } from "./store-conformance.ts";
