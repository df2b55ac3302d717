// The language of paths: see references/paths.md.
import { joinPath } from "./json-file.mjs";

const stepForm =
  /\.\.(?<deep>\*|[\p{L}_$][\p{L}\p{N}_$-]*)|\.?(?<key>\*|[\p{L}_$][\p{L}\p{N}_$-]*)|\[(?:(?<index>-?\d{1,15})|(?<star>\*)|(?<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\?(?<condition>[^\]]*))\]/uy;

/** Takes a path apart. Throws an Error that says where it cannot be read. */
export function parsePath(text) {
  const source = text.trim().replace(/^\$/u, "");
  const steps = [];
  stepForm.lastIndex = 0;
  while (stepForm.lastIndex < source.length) {
    const at = stepForm.lastIndex;
    const match = stepForm.exec(source);
    if (match === null) throw new Error(`cannot read the path at "${source.slice(at, at + 20)}"`);
    steps.push(toStep(match.groups));
  }
  return steps;
}

function toStep({ deep, key, index, star, quoted, condition }) {
  if (deep !== undefined) return { kind: "deep", key: deep };
  if (key === "*" || star !== undefined) return { kind: "all" };
  if (key !== undefined) return { kind: "key", key };
  if (index !== undefined) return { kind: "index", index: Number(index) };
  if (quoted !== undefined) return { kind: "key", key: unquote(quoted) };
  return { kind: "filter", ...parseCondition(condition) };
}

function parseCondition(text) {
  const match = /^\s*([^=!<>~]+?)\s*(?:(=|!=|<=|>=|<|>|~)\s*(.*?)\s*)?$/u.exec(text);
  if (match === null) throw new Error(`cannot read the condition "${text}"`);
  const [, key, operator, wanted = ""] = match;
  return { keys: key.split("."), operator, wanted: toValue(wanted) };
}

function toValue(text) {
  if (/^["'].*["']$/u.test(text)) return unquote(text);
  if (/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(text)) return Number(text);
  const constants = { true: true, false: false, null: null };
  return Object.hasOwn(constants, text) ? constants[text] : text;
}

function unquote(text) {
  return text.startsWith('"') ? JSON.parse(text) : text.slice(1, -1).replaceAll(/\\(.)/gu, "$1");
}

/** Every value that a path leads to, one after the other, each with the path to it. */
export function* findValues(value, steps, path = "") {
  const [step, ...rest] = steps;
  if (step === undefined) {
    yield { path: path === "" ? "$" : path, value };
    return;
  }
  for (const [key, inner] of follow(value, step)) yield* findValues(inner, rest, joinPath(path, key));
  if (step.kind !== "deep") return;
  for (const [key, inner] of childrenOf(value)) yield* findValues(inner, steps, joinPath(path, key));
}

function* follow(value, step) {
  if (step.kind === "all") yield* childrenOf(value);
  else if (step.kind === "filter") yield* childrenOf(value).filter(([, inner]) => holds(inner, step));
  else if (step.kind === "deep" && step.key === "*") yield* childrenOf(value);
  else if (step.kind === "index") {
    const index = step.index < 0 && Array.isArray(value) ? value.length + step.index : step.index;
    if (Array.isArray(value) && index in value) yield [index, value[index]];
  } else if (isObject(value) && Object.hasOwn(value, step.key)) yield [step.key, value[step.key]];
}

function childrenOf(value) {
  if (Array.isArray(value)) return value.map((inner, index) => [index, inner]);
  return isObject(value) ? Object.entries(value) : [];
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function holds(value, { keys, operator, wanted }) {
  let found = value;
  for (const key of keys) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return operator === "!=";
    found = found[key];
  }
  return operator === undefined || compare(found, operator, wanted);
}

function compare(found, operator, wanted) {
  switch (operator) {
    case "=":
      return found === wanted || String(found) === String(wanted);
    case "!=":
      return found !== wanted && String(found) !== String(wanted);
    case "~":
      return String(found).toLowerCase().includes(String(wanted).toLowerCase());
    case "<":
      return found < wanted;
    case "<=":
      return found <= wanted;
    case ">":
      return found > wanted;
    default:
      return found >= wanted;
  }
}
