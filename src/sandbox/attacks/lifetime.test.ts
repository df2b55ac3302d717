import { testAttacks } from "../../../test/support/attacks/test-attacks.ts";

testAttacks("lifetime");
