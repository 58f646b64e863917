import { type Static, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { URL_MAX_LENGTH } from '../webhooks/commands.ts';

/** The most routes of one environment of a workspace. */
export const MOST_ROUTES = 200;
/** The highest priority. */
export const MOST_PRIORITY = 10_000;

const MATCH_TYPES = ['exact', 'prefix', 'catchAll'] as const;
const ACTIONS = ['webhook', 'forward', 'keep'] as const;
/** The most targets of a forward. */
export const MOST_TARGETS = 5;
const SPAM = ['mark', 'refuse'] as const;

const MatchType = literals(MATCH_TYPES, {
  description:
    '`exact`: the name before the @. `prefix`: names that begin with `localPart`. `catchAll`: every address of the domain.',
});

const LocalPart = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'The name before the @, or its beginning, ignoring case; not for `catchAll`. Without a plus: `support` also takes `support+anything`.',
  examples: ['support'],
});

const ActionType = literals(ACTIONS, {
  description:
    '`webhook`: the message is stored and posted to `url`. `forward`: it is stored and sent on to `to`. `keep`: it is stored, and read by the API.',
});

const Url = Type.String({
  minLength: 1,
  maxLength: URL_MAX_LENGTH,
  description:
    'The URL that receives the messages: http or https, a public address, no credentials and no fragment. Only for `webhook`.',
  examples: ['https://example.com/hooks/inbound'],
});

const To = Type.Array(Type.String({ minLength: 3, maxLength: 320 }), {
  minItems: 1,
  maxItems: MOST_TARGETS,
  description: `The 1 to ${MOST_TARGETS} addresses that get the messages: of members of the workspace, or at its verified domains. Only for \`forward\`. Each message counts as one email.`,
  examples: [['ada@acme.example']],
});

const Match = Type.Object(
  { type: MatchType, localPart: Type.Optional(LocalPart) },
  { description: 'The addresses that the route takes.' },
);

const Action = Type.Object(
  { type: ActionType, url: Type.Optional(Url), to: Type.Optional(To) },
  { description: 'What is done with a message.' },
);

const Priority = Type.Integer({
  minimum: 0,
  maximum: MOST_PRIORITY,
  description:
    'Of the routes that match, the one with the lowest number takes the message: by default 100. Where it is equal, `exact` comes before `prefix`, and that before `catchAll`; then the longer prefix, then the older route.',
});

const Spam = literals(SPAM, {
  description:
    '`mark`, the default: every message is taken, with its verdict in `spam`. `refuse`: spam is answered 550 5.7.1 and not stored; only where RSPAMD_URL or SPAMASSASSIN_URL names a filter. A message without a verdict is taken.',
});

/** The body of POST /v1/inbound-routes. */
export const CreateInboundRoute = Type.Object(
  {
    domainId: Type.String({ maxLength: 60, description: 'A verified or pending domain of the workspace.' }),
    match: Match,
    priority: Type.Optional(Priority),
    action: Action,
    spam: Type.Optional(Spam),
  },
  { title: 'CreateInboundRoute' },
);

/** The body of PATCH /v1/inbound-routes/{id}. */
export const PatchInboundRoute = Type.Object(
  {
    match: Type.Optional(Match),
    priority: Type.Optional(Priority),
    action: Type.Optional(Action),
    spam: Type.Optional(Spam),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateInboundRoute', minProperties: 1 },
);

const members = {
  id: Type.String({ examples: ['inr_01m7xj1rwzprnwr10308attx'] }),
  livemode: Type.Boolean(),
  domainId: Type.String(),
  match: Type.Object({
    type: MatchType,
    localPart: Type.Union([LocalPart, Type.Null()]),
  }),
  priority: Type.Integer(),
  action: Type.Object({
    type: ActionType,
    url: Type.Union([Url, Type.Null()]),
    to: Type.Union([To, Type.Null()]),
  }),
  spam: Spam,
  secretPrefix: Type.Union([Type.String(), Type.Null()], {
    description: 'The first characters of the secret of its webhook; null without one.',
  }),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
};

/** A route of received mail. */
export const InboundRoute = Type.Object(members, { title: 'InboundRoute' });

/** A route with its secret, as its creation answers it, and the change that gives it a webhook. */
export const InboundRouteWithSecret = Type.Object(
  {
    ...members,
    secret: Type.Union([Type.String(), Type.Null()], {
      description:
        'Signs what is posted. Only the reply that makes it shows it: at creation, or where a change adds a webhook; null otherwise.',
    }),
  },
  { title: 'InboundRouteWithSecret' },
);

/** The filters of the list. */
export const InboundRouteQuery = Type.Object({
  ...pageQuery,
  domainId: Type.Optional(Type.String({ maxLength: 60, description: 'Only routes of this domain.' })),
});

export type InboundRouteView = Static<typeof InboundRoute>;
export type InboundRouteSecretView = Static<typeof InboundRouteWithSecret>;
export type NewInboundRoute = Static<typeof CreateInboundRoute>;
export type InboundRoutePatch = Static<typeof PatchInboundRoute>;
export type InboundRouteQuery = Static<typeof InboundRouteQuery>;
