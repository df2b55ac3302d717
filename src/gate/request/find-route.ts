import type { Route } from "../gate.ts";

/** Makes the look-up of routes: an exact path first, then the longest `…/*` that the path is below. */
export function createRouteFinder(routes: readonly Route[]): (path: string) => Route | undefined {
  const exact = new Map(routes.filter(({ path }) => !path.endsWith("/*")).map((route) => [route.path, route]));
  const below = routes
    .filter(({ path }) => path.endsWith("/*"))
    .map((route) => ({ route, prefix: route.path.slice(0, -1) }))
    .toSorted((left, right) => right.prefix.length - left.prefix.length);

  return (path) => exact.get(path) ?? below.find(({ prefix }) => path.startsWith(prefix))?.route;
}
