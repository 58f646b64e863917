import { type Cluster, startSharedCluster } from './cluster.ts';

let own: Promise<Cluster> | undefined;

/** The server for this process: the one that TEST_DATABASE_URL names, else a cluster started on first use. */
export async function serverUrl(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return given;
  own ??= startSharedCluster().then((cluster) => {
    process.once('exit', () => cluster.stopNow());
    return cluster;
  });
  return (await own).url;
}

/** Ends what `serverUrl` started; nothing to do when the server was given. */
export async function stopOwnCluster(): Promise<void> {
  const cluster = await own;
  own = undefined;
  await cluster?.stop();
}
