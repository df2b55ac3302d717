import type { JsonValue } from "../../../core/json.ts";

/** Sets a field whatever its name is, `__proto__` too. */
export function setField(target: Record<string, JsonValue>, name: string, value: JsonValue): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
