import { optional, type Setting, secret, withDefault } from './setting.ts';
import * as is from './setting-kinds.ts';

/** The settings of the store for contents outside the database. */
export const BODY_SETTINGS = {
  BODY_STORE: optional(
    is.bucket,
    'off',
    'The bucket that holds large bodies, attachments and images outside the database, in Amazon S3 or a server that speaks its protocol; it has to be private',
  ),
  BODY_STORE_ENDPOINT: optional(
    is.url('an http or https URL', 'http:', 'https:'),
    'that of AWS in the region',
    'The address of the server of BODY_STORE, such as https://minio.example.com:9000',
  ),
  BODY_STORE_REGION: withDefault(
    is.text('a region such as eu-west-1', { pattern: '^[a-z0-9-]{1,40}$' }),
    'us-east-1',
    'The region of BODY_STORE; what other servers than AWS take is in their documentation',
  ),
  BODY_STORE_ACCESS_KEY_ID: secret(
    is.text('some text'),
    'AWS_ACCESS_KEY_ID',
    'The access key for BODY_STORE',
  ),
  BODY_STORE_SECRET_ACCESS_KEY: secret(
    is.text('some text'),
    'AWS_SECRET_ACCESS_KEY',
    'The secret of that access key',
  ),
} as const satisfies Record<string, Setting>;
