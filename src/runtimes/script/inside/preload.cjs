/**
 * Loaded into Node before a script: gives it TypeScript whose types were taken out beforehand, so that it starts as fast as
 * JavaScript, and lets it import "kitbag" where no folder above the script has it.
 *
 * `skill` is the folder of the script, `stripped` one with `<path>.js` for each TypeScript file in it, and `kitbag` the package that
 * "kitbag" means. Where there is no sandbox they are elsewhere, and KITBAG_PRELOAD says where.
 */
"use strict";

const { existsSync, readFileSync } = require("node:fs");
const { registerHooks } = require("node:module");
const { pathToFileURL } = require("node:url");

const places = { skill: "/skill", stripped: "/opt/kitbag/typescript", kitbag: "/opt/kitbag/script/node" };
const { skill, stripped, kitbag } = { ...places, ...JSON.parse(process.env.KITBAG_PRELOAD ?? "{}") };
const skillUrl = `${pathToFileURL(skill).href}/`;
const strippedUrl = `${pathToFileURL(stripped).href}/`;
const loaded = new Map();

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

function load(url, format) {
  const file = findStripped(url);
  if (file === undefined) return undefined;
  const source = readFileSync(file, "utf8");
  // Where enums and the like were written out, lines moved: a map leads back.
  if (source.includes("\n//# sourceMappingURL=")) process.setSourceMapsEnabled(true);
  return { format: toFormat(format, source), source, shortCircuit: true };
}

function findStripped(url) {
  const [path] = url.split(/[?#]/u);
  if (!/\.[cm]?ts$/u.test(path) || !path.startsWith(skillUrl)) return undefined;
  const file = new URL(`${strippedUrl}${path.slice(skillUrl.length)}.js`);
  return existsSync(file) ? file : undefined;
}

function toFormat(format, source) {
  if (format === "module" || format === "module-typescript") return "module";
  if (format === "commonjs" || format === "commonjs-typescript") return "commonjs";
  try {
    // The same question that Node asks for a .js file whose package does not say what it is.
    require("node:vm").compileFunction(source, ["exports", "require", "module", "__filename", "__dirname"]);
    return "commonjs";
  } catch {
    return "module";
  }
}
