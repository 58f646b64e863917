import { type Static, Type } from '@sinclair/typebox';
import { DOMAIN_STATES } from '../../../machines/domain/machine.ts';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';
import { TRANSPORTS } from '../../platform/config/transport-names.ts';

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';

const Subdomain = (what: string, example: string) =>
  Type.String({
    maxLength: 63,
    pattern: `^${LABEL}$`,
    description: `${what} One label in lower case, such as \`${example}\`.`,
  });

const Provider = Type.Union([Type.String({ maxLength: 20, examples: ['smtp'] }), Type.Null()], {
  description:
    'The transport that its mail leaves by: one of those that this service has enabled (`TRANSPORT`); null for the default one, whichever that is.',
});

const Fallbacks = Type.Array(Type.String({ maxLength: 20, examples: ['ses'] }), {
  maxItems: 3,
  description:
    'The transports that take over, in this order, while the one before is down: enabled ones, each once, none after `direct`. An email goes to the next one only where it was surely not taken.',
});

/** The days of a schedule: as many as any provider's advice has, and half as many again. */
export const MOST_DAYS = 90;
export const MOST_PER_DAY = 10_000_000;

const WarmUps = Type.Array(
  Type.Object(
    {
      provider: Type.String({
        maxLength: 20,
        examples: ['smtp'],
        description: 'The transport: an enabled one.',
      }),
      startedAt: Type.Optional(
        Type.String({
          format: 'date-time',
          description:
            'The day that this lies in, in UTC, is the first: now or earlier. Left out it stays, where that transport is warmed up already, and is now otherwise. A schedule that is over already is refused, unless it is the one that is there.',
        }),
      ),
      perDay: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: MOST_PER_DAY }), {
          minItems: 1,
          maxItems: MOST_DAYS,
          description:
            'The most recipients on each day; after the last there is no limit. Left out it stays, or is the schedule of 30 days that begins with 50 and grows by two fifths a day.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 3,
    description:
      'How its live email is warmed up, on each transport that is: so many recipients a day, growing. What exceeds a day waits for one that has room, without counting as an attempt; campaigns have at most four fifths of a day. Replaces the ones before; an empty list ends them, and what waits leaves at once.',
  },
);

/** The body of POST /v1/domains. */
export const AddDomain = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'A domain that you can set DNS records for. Internationalised names are kept in punycode.',
      examples: ['example.com'],
    }),
    returnPathSubdomain: Type.Optional(
      Subdomain('Where bounces come back to, below the domain; `send` unless stated.', 'send'),
    ),
    trackingSubdomain: Type.Optional(
      Subdomain('Where opens and clicks are counted, below the domain; none unless stated.', 'links'),
    ),
    dkimSelector: Type.Optional(
      Type.String({
        maxLength: 60,
        pattern: '^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$',
        description: 'Names the DKIM keys in DNS; one that is free unless stated.',
      }),
    ),
    provider: Type.Optional(Provider),
    fallbacks: Type.Optional(Fallbacks),
    warmUps: Type.Optional(WarmUps),
  },
  { title: 'CreateDomain' },
);

/** The body of PATCH /v1/domains/{id}. */
export const PatchDomain = Type.Object(
  {
    openTracking: Type.Optional(
      Type.Boolean({ description: 'Whether opens are tracked where an email does not say.' }),
    ),
    clickTracking: Type.Optional(
      Type.Boolean({ description: 'Whether clicks are tracked where an email does not say.' }),
    ),
    provider: Type.Optional(Provider),
    fallbacks: Type.Optional(Fallbacks),
    warmUps: Type.Optional(WarmUps),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateDomain' },
);

const time = Type.String({ format: 'date-time' });
const nullable = <S extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(
  schema: S,
  description: string,
) => Type.Union([schema, Type.Null()], { description });

const DnsRecord = Type.Object(
  {
    purpose: literals(['dkim', 'spf', 'returnPath', 'dmarc', 'mx', 'tracking'], {
      description: 'What it is for.',
    }),
    type: literals(['TXT', 'MX', 'CNAME'], { description: 'The type of the record.' }),
    name: Type.String({
      description: 'The whole name; many DNS hosts want it without the domain at its end.',
    }),
    value: Type.String(),
    ttl: Type.Integer({ description: 'Seconds; any other will do.' }),
    priority: nullable(Type.Integer(), 'Of an MX record.'),
    required: Type.Boolean({ description: 'Without it nothing is sent; the others make delivery better.' }),
    status: literals(['pending', 'verified', 'failed'], {
      description: 'How it stood when it was last looked up.',
    }),
    found: Type.Array(Type.String(), { description: 'What is there, or there as well.' }),
    error: nullable(
      Type.String(),
      'A sentence that says what is wrong and what to do; null when nothing is.',
    ),
    settable: Type.Boolean({
      description:
        'False while the record would name a host that other mail servers cannot find, such as localhost: `error` names the setting to change first.',
    }),
  },
  { title: 'DnsRecord' },
);

const DkimKeys = Type.Object(
  {
    selector: Type.String(),
    status: literals(['active', 'pending', 'retired'], {
      description:
        '`active` keys sign. `pending` ones were made by a rotation and wait for their records. `retired` ones have signed before; their private halves are destroyed.',
    }),
    recordNames: Type.Array(Type.String(), { description: 'Where its records are, or are to be, in DNS.' }),
    removableAt: nullable(
      time,
      'Of retired keys: from then on their records may go from DNS, seven days after the switch. Until then messages that are still on their way are checked with them.',
    ),
  },
  { title: 'DkimKeys' },
);

const WarmUpOfDomain = Type.Object(
  {
    provider: literals(TRANSPORTS),
    startedAt: time,
    perDay: Type.Array(Type.Integer(), { description: 'The most recipients on each day.' }),
    endsAt: Type.String({ format: 'date-time', description: 'From then on nothing is limited.' }),
    today: Type.Union(
      [
        Type.Object({
          day: Type.Integer({ description: 'Which day it is, from 1.' }),
          allowed: Type.Integer(),
          claimed: Type.Integer({
            description:
              'What instances have claimed of it, in blocks of a fiftieth at least: they may not have sent all of it yet.',
          }),
        }),
        Type.Null(),
      ],
      { description: 'The present day, in UTC; null once the warm-up is over.' },
    ),
  },
  { title: 'WarmUp' },
);

/** The states that clients see; a removed domain is never shown. */
const STATUSES = DOMAIN_STATES.filter((state) => state !== 'removed');

/** The schema of a sending domain. */
export const Domain = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: literals(STATUSES, {
      description:
        '`verified` and `temporaryFailure` may send: a verified domain sends on for 24 hours while DNS gives no answer, and for one hour while it gives a wrong one. `pending` becomes `failed` after 72 hours; a failed domain is still looked at and heals by itself.',
    }),
    livemode: Type.Boolean({ description: 'Always true: both environments share the domains.' }),
    provider: literals(TRANSPORTS, {
      description:
        'How live email from it leaves. Where the one that was chosen is no longer enabled, its email is held.',
    }),
    fallbacks: Type.Array(literals(TRANSPORTS), {
      description:
        'The transports that take over while that one is down, in this order. Of those that were chosen, one that comes first already, or after `direct` or `capture`, is left out.',
    }),
    warmUps: Type.Array(WarmUpOfDomain, {
      description: 'How its live email is warmed up, on each transport that is.',
    }),
    openTracking: Type.Boolean(),
    clickTracking: Type.Boolean(),
    trackingDomain: nullable(
      Type.String(),
      'Where opens and clicks are counted; null for the service’s own host.',
    ),
    returnPath: Type.String({ description: 'The host of its envelope senders.' }),
    createdAt: time,
    updatedAt: Type.String({
      format: 'date-time',
      description: 'When a request changed it last; checks of its records do not count.',
    }),
    verifiedAt: nullable(time, 'Since when it is verified.'),
    lastCheckedAt: nullable(time, 'When its records were last looked up.'),
    dkimKeys: Type.Array(DkimKeys, {
      description:
        'Its DKIM keys: pending ones if there are any, those that sign, and those that have signed before.',
    }),
    dnsRecords: Type.Array(DnsRecord),
  },
  { title: 'Domain' },
);

/** The query of GET /v1/domains. */
export const DomainQuery = Type.Object(pageQuery);

export type NewDomain = Static<typeof AddDomain>;
/** A warm-up as a request states it. */
export type WantedWarmUp = Static<typeof WarmUps>[number];
export type DomainChange = Static<typeof PatchDomain>;
export type DomainView = Static<typeof Domain>;
export type DomainQuery = Static<typeof DomainQuery>;
