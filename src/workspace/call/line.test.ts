import fc from "fast-check";
import { expect, test } from "vitest";

import { createLine, type Standing } from "../rates/fair-line.ts";

test("createLine() gives out whoever came first, in whatever order they stand", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(), { maxLength: 50 }), (arrivals) => {
      const line = createLine<Standing>();
      for (const arrival of arrivals) line.add({ turn: 0, arrival, index: 0 });

      const shifted = arrivals.map(() => line.shift()?.arrival);

      expect(shifted).toEqual(arrivals.toSorted((left, right) => left - right));
      expect(line.isEmpty()).toBe(true);
      expect(line.shift()).toBeUndefined();
    }),
  );
});

test("createLine() lets anybody leave, and keeps the others in order", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 50 }), fc.array(fc.nat()), (arrivals, leaving) => {
      const line = createLine<Standing>();
      const standing = arrivals.map((arrival) => ({ turn: 0, arrival, index: 0 }));
      for (const item of standing) line.add(item);

      for (const number of leaving.slice(0, standing.length)) {
        const [item] = standing.splice(number % standing.length, 1);
        if (item !== undefined) line.remove(item);
      }
      const shifted = standing.map(() => line.shift()?.arrival);

      expect(shifted).toEqual(standing.map(({ arrival }) => arrival).toSorted((left, right) => left - right));
      expect(line.isEmpty()).toBe(true);
    }),
  );
});
