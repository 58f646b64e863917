import { afterAll } from 'bun:test';
import { stopOwnCluster } from './server.ts';

// Loaded before every test file (bunfig.toml), so that `bun test one.test.ts` works by itself: the file that first
// asks for a database starts a cluster, and this ends it.
afterAll(stopOwnCluster);
