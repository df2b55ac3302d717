export type { ConformanceCheck } from "./conformance.ts";
export { storeConformance, type StoreConformanceOptions, type StorePart } from "./store-conformance.ts";
