import { assemblyscript } from "./assemblyscript.ts";
import { clang } from "./clang.ts";
import type { CompilerKind } from "./compiler.ts";
import { go } from "./go.ts";
import { javascript } from "./javascript.ts";
import { rust } from "./rust.ts";
import { zig } from "./zig.ts";

/** The compilers that Kitbag knows; for each language the first that is there is used. */
export const compilerKinds: readonly CompilerKind[] = [clang, rust, assemblyscript, zig, go, javascript];
