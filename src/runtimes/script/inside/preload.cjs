/**
 * Loaded into Node before a script: gives it TypeScript whose types were taken out beforehand, so that it starts as fast as
 * JavaScript, and lets it import "kitbag" where no folder above the script has it.
 *
 * `skill` is the folder of the script, `stripped` one with `<path>.js` for each TypeScript file in it, and `kitbag` the package that
 * "kitbag" means. Where there is no sandbox they are elsewhere, and KITBAG_PRELOAD says where.
 */
"use strict";

const { existsSync, readdirSync, readFileSync } = require("node:fs");
const { registerHooks } = require("node:module");
const { pathToFileURL } = require("node:url");
const { compileFunction } = require("node:vm");

const places = { skill: "/skill", stripped: "/opt/kitbag/typescript", kitbag: "/opt/kitbag/script/node" };
const { skill, stripped, kitbag } = { ...places, ...JSON.parse(process.env.KITBAG_PRELOAD ?? "{}") };
const skillUrl = `${pathToFileURL(skill).href}/`;
const strippedUrl = `${pathToFileURL(stripped).href}/`;
const loaded = new Map();
/** Files that were read while nobody waited, by their address. */
const prepared = new Map();
/** How many files, and characters of them, are read ahead: most skills have fewer. */
const mostPrepared = 16;
const mostCharacters = 512 * 1024;

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier !== "kitbag") return nextResolve(specifier, context);
    return { url: pathToFileURL(`${kitbag}/kitbag.cjs`).href, format: "commonjs", shortCircuit: true };
  },
  load(url, context, nextLoad) {
    const found = loaded.get(url) ?? load(url, context.format);
    if (found === undefined) return nextLoad(url, context);
    // Node asks twice for a script that turns out to be a module.
    loaded.set(url, found);
    return found;
  },
});

// The program that waits for a script has time.
if (process.argv[1]?.endsWith("/warm/launch.cjs")) prepare();

function prepare() {
  // Older ones warn.
  // oxlint-disable-next-line import/no-unassigned-import -- only the loading counts
  if (Number.parseInt(process.versions.node, 10) >= 24) require("./empty.mjs");
  const paths = existsSync(stripped) ? readdirSync(stripped, { recursive: true }) : [];
  let length = 0;
  for (const path of paths.filter((name) => name.endsWith(".js")).slice(0, mostPrepared)) {
    const file = pathToFileURL(`${stripped}/${path}`);
    const source = readFileSync(file, "utf8");
    length += source.length;
    if (length > mostCharacters) return;
    prepared.set(file.href, { source, own: findFormat(source) });
  }
}

function load(url, format) {
  const file = findStripped(url);
  if (file === undefined) return undefined;
  const { source, own } = prepared.get(file.href) ?? { source: readFileSync(file, "utf8") };
  // Where enums and the like were written out, lines moved: a map leads back.
  if (source.includes("\n//# sourceMappingURL=")) process.setSourceMapsEnabled(true);
  return { format: toKnownFormat(format) ?? own ?? findFormat(source), source, shortCircuit: true };
}

function findStripped(url) {
  const [path] = url.split(/[?#]/u);
  if (!/\.[cm]?ts$/u.test(path) || !path.startsWith(skillUrl)) return undefined;
  const file = new URL(`${strippedUrl}${path.slice(skillUrl.length)}.js`);
  return prepared.has(file.href) || existsSync(file) ? file : undefined;
}

function toKnownFormat(format) {
  if (format === "module" || format === "module-typescript") return "module";
  return format === "commonjs" || format === "commonjs-typescript" ? "commonjs" : undefined;
}

/** The same question that Node asks for a .js file whose package does not say what it is. */
function findFormat(source) {
  try {
    compileFunction(source, ["exports", "require", "module", "__filename", "__dirname"]);
    return "commonjs";
  } catch {
    return "module";
  }
}
