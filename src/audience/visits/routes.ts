import { Type } from '@sinclair/typebox';
import { findBrand } from '../../accounts/workspace/queries.ts';
import type { Engine } from '../../engine/engine.ts';
import { ANY_TYPE } from '../../http/body/media-type.ts';
import type { RequestLog } from '../../http/log.ts';
import { type PublicCall, type Route, route } from '../../http/request/route.ts';
import { within } from '../../platform/async/deadline.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { isWeb, type Link, type Purpose, readExitTarget, readLinkToken } from '../../sending/tracking/api.ts';
import {
  askToUnsubscribe,
  badLink,
  preferencesPath,
  TEST_EXIT_TOKEN,
  testExitPage,
  textsFor,
  unsubscribedPage,
} from '../preferences/queries.ts';
import type { EarlyVisits } from './early-visits.ts';
import { leave } from './leaving.ts';
import { onwards, pixel } from './page.ts';
import { visitorOf } from './visitors.ts';
import { isBeforeOutcome, reportOf, scannerNetworkOf } from './visits.ts';

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
      const kept = { ...visit, links: links ?? 0, network: scannerNetworkOf(client) };
      if (via === null && links !== undefined && (await early.keep(kept))) return;
      const result = await engine.tell('email', emailId, reportOf(visit, via));
      // A recipient can be faster than our own commit, and its visit shows that an attempt that was cut off
      // had arrived. One that only fetches ahead cannot be told from a person later on: its request says so,
      // and not its user agent.
      if (via !== 'prefetch' && isBeforeOutcome(result, recipient)) await early.keep(kept);
    };
    try {
      await within(NOTE_MS, store());
    } catch (error) {
      log.warn({ requestId, err: error, actor: emailId }, 'A visit could not be recorded.');
    }
  };

  return [
    route('GET /t/o/:token', {
      permission: 'public',
      ipLimitPerMinute: PER_MINUTE,
      summary: 'Get the image that records an open',
      params,
      response: nothing,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('open', call);
        if (!link) return badLink(call.headers);
        await note(link, call, 'opened');
        return pixel();
      },
    }),
    route('GET /t/c/:token', {
      permission: 'public',
      ipLimitPerMinute: PER_MINUTE,
      summary: 'Follow a tracked link of an email',
      params,
      response: nothing,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const link = read('click', call);
        if (!link) return badLink(call.headers);
        if (!isWeb(link.target)) return badLink(call.headers);
        await note(link, call, 'clicked');
        return onwards(link.target);
      },
    }),
    route('GET /t/u/:token', {
      permission: 'public',
      summary: 'Show the page that confirms an unsubscribe',
      params,
      response: nothing,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        if (call.params.token === TEST_EXIT_TOKEN) return testExitPage(textsFor(call.headers));
        const link = read('unsubscribe', call);
        return link
          ? askToUnsubscribe(
              textsFor(call.headers, readExitTarget(link.target).language),
              await brandOf(link),
            )
          : badLink(call.headers);
      },
    }),
    route('POST /t/u/:token', {
      permission: 'public',
      summary: 'Unsubscribe from the page, or with one click in a mail program (RFC 8058)',
      params,
      // RFC 8058 3.2 names the first two. A program that sends the words as text, or without a type, wants
      // the same for its person: who asks to leave is not refused for the form.
      mediaTypes: ['application/x-www-form-urlencoded', 'multipart/form-data', ANY_TYPE],
      body: Type.Unsafe<Uint8Array>({ type: 'string' }),
      bodyLimit: 4_096,
      response: nothing,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        if (call.params.token === TEST_EXIT_TOKEN) return testExitPage(textsFor(call.headers));
        const link = read('unsubscribe', call);
        if (!link) return badLink(call.headers);
        // RFC 8058 3.2 has mail programs send exactly this; a person's browser sends the page's own form.
        const source = Buffer.from(call.body).includes('One-Click') ? 'oneClick' : 'page';
        const exit = readExitTarget(link.target);
        const { workspaceId, language } = exit;
        const key = await leave({ database, engine, signer }, { copy: link, exit, source }, call.now);
        const preferences = preferencesPath(signer, { workspaceId, livemode: true, key, language });
        return unsubscribedPage(textsFor(call.headers, language), await brandOf(link), preferences);
      },
    }),
  ];
}
