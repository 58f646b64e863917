import { trustedAuthorities } from '../crypto/authorities.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { systemClock } from '../time/clock.ts';
import { readBucketAddress } from './address.ts';
import { type BodyLimits, BodyStore, type BodyStoreParts } from './body-store.ts';
import { Bucket } from './bucket.ts';

export interface BodySettings {
  /** `s3://bucket/prefix`; null where all contents lie in the database. */
  readonly bodyStore: string | null;
  readonly bodyStoreEndpoint: string | null;
  readonly bodyStoreRegion: string;
  readonly bodyStoreAccessKeyId: string | null;
  readonly bodyStoreSecretAccessKey: string | null;
  readonly awsAccessKeyId: string | null;
  readonly awsSecretAccessKey: string | null;
}

/** The key that it is used with: its own, or the one for AWS; null where none is set. */
export function bodyStoreKey(
  config: BodySettings,
): { readonly accessKeyId: string; readonly secretAccessKey: string } | null {
  const accessKeyId = config.bodyStoreAccessKeyId ?? config.awsAccessKeyId;
  const secretAccessKey = config.bodyStoreAccessKeyId
    ? config.bodyStoreSecretAccessKey
    : config.awsSecretAccessKey;
  return accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey };
}

/** Opens the store for a command, which goes by the machine's own clock. */
export const openBodyStoreAlone = async (
  config: BodySettings & { readonly tlsCaFile: string | null },
): Promise<BodyStore | null> =>
  openBodyStore(config, {
    ca: await trustedAuthorities(config.tlsCaFile),
    now: systemClock.now,
    monotonic: systemClock.monotonic,
  });

/** Opens the store that the settings name; null where they name none. Nothing is asked of the server yet. */
export function openBodyStore(
  config: BodySettings,
  {
    ca,
    now,
    monotonic,
    metrics = null,
    limits = {},
    expectedOwner,
  }: {
    readonly ca: string | null;
    readonly now: () => number;
    readonly monotonic: () => number;
    readonly metrics?: Metrics | null;
    readonly limits?: Partial<BodyLimits>;
    readonly expectedOwner?: BodyStoreParts['expectedOwner'];
  },
): BodyStore | null {
  const address = config.bodyStore === null ? null : readBucketAddress(config.bodyStore);
  const key = bodyStoreKey(config);
  if (!address || !key) return null;
  const { bodyStoreEndpoint: endpoint, bodyStoreRegion: region } = config;
  return new BodyStore(new Bucket({ ...address, ...key, endpoint, region, ca, now }), {
    now,
    monotonic,
    metrics,
    limits,
    expectedOwner,
  });
}
