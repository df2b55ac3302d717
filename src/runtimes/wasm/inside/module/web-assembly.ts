/** A value that a module exports. */
export type ExportValue = ((...values: unknown[]) => unknown) | GuestMemory | object;

/** The memory of an instance. `buffer` is another one after each growth. */
export interface GuestMemory {
  readonly buffer: ArrayBuffer;
}

/** A compiled module. Opaque: it is handed on, and made into instances. */
export interface CompiledModule {
  readonly [Symbol.toStringTag]: "WebAssembly.Module";
}

/** A module with a memory of its own. */
export interface Instance {
  readonly exports: Readonly<Record<string, ExportValue>>;
}

/** Functions that a module imports, by module and name. */
export type ImportObject = Readonly<Record<string, Readonly<Record<string, (...values: never[]) => unknown>>>>;

interface ModuleMember {
  readonly name: string;
  readonly kind: string;
}

/** The part of WebAssembly that is used here; Node's types do not have it. */
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<CompiledModule>;
  readonly Module: {
    exports(module: CompiledModule): readonly ModuleMember[];
    imports(module: CompiledModule): readonly (ModuleMember & { readonly module: string })[];
  };
  readonly Instance: new (module: CompiledModule, imports: ImportObject) => Instance;
  readonly RuntimeError: new () => Error;
  readonly Exception: new (...values: never[]) => object;
}

/** What Node offers for modules; its own types know it only together with those of a browser. */
export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
