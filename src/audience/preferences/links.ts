import type { Signer } from '../../platform/crypto/signer.ts';
import { SHOWN_TOKEN } from '../../sending/tracking/api.ts';

/** A person in an environment of a workspace, by the form that addresses are compared by. */
export interface Recipient {
  readonly workspaceId: string;
  readonly livemode: boolean;
  /** `Address.key` */
  readonly key: string;
  /** The language of the email that the link is in; null and absent where none is known. */
  readonly language?: string | null;
}

/** The email of a campaign that a link is in, which counts who leaves by it. */
export interface CampaignCopy {
  readonly emailId: string;
  readonly campaignId: string;
  readonly audienceId: string;
}

/**
 * A person who chooses, and the email that led them to the page; null and absent where it is no campaign's.
 */
export interface PageVisitor extends Recipient {
  readonly copy?: CampaignCopy | null;
}

/** A person who was asked to confirm that they join an audience. */
export interface ConfirmationLink extends Recipient {
  readonly audienceId: string;
}

type Purpose = 'preferences' | 'confirmation';

/** Of a new form, `withShownLinks` has to know as well. */
const TOKEN = /^([\w-]{8,2048})\.([\w-]{22})$/;

const tokenOf = (signer: Signer, purpose: Purpose, parts: readonly unknown[]): string => {
  const content = Buffer.from(JSON.stringify(parts)).toString('base64url');
  return `${content}.${signer.sign(`link ${purpose}`, content).toString('base64url')}`;
};

/** The parts of a token; null unless it was signed here for that purpose. */
function partsOf(signer: Signer, purpose: Purpose, token: string): readonly unknown[] | null {
  const [, content, mac] = TOKEN.exec(token) ?? [];
  if (content === undefined || mac === undefined) return null;
  if (!signer.proves(Buffer.from(mac, 'base64url'), `link ${purpose}`, content)) return null;
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as readonly unknown[];
}

/**
 * The path of a recipient's preference page. The link never expires: it holds all that is needed, and no
 * table is kept for it.
 */
export const preferencesPath = (
  signer: Signer,
  { workspaceId, livemode, key, language, copy }: PageVisitor,
): string =>
  `/p/${tokenOf(signer, 'preferences', [
    workspaceId,
    livemode,
    key,
    ...(copy ? [language ?? null, copy.emailId, copy.campaignId, copy.audienceId] : languagePart(language)),
  ])}`;

/** A link without a language is what it was before there were any. */
const languagePart = (language: string | null | undefined): readonly string[] => (language ? [language] : []);

/**
 * The path in its place where a message is only shown: it opens a page that says that the link is not valid.
 */
export const SHOWN_PREFERENCES = `/p/${SHOWN_TOKEN}`;

/**
 * The token in the place of that of a link to unsubscribe in an email that a member sends to colleagues as a
 * test.
 */
export const TEST_EXIT_TOKEN = 'test';
export const TEST_EXIT = `/t/u/${TEST_EXIT_TOKEN}`;

/** The recipient whose preference page a token opens; null where the token is not valid. */
export function readPreferencesToken(signer: Signer, token: string): PageVisitor | null {
  const parts = partsOf(signer, 'preferences', token);
  if (!parts) return null;
  const [workspaceId, livemode, key, language = null, ...named] = parts as PreferenceParts;
  const [emailId, campaignId, audienceId] = named;
  const copy = emailId && campaignId && audienceId ? { emailId, campaignId, audienceId } : null;
  return { workspaceId, livemode, key, language, copy };
}

type PreferenceParts = [string, boolean, string, (string | null)?, ...string[]];

/** The path of the page that confirms a subscription. */
export const confirmationPath = (
  signer: Signer,
  { workspaceId, livemode, key, audienceId, language }: ConfirmationLink,
): string =>
  `/c/${tokenOf(signer, 'confirmation', [workspaceId, livemode, key, audienceId, ...languagePart(language)])}`;

/** The recipient and the audience that a token confirms; null where the token is not valid. */
export function readConfirmationToken(signer: Signer, token: string): ConfirmationLink | null {
  const parts = partsOf(signer, 'confirmation', token);
  if (!parts) return null;
  const [workspaceId, livemode, key, audienceId, language = null] = parts as [
    string,
    boolean,
    string,
    string,
    string?,
  ];
  return { workspaceId, livemode, key, audienceId, language };
}
