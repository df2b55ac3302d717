import { nearestNames } from "../core/nearest.ts";
import { paths, type Method, type OperationName } from "./paths.ts";

/** Which operation a request asks for, with the parameters of its path. */
export type Found =
  | { readonly kind: "found"; readonly name: OperationName; readonly parameters: Readonly<Record<string, string>> }
  /** The path is there, with other methods. */
  | { readonly kind: "wrong-method"; readonly methods: readonly Method[] }
  | { readonly kind: "missing"; readonly nearest: readonly string[] };

interface Place {
  readonly name: OperationName;
  readonly method: Method;
  readonly pattern: RegExp;
  readonly parameters: readonly string[];
}

const parameterPattern = /\{(\w+)(\+?)\}/gu;

/** Longer paths come first: `/tools/{address+}/call` is not the tool `…/call`. */
const places: readonly Place[] = (Object.keys(paths) as OperationName[])
  .toSorted((left, right) => segmentsOf(right) - segmentsOf(left))
  .map((name) => {
    const [method = "", path = ""] = paths[name].split(" ");
    const parameters = [...path.matchAll(parameterPattern)].map(([, parameter = ""]) => parameter);
    const source = path.replaceAll(parameterPattern, (_, _name, plus) =>
      plus === "" ? "([^/]+)" : "([^/]+(?:/[^/]+)?)",
    );
    return { name, method: method as Method, pattern: new RegExp(`^${source}$`, "u"), parameters };
  });

function segmentsOf(name: OperationName): number {
  return paths[name].split("/").length;
}

/** Finds the operation for a path below the one that the API is mounted at. */
export function findOperation(method: string, path: string): Found {
  const methods: Method[] = [];
  for (const place of places) {
    const match = place.pattern.exec(path);
    const values = match?.slice(1).map(decode);
    if (values === undefined || values.includes(undefined)) continue;
    if (place.method !== method) {
      methods.push(place.method);
      continue;
    }
    const parameters = Object.fromEntries(place.parameters.map((name, index) => [name, values[index] ?? ""]));
    return { kind: "found", name: place.name, parameters };
  }
  if (methods.length > 0) return { kind: "wrong-method", methods };
  const known = new Set(Object.values(paths).map((place) => place.slice(place.indexOf("/"))));
  return { kind: "missing", nearest: nearestNames(path.slice(0, 200), known, 3) };
}

/** The path of an operation with the names of its parameters, as it is in the table; nothing if no operation is there. */
export function describePlace(method: string, path: string): string | undefined {
  const found = findOperation(method === "HEAD" ? "GET" : method, path);
  return found.kind === "found" ? paths[found.name].split(" ")[1] : undefined;
}

/** A part of a path that was percent-encoded; `undefined` if it was not encoded right. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
