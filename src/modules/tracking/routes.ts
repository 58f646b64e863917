import { Type } from '@sinclair/typebox';
import { within } from '../../async/deadline.ts';
import type { Signer } from '../../crypto/signer.ts';
import type { Database } from '../../db/database.ts';
import type { Engine } from '../../engine/engine.ts';
import { Failure } from '../../http/failure.ts';
import type { Log } from '../../http/log.ts';
import { type PublicCall, type Route, route } from '../../http/route.ts';
import { suppress } from '../suppressions/commands.ts';
import { askPage, donePage, onwards, pixel } from './page.ts';
import { isWeb } from './rewrite.ts';
import { type Link, type Purpose, readLinkToken } from './tokens.ts';
import { visitorOf } from './visitors.ts';

/** The services that tracking calls. */
export interface TrackingDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly signer: Signer;
  readonly log: Log;
}

const INVALID = new Failure('INVALID_TOKEN', 'This link is not valid.', {
  suggestion: 'Open it again from the email, whole and unchanged.',
});

/** Requests a minute from one IP address: a mail service fetches pictures for all its users from a few. */
const PER_MINUTE = 12_000;

/** The longest that a visitor waits for the event to be stored. */
const NOTE_MS = 1_500;

/** The most characters of a user agent that are stored. */
const LONGEST_AGENT = 512;

type Visit = PublicCall<{ readonly token: string }>;

/** The endpoints that links in emails lead to: public, valid for ever, and impossible to guess. */
export function trackingRoutes({ database, engine, signer, log }: TrackingDeps): readonly Route[] {
  const params = { token: { text: 'Whose link it is and where it leads, signed.' } };
  const nothing = Type.Unsafe<never>({});
  const read = (purpose: Purpose, { params: { token } }: Visit): Link | Failure =>
    readLinkToken(purpose, token, signer) ?? INVALID;

  const leaveList = async ({ emailId, target }: Link, now: number): Promise<void> => {
    const [workspaceId = '', address = ''] = target.split(' ');
    await suppress(database, { workspaceId, address, reason: 'unsubscribed', emailId, at: now });
  };

  /** Records a visit. The visitor gets the picture or page also when that fails. */
  const note = async (link: Link, call: Visit, type: 'opened' | 'clicked'): Promise<void> => {
    const { method, headers, now } = call;
    // Link checkers and prefetchers send HEAD; a visitor who sees the picture or the page sends GET.
    if (method === 'HEAD') return;
    const { emailId, recipient, target } = link;
    const seen = {
      userAgent: headers.get('user-agent')?.slice(0, LONGEST_AGENT) ?? null,
      via: visitorOf(headers),
    };
    const data = type === 'clicked' ? { url: target, ...seen } : seen;
    // The kind of visitor is part of the number, so that a person who follows a link right after a scanner counts.
    const followed = Bun.hash.crc32(`${seen.via ?? ''} ${target}`);
    const report = { type, recipient, link: followed, data };
    try {
      await within(NOTE_MS, engine.tell('email', emailId, { type: 'report.received', at: now, report }));
    } catch (error) {
      log.warn({ err: error, actor: emailId }, 'A visit could not be noted.');
    }
  };

  return [
    route({
      method: 'GET',
      path: '/t/o/:token',
      permission: 'public',
      ipLimitPerMinute: PER_MINUTE,
      summary: 'The picture that tells of an opened email',
      params,
      response: nothing,
      status: 200,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('open', call);
        if (link instanceof Failure) return link;
        await note(link, call, 'opened');
        return pixel();
      },
    }),
    route({
      method: 'GET',
      path: '/t/c/:token',
      permission: 'public',
      ipLimitPerMinute: PER_MINUTE,
      summary: 'A link of an email, on to where it leads',
      params,
      response: nothing,
      status: 200,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('click', call);
        if (link instanceof Failure) return link;
        if (!isWeb(link.target)) return INVALID;
        await note(link, call, 'clicked');
        return onwards(link.target);
      },
    }),
    route({
      method: 'GET',
      path: '/t/u/:token',
      permission: 'public',
      summary: 'Ask whether to unsubscribe; nothing happens yet',
      params,
      response: nothing,
      status: 200,
      failures: ['INVALID_TOKEN'],
      handle: (call) => {
        const link = read('unsubscribe', call);
        return link instanceof Failure ? link : askPage();
      },
    }),
    route({
      method: 'POST',
      path: '/t/u/:token',
      permission: 'public',
      summary: 'Unsubscribe: from the page, or with one click in a mail program (RFC 8058)',
      params,
      mediaTypes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
      body: Type.Unsafe<Uint8Array>({ type: 'string' }),
      bodyLimit: 4_096,
      response: nothing,
      status: 200,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('unsubscribe', call);
        if (link instanceof Failure) return link;
        // RFC 8058 3.2 has mail programs send exactly this; a person's browser sends the page's own form.
        const source = Buffer.from(call.body).includes('One-Click') ? 'oneClick' : 'page';
        const data = { source, campaignId: null, audienceId: null };
        const report = { type: 'unsubscribed' as const, recipient: link.recipient, suppresses: true, data };
        // An unsubscription must not be lost: while the database is away, the answer is a 503, and the client tries again.
        const event = { type: 'report.received', at: call.now, report } as const;
        const result = await engine.tell('email', link.emailId, event);
        // The email may be long deleted, or not yet known to have left: the address is suppressed all the same.
        if (result.outcome !== 'changed') await leaveList(link, call.now);
        return donePage();
      },
    }),
  ];
}
