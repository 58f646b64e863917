import type { SuppressionReason } from '../../../machines/email/rules.ts';
import { addressColumns } from '../../mail/list-files/address-columns.ts';
import { consentColumnOf, everyoneByHeaders } from '../../mail/list-files/consent-columns.ts';
import { meaningOf, reasonMeaning } from '../../mail/list-files/consent-words.ts';

/** Names of the columns with the addresses that no list of contacts calls so. */
const ADDRESSES = /^(?:address|recipient|suppressedaddress|suppressedemail|emailorrecipient)$/;
/** Names of the columns that say why, the more certain ones first. */
const REASONS = [
  /^(?:reason|suppressionreason|suppressiontype|blockreason|grund|raison|motivo)$/,
  /^(?:type|status|state|category|event|bouncetype)$/,
  /^(?:error|description|message|details|bouncemessage|diagnostic)$/,
] as const;

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** The columns of a list of suppressions, and the reason that its header gives for all addresses. */
export interface ListColumns {
  readonly address: number;
  /** Columns that say why, the more certain ones first. */
  readonly reasons: readonly number[];
  /** The reason that the columns give for every address in the list; null where they give none. */
  readonly everyone: SuppressionReason | null;
  /** True where the reason is one of ours, and a word that is none of them is a mistake. */
  readonly isOwn: boolean;
}

/** Finds the columns of a list by its header; null without one of addresses. */
export function listColumns(header: readonly string[]): ListColumns | null {
  const names = header.map(plain);
  const named = names.findIndex((name) => ADDRESSES.test(name));
  const address = named === -1 ? addressColumns(header)[0] : named;
  if (address === undefined) return null;
  const reasons = REASONS.flatMap((pattern) => names.flatMap((name, at) => (pattern.test(name) ? [at] : [])));
  const consent = header.flatMap((name, at) => {
    const column = consentColumnOf(name);
    const isConsent = column?.to === 'status' && column.cells !== 'words';
    return at !== address && isConsent && !reasons.includes(at) ? [at] : [];
  });
  return {
    address,
    reasons: [...reasons, ...consent],
    everyone: everyoneByHeaders(header),
    isOwn: names.includes('reason'),
  };
}

/** Reads the reason from a word or a sentence; null where it gives none. */
function reasonOfText(text: string): SuppressionReason | null {
  // Amazon SES, Postmark, SendGrid and Brevo write these as one word.
  if (/^manual(?:suppression)?$|^admin|^blocked?$|^blacklist|^blocklist/i.test(text.trim())) return 'manual';
  const meaning = reasonMeaning(text);
  return meaning === 'bounced' || meaning === 'complained' || meaning === 'unsubscribed' ? meaning : null;
}

/** Reads a line's reason, that the person is subscribed, or a word that is no reason. */
export function reasonOfLine(
  cells: readonly string[],
  { reasons, everyone, isOwn }: ListColumns,
): SuppressionReason | 'subscribed' | 'unknown' {
  const texts = reasons.flatMap((at) => (cells[at]?.trim() ? [(cells[at] ?? '').trim()] : []));
  for (const text of texts) {
    const reason = reasonOfText(text);
    if (reason) return reason;
  }
  if (texts.some((text) => meaningOf(text) === 'subscribed')) return 'subscribed';
  const [first = ''] = texts;
  // A sentence is a reason that a service has written; a single word in our own column is a slip.
  if (isOwn && first !== '' && !/\s/.test(first)) return 'unknown';
  return everyone ?? 'manual';
}
