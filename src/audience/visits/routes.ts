import { Type } from '@sinclair/typebox';
import { findBrand } from '../../accounts/workspace/queries.ts';
import type { Engine } from '../../engine/engine.ts';
import type { RequestLog } from '../../http/log.ts';
import { type PublicCall, type Route, route } from '../../http/request/route.ts';
import { within } from '../../platform/async/deadline.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { suppress } from '../../sending/suppressions/commands.ts';
import type { OwnLeaving } from '../../sending/suppressions/queries.ts';
import {
  type ExitTarget,
  isWeb,
  type Link,
  type Purpose,
  readExitTarget,
  readLinkToken,
} from '../../sending/tracking/api.ts';
import { leaveAudience } from '../audiences/commands.ts';
import { findAudienceRow } from '../audiences/queries.ts';
import { findContact } from '../contacts/queries.ts';
import {
  askToUnsubscribe,
  badLink,
  preferencesPath,
  textsFor,
  unsubscribedPage,
} from '../preferences/queries.ts';
import type { EarlyVisits } from './early-visits.ts';
import { onwards, pixel } from './page.ts';
import { visitorOf } from './visitors.ts';
import { reportOf, scannerNetworkOf } from './visits.ts';

/** The services that tracking calls. */
export interface TrackingDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly signer: Signer;
  readonly early: EarlyVisits;
  readonly log: RequestLog;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
}

/** Requests a minute from one IP address: a mail service fetches pictures for all its users from a few. */
const PER_MINUTE = 12_000;

/** The longest that a visitor waits for the event to be stored. */
const NOTE_MS = 1_500;

/** The most characters of a user agent that are stored. */
const LONGEST_AGENT = 512;

type Visit = PublicCall<{ readonly token: string }>;

/** $1 an email, $2 the index of a recipient, $3 the key of its address. */
const REPLACED =
  'select recipient_keys[$2::integer + 1] is distinct from $3 as is_replaced from emails where id = $1';

/**
 * True when an email no longer names the person that its link was made for: that person has been forgotten.
 */
async function isReplaced(database: Database, { emailId, recipient }: Link, key: string): Promise<boolean> {
  const [row] = await database.query<{ is_replaced: boolean }>(REPLACED, [emailId, recipient, key]);
  return row?.is_replaced ?? false;
}

/** The endpoints that links in emails lead to: public, valid for ever, and impossible to guess. */
export function trackingRoutes({
  database,
  engine,
  signer,
  early,
  log,
  publicUrl,
}: TrackingDeps): readonly Route[] {
  const params = { token: { text: 'The signed token of the recipient and the target.' } };
  const nothing = Type.Unsafe<never>({});
  const read = (purpose: Purpose, { params: { token } }: Visit): Link | null =>
    readLinkToken(purpose, token, signer);

  const brandOf = (link: Link) => findBrand(database, readExitTarget(link.target).workspaceId, publicUrl);

  /** Leaves the audience of a campaign; false where that has none that can be left. */
  const leaveList = async ({ workspaceId, address, list }: ExitTarget, now: number, own: OwnLeaving) => {
    const scope = { workspaceId, livemode: true };
    const audience = list && (await findAudienceRow({ database }, scope, list.audienceId));
    const contact = audience && (await findContact({ database }, scope, address));
    if (!contact || audience.type !== 'static') return false;
    await leaveAudience(database, {
      ...scope,
      audienceId: audience.id,
      contactId: contact.id,
      now,
      own,
    });
    return true;
  };

  /** Records a visit. The visitor gets the picture or page also when that fails. */
  const note = async (link: Link, call: Visit, type: 'opened' | 'clicked'): Promise<void> => {
    const { method, headers, now: at, client, requestId } = call;
    // Link checkers and prefetchers send HEAD; a visitor who sees the picture or the page sends GET.
    if (method === 'HEAD') return;
    const { emailId, recipient, target, links } = link;
    const userAgent = headers.get('user-agent')?.slice(0, LONGEST_AGENT) ?? null;
    const visit = { emailId, recipient, type, target, userAgent, at };
    const via = visitorOf(headers);
    const store = async (): Promise<void> => {
      const mayBeScanner = via === null && links !== undefined;
      if (mayBeScanner && (await early.keep({ ...visit, links, network: scannerNetworkOf(client) }))) return;
      await engine.tell('email', emailId, reportOf(visit, via));
    };
    try {
      await within(NOTE_MS, store());
    } catch (error) {
      log.warn({ requestId, err: error, actor: emailId }, 'A visit could not be recorded.');
    }
  };

  return [
    route({
      method: 'GET',
      path: '/t/o/:token',
      permission: 'public',
      ipLimitPerMinute: PER_MINUTE,
      summary: 'Get the image that records an open',
      params,
      response: nothing,
      status: 200,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('open', call);
        if (!link) return badLink(call.headers);
        await note(link, call, 'opened');
        return pixel();
      },
    }),
    route({
      method: 'GET',
      path: '/t/c/:token',
      permission: 'public',
      ipLimitPerMinute: PER_MINUTE,
      summary: 'Follow a tracked link of an email',
      params,
      response: nothing,
      status: 200,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('click', call);
        if (!link) return badLink(call.headers);
        if (!isWeb(link.target)) return badLink(call.headers);
        await note(link, call, 'clicked');
        return onwards(link.target);
      },
    }),
    route({
      method: 'GET',
      path: '/t/u/:token',
      permission: 'public',
      summary: 'Show the page that confirms an unsubscribe',
      params,
      response: nothing,
      status: 200,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('unsubscribe', call);
        return link
          ? askToUnsubscribe(
              textsFor(call.headers, readExitTarget(link.target).language),
              await brandOf(link),
            )
          : badLink(call.headers);
      },
    }),
    route({
      method: 'POST',
      path: '/t/u/:token',
      permission: 'public',
      summary: 'Unsubscribe from the page, or with one click in a mail program (RFC 8058)',
      params,
      mediaTypes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
      body: Type.Unsafe<Uint8Array>({ type: 'string' }),
      bodyLimit: 4_096,
      response: nothing,
      status: 200,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('unsubscribe', call);
        if (!link) return badLink(call.headers);
        // RFC 8058 3.2 has mail programs send exactly this; a person's browser sends the page's own form.
        const source = Buffer.from(call.body).includes('One-Click') ? 'oneClick' : 'page';
        const exit = readExitTarget(link.target);
        const { workspaceId, address, list, language } = exit;
        const { audienceId = null, campaignId = null } = list ?? {};
        const data = { source, campaignId, audienceId };
        const suppresses = !(await leaveList(exit, call.now, { source, campaignId }));
        const report = { type: 'unsubscribed' as const, recipient: link.recipient, suppresses, data };
        // An unsubscription must not be lost: while the database is away, the answer is a 503, and the client tries again.
        const event = { type: 'report.received', at: call.now, report } as const;
        const result = await engine.tell('email', link.emailId, event);
        const mailbox = parseAddress(address);
        const key = isProblem(mailbox) ? address : mailbox.key;
        const isForgotten = suppresses && (await isReplaced(database, link, key));
        // The email may be long deleted, or not yet known to have left, or no longer name a person who has
        // been forgotten: the address is suppressed all the same. Of a forgotten person only the hash is
        // kept, unless they are a contact again.
        if (suppresses && (isForgotten || result.outcome !== 'changed'))
          await suppress(database, {
            ...{ workspaceId, address, emailId: link.emailId },
            ...{ reason: 'unsubscribed', at: call.now },
            hiddenBy:
              isForgotten && !(await findContact({ database }, { workspaceId, livemode: true }, key))
                ? signer
                : null,
          });
        const preferences = preferencesPath(signer, { workspaceId, livemode: true, key, language });
        return unsubscribedPage(textsFor(call.headers, language), await brandOf(link), preferences);
      },
    }),
  ];
}
