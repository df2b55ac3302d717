import { realpathSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { findCertificates } from "./open-index.ts";

test("findCertificates() takes what the environment names, if it is there", () => {
  const folder = realpathSync(createFolder({ "own.pem": "" }));
  const own = join(folder, "own.pem");

  expect(findCertificates({ NODE_EXTRA_CA_CERTS: own })).toBe(own);
  expect(findCertificates({ SSL_CERT_FILE: own, NODE_EXTRA_CA_CERTS: "/etc/hosts" })).toBe(own);
  expect(findCertificates({ SSL_CERT_FILE: join(folder, "gone.pem") })).toBe(findCertificates({}));
});
