/** Something that a script did, as it was seen from outside or by a hook inside. */
export type Observation =
  | {
      readonly kind: "file";
      /** Absolute. */
      readonly path: string;
      /** `make`: a directory. */
      readonly access: "read" | "write" | "list" | "make";
      readonly failed: boolean;
    }
  | { readonly kind: "program"; readonly path: string; readonly failed: boolean }
  | { readonly kind: "connection"; readonly host: string; readonly port: number }
  | { readonly kind: "variable"; readonly name: string };
