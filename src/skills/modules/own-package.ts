import { registerHooks } from "node:module";

let isOffered = false;

/** Offers this copy of Kitbag to code that has not installed it: one file with tools, or a skill, is enough. */
export function offerOwnPackage(): void {
  if (isOffered) return;
  isOffered = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context);
      } catch (cause) {
        if (!/^kitbag(?:\/|$)/u.test(specifier)) throw cause;
        return { ...nextResolve(specifier, { ...context, parentURL: import.meta.url }), shortCircuit: true };
      }
    },
  });
}
