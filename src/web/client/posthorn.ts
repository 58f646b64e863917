// biome-ignore-all lint/performance/noBarrelFile: the one entry of a package, which is bundled into one file.
import {
  type CallInput,
  type CallOptions,
  dataOf,
  type Operation,
  type PosthornOptions,
  type Query,
  type Send,
  senderOf,
} from './call.ts';
import { campaigns, flows } from './campaign-calls.ts';
import { audiences, contacts, suppressions } from './contact-calls.ts';
import { analytics, captured, emails, testClocks } from './email-calls.ts';
import { methodsOf } from './methods.ts';
import type { Operations } from './operations.ts';
import { type FollowOptions, follow, listOf } from './pages.ts';
import { mailboxes, received } from './received-calls.ts';
import { assets, domains, templates } from './template-calls.ts';
import { apiKeys, members, requests, webhooks, workspace } from './workspace-calls.ts';

export type { CallOptions, PosthornOptions, RenderReact } from './call.ts';
export {
  type CallResult,
  type Detail,
  isPosthornError,
  type LocalCode,
  type PosthornError,
  type ServiceCode,
  settle,
} from './failures.ts';
export type * from './operations.ts';
export type { FollowOptions, Page, Pages } from './pages.ts';
export type { ReactEmail } from './react.ts';
export type { Backoff } from './retries.ts';
export {
  type ReceivedWebhook,
  verifyWebhook,
  verifyWebhookRequest,
  WebhookVerificationError,
} from './verify-webhook.ts';

/** A client of one Posthorn with one API key. It holds no open resources, and can be shared and kept. */
export class Posthorn {
  readonly #send: Send;
  readonly emails: ReturnType<typeof emails>;
  readonly testClocks: ReturnType<typeof testClocks>;
  readonly captured: ReturnType<typeof captured>;
  readonly received: ReturnType<typeof received>;
  readonly mailboxes: ReturnType<typeof mailboxes>;
  readonly analytics: ReturnType<typeof analytics>;
  readonly domains: ReturnType<typeof domains>;
  readonly templates: ReturnType<typeof templates>;
  readonly assets: ReturnType<typeof assets>;
  readonly contacts: ReturnType<typeof contacts>;
  readonly audiences: ReturnType<typeof audiences>;
  readonly suppressions: ReturnType<typeof suppressions>;
  readonly campaigns: ReturnType<typeof campaigns>;
  readonly flows: ReturnType<typeof flows>;
  readonly webhooks: ReturnType<typeof webhooks>;
  readonly apiKeys: ReturnType<typeof apiKeys>;
  readonly requests: ReturnType<typeof requests>;
  readonly workspace: ReturnType<typeof workspace>;
  readonly members: ReturnType<typeof members>;
  /** The event log: everything that happened, in order, without gaps. */
  readonly events: {
    /** The log up to now, oldest first. */
    list(query?: Query<'GET /events'>, options?: CallOptions): ReturnType<typeof listOf<'GET /events'>>;
    /** The log as it grows, page by page, without end. */
    follow(options?: FollowOptions): ReturnType<typeof follow>;
  };

  /** @throws TypeError where the key or the address is missing */
  constructor(options: PosthornOptions) {
    const send = senderOf(options);
    const methods = methodsOf(send);
    this.#send = send;
    this.emails = emails(methods, options.render);
    this.testClocks = testClocks(methods);
    this.captured = captured(methods);
    this.received = received(methods);
    this.mailboxes = mailboxes(methods);
    this.analytics = analytics(methods);
    this.domains = domains(methods);
    this.templates = templates(methods);
    this.assets = assets(methods);
    this.contacts = contacts(methods);
    this.audiences = audiences(methods);
    this.suppressions = suppressions(methods);
    this.campaigns = campaigns(methods);
    this.flows = flows(methods);
    this.webhooks = webhooks(methods);
    this.apiKeys = apiKeys(methods);
    this.requests = requests(methods);
    this.workspace = workspace(methods);
    this.members = members(methods);
    this.events = {
      list: (query, options) => listOf(send, 'GET /events', { query }, options),
      follow: (options) => follow(send, options),
    };
  }

  /**
   * Any request by its method and path, such as `GET /emails/{id}`: with the same repetition and the same
   * errors.
   */
  request<Op extends Operation>(
    operation: Op,
    given: CallInput = {},
    options?: CallOptions,
  ): Promise<Operations[Op]['data']> {
    return dataOf(this.#send(operation, given, options));
  }
}
