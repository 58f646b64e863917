import { type Static, Type } from '@sinclair/typebox';
import { DOMAIN_STATES } from '../../../machines/domain/machine.ts';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { sortQuery } from '../../http/lists/list.ts';
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
    'The transport of its mail: one that this service has enabled (`TRANSPORT`); null for the default one, even when the default changes.',
});

const Fallbacks = Type.Array(Type.String({ maxLength: 20, examples: ['ses'] }), {
  maxItems: 3,
  description:
    'The transports that take over, in this order, while the one before is down: enabled ones, each once, none after `direct`. An email goes to the next one only when the one before has certainly not accepted it.',
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
            'The first day of the schedule is the UTC day of this time, which must not lie in the future. Without it, a running warm-up of the transport keeps its start, and a new one starts now. A schedule that has already ended is refused, unless the domain has it already.',
        }),
      ),
      perDay: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: MOST_PER_DAY }), {
          minItems: 1,
          maxItems: MOST_DAYS,
          description:
            'The most recipients on each day; after the last day there is no limit. Without it, the schedule stays as it is, or is the default of 30 days, which begins with 50 and grows by two fifths a day.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 3,
    description:
      'The warm-ups of its live email, one for each transport: a number of recipients a day, which grows. Email beyond the limit of a day waits for a day with room, which does not count as an attempt; campaigns use at most four fifths of a day. Replaces the previous warm-ups; an empty list ends them, and waiting email leaves at once.',
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
      Subdomain('The subdomain to which bounces come back; `send` by default.', 'send'),
    ),
    trackingSubdomain: Type.Optional(
      Subdomain('The subdomain that counts opens and clicks; none by default.', 'links'),
    ),
    dkimSelector: Type.Optional(
      Type.String({
        maxLength: 60,
        pattern: '^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$',
        description: 'The name of the DKIM keys in DNS; an unused one by default.',
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
      Type.Boolean({ description: 'True to track opens of emails that do not set it.' }),
    ),
    clickTracking: Type.Optional(
      Type.Boolean({ description: 'True to track clicks of emails that do not set it.' }),
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
    purpose: literals(['dkim', 'spf', 'returnPath', 'dmarc', 'tlsReports', 'mx', 'tracking'], {
      description: 'The purpose of the record.',
    }),
    type: literals(['TXT', 'MX', 'CNAME'], { description: 'The type of the record.' }),
    name: Type.String({
      description: 'The full name; many DNS providers expect it without the domain at its end.',
    }),
    value: Type.String(),
    ttl: Type.Integer({ description: 'The suggested time to live, in seconds; any other value works.' }),
    priority: nullable(Type.Integer(), 'The priority of an MX record.'),
    required: Type.Boolean({
      description:
        'True when no mail is sent without this record, or, for the `mx` of the domain itself, none is received; the others improve delivery. That `mx` is listed while the domain has a live inbound route, and its absence does not stop sending.',
    }),
    status: literals(['pending', 'verified', 'failed'], {
      description: 'The result of the last lookup.',
    }),
    found: Type.Array(Type.String(), {
      description: 'The values that DNS has under this name, beside or instead of the expected one.',
    }),
    error: nullable(
      Type.String(),
      'A sentence with the problem and its fix; null when there is none. That of a verified record names parts of it that receivers ignore, or says that the last lookup got no answer.',
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
    recordNames: Type.Array(Type.String(), { description: 'The names of its records in DNS.' }),
    removableAt: nullable(
      time,
      'For retired keys: the time from which you may delete their DNS records, seven days after the switch. Until then receivers verify messages that are still on their way with them.',
    ),
  },
  { title: 'DkimKeys' },
);

const WarmUpOfDomain = Type.Object(
  {
    provider: literals(TRANSPORTS),
    startedAt: time,
    perDay: Type.Array(Type.Integer(), { description: 'The most recipients on each day.' }),
    endsAt: Type.String({
      format: 'date-time',
      description: 'The end of the schedule; from then on there is no limit.',
    }),
    today: Type.Union(
      [
        Type.Object({
          day: Type.Integer({ description: 'The number of the day, from 1.' }),
          allowed: Type.Integer(),
          claimed: Type.Integer({
            description:
              'The recipients that instances have claimed, in blocks of at least a fiftieth of the limit: some may not be sent yet.',
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

export const Domain = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: literals(STATUSES, {
      description:
        '`verified` and `temporaryFailure` may send: a verified domain sends on for 24 hours while DNS gives no answer, and for one hour while it gives a wrong one. `pending` becomes `failed` after 72 hours; a failed domain is still checked, and is verified once its records are right.',
    }),
    livemode: Type.Boolean({ description: 'Always true: both environments share the domains.' }),
    provider: literals(TRANSPORTS, {
      description: 'The transport of its live email. While the chosen one is not enabled, its email is held.',
    }),
    fallbacks: Type.Array(literals(TRANSPORTS), {
      description:
        'The transports that take over while that one is down, in this order. A chosen one that is the first transport, or comes after `direct` or `capture`, is left out.',
    }),
    warmUps: Type.Array(WarmUpOfDomain, {
      description: 'The warm-ups of its live email, one for each transport that has one.',
    }),
    openTracking: Type.Boolean(),
    clickTracking: Type.Boolean(),
    trackingDomain: nullable(
      Type.String(),
      'The host that counts opens and clicks; null for the host of this service.',
    ),
    returnPath: Type.String({ description: 'The host of its envelope senders.' }),
    createdAt: time,
    updatedAt: Type.String({
      format: 'date-time',
      description: 'The last change by a request; checks of its records do not count.',
    }),
    verifiedAt: nullable(time, 'The time at which it was verified.'),
    lastCheckedAt: nullable(time, 'The time of the last check of its records.'),
    dkimKeys: Type.Array(DkimKeys, {
      description: 'Its DKIM keys: pending ones if there are any, active ones, and retired ones.',
    }),
    dnsRecords: Type.Array(DnsRecord),
  },
  { title: 'Domain' },
);

/** The query of GET /v1/domains. */
export const DomainQuery = Type.Object({ ...pageQuery, ...sortQuery() });

export type NewDomain = Static<typeof AddDomain>;
/** A warm-up as a request states it. */
export type WantedWarmUp = Static<typeof WarmUps>[number];
export type DomainChange = Static<typeof PatchDomain>;
export type DomainView = Static<typeof Domain>;
export type DomainQuery = Static<typeof DomainQuery>;
