/** A place where texts are sealed for one purpose. */
interface Place {
  readonly table: string;
  readonly column: string;
  /** The primary key of the table, with the types of its columns. */
  readonly key: Readonly<Record<string, 'text' | 'boolean' | 'smallint'>>;
  /**
   * The columns of the key that follow the purpose, so that the text cannot be opened in the place of another
   * one.
   */
  readonly boundTo: readonly string[];
  /** The operator's name for the sealed data. */
  readonly what: string;
}

const byId = { key: { id: 'text' }, boundTo: [] } as const;
const ofDomains = {
  table: 'domain_keys',
  key: { domain_id: 'text', selector: 'text' },
  boundTo: ['domain_id'],
} as const;
const ofCertificates = {
  table: 'acme_certificates',
  key: { directory_url: 'text', host: 'text' },
  boundTo: [],
} as const;
const ofReplies = {
  table: 'idempotency_keys',
  column: 'reply',
  key: { workspace_id: 'text', livemode: 'boolean', key: 'text', item: 'smallint' },
  what: 'replies that hold a secret',
} as const;

/**
 * Everything that is sealed with SECRET_KEY, by its purpose. A rotation of the key uses this list: no text
 * can be sealed for a purpose outside it, and a test searches every column of the database for others.
 */
const SEALED = {
  'DKIM key of': [
    { ...ofDomains, column: 'rsa', what: 'DKIM keys (RSA)' },
    { ...ofDomains, column: 'ed25519', what: 'DKIM keys (Ed25519)' },
  ],
  'webhook secret': [
    {
      table: 'webhook_secrets',
      column: 'sealed',
      key: { webhook_id: 'text' },
      boundTo: ['webhook_id'],
      what: 'secrets of webhooks',
    },
  ],
  'inbound route secret': [
    {
      table: 'inbound_routes',
      column: 'sealed',
      key: { id: 'text' },
      boundTo: ['id'],
      what: 'secrets of inbound routes',
    },
  ],
  'mailbox password': [
    {
      table: 'mailboxes',
      column: 'sealed',
      key: { id: 'text' },
      boundTo: ['id'],
      what: 'passwords of mailboxes',
    },
  ],
  'flow webhook secret': [
    {
      table: 'flow_webhook_secrets',
      column: 'sealed',
      what: 'secrets of webhook steps in flows',
      key: { workspace_id: 'text', livemode: 'boolean' },
      boundTo: ['workspace_id', 'livemode'],
    },
    { ...ofReplies, boundTo: ['workspace_id', 'livemode'] },
  ],
  'totp secret': [{ table: 'accounts', column: 'totp', ...byId, what: 'authenticators' }],
  'acme-account': [{ ...ofCertificates, column: 'account_key', what: 'accounts at certificate authorities' }],
  'acme-order': [{ ...ofCertificates, column: 'order_key', what: 'keys of ordered certificates' }],
  'acme-certificate': [{ ...ofCertificates, column: 'certificate_key', what: 'keys of certificates' }],
  'an email of the service': [
    { table: 'service_emails', column: 'sealed', ...byId, what: 'waiting emails of the service' },
  ],
  'a forgotten person': [
    { table: 'erasures', column: 'sealed', ...byId, what: 'forgotten people whose emails still name them' },
  ],
  'a suppression that was removed': [
    {
      table: 'ses_removals',
      column: 'sealed',
      ...byId,
      what: 'removed suppressions that Amazon SES may still have',
    },
  ],
  'idempotent reply': [{ ...ofReplies, boundTo: [] }],
  'former secret key': [
    { table: 'former_secret_keys', column: 'sealed', ...byId, boundTo: ['id'], what: 'former secret keys' },
  ],
} as const satisfies Record<string, readonly Place[]>;

type ColumnPurpose = keyof typeof SEALED;

/** The use of a sealed text: one of the list, or the canary, which a rotation writes by itself. */
export type Purpose = ColumnPurpose | `${ColumnPurpose} ${string}` | 'canary';

/** One column of sealed texts, and the purposes that they may be sealed for. */
export interface SealedColumn extends Omit<Place, 'boundTo'> {
  readonly purposes: readonly { readonly purpose: ColumnPurpose; readonly boundTo: readonly string[] }[];
}

/** Every column of sealed texts. */
export const SEALED_COLUMNS: readonly SealedColumn[] = columnsOf(SEALED);

function columnsOf(sealed: Readonly<Record<ColumnPurpose, readonly Place[]>>): readonly SealedColumn[] {
  const columns = new Map<string, SealedColumn>();
  for (const purpose of Object.keys(sealed) as ColumnPurpose[])
    for (const { boundTo, ...place } of sealed[purpose]) {
      const name = `${place.table}.${place.column}`;
      const known = columns.get(name)?.purposes ?? [];
      columns.set(name, { ...place, purposes: [...known, { purpose, boundTo }] });
    }
  return [...columns.values()];
}
