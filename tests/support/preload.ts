import { afterAll, setDefaultTimeout } from 'bun:test';
import fc from 'fast-check';
import { hashBriefly } from './brief-hashing.ts';
import { reuseKeys } from './reused-keys.ts';
import { stopOwnCluster } from './server.ts';

// Loaded before every test file (bunfig.toml), so that `bun test one.test.ts` works by itself.

// Ends what hangs, and judges nothing: processes and databases start here, on machines that do other things
// too.
setDefaultTimeout(600_000);

// The same random input in each run, so that no change fails for what another one has brought in. `SEED=2 bun
// run test …` looks elsewhere.
fc.configureGlobal({ seed: Number(process.env.SEED ?? 1) });

hashBriefly();
await reuseKeys();

// The file that first asks for a database starts a cluster, and this ends it.
afterAll(stopOwnCluster);
