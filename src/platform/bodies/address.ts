/** The address of the bodies: a bucket, and the prefix of their names in it. */
export interface BucketAddress {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
}

/** The names that every server takes, without those with dots, which no certificate of AWS covers. */
const SHAPE = /^s3:\/\/([a-z0-9][a-z0-9-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}){0,8})\/?$/;

/** Reads `s3://bucket/prefix`; null for anything else. */
export function readBucketAddress(written: string): BucketAddress | null {
  const [, bucket, path = ''] = SHAPE.exec(written) ?? [];
  return bucket === undefined ? null : { bucket, prefix: path === '' ? '' : `${path.slice(1)}/` };
}
