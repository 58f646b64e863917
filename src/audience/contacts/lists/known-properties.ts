import { type Static, Type } from '@sinclair/typebox';
import type { Call } from '../../../http/request/route.ts';
import { literals } from '../../../http/request/schema.ts';
import type { Reads } from '../../../platform/db/reads.ts';

/** The newest contacts that are looked through. A contact has at most 100 properties. */
export const LOOKED_THROUGH = 1_000;
/** The most properties of an answer, and the most values of each. */
export const MOST_KNOWN = 200;
const MOST_KNOWN_VALUES = 20;
/** Characters of a value: a longer one is no choice. */
const LONGEST_VALUE = 100;

const TYPES = ['string', 'number', 'boolean', 'date'] as const;

/** A property that contacts have. */
export const KnownProperty = Type.Object(
  {
    key: Type.String(),
    types: Type.Array(literals(TYPES), {
      description: 'The types of its values; `date` for texts that begin with a day, such as `2026-11-20`.',
    }),
    contacts: Type.Integer({ minimum: 1, description: 'How many of these contacts have it.' }),
    values: Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      maxItems: MOST_KNOWN_VALUES,
      description: `Its ${MOST_KNOWN_VALUES} most frequent values of at most ${LONGEST_VALUE} characters.`,
    }),
  },
  { title: 'KnownProperty' },
);
type KnownProperty = Static<typeof KnownProperty>;

const KNOWN = `with sample as (
  select properties from contacts where workspace_id = $1 and livemode = $2 order by id desc limit ${LOOKED_THROUGH}
), found as (
  select p.key, p.value, count(*)::integer as number from sample, jsonb_each(sample.properties) p group by p.key, p.value
), ranked as (
  select key, value, number,
    case when jsonb_typeof(value) = 'string' and value #>> '{}' ~ '^\\d{4}-\\d{2}-\\d{2}' then 'date' else jsonb_typeof(value) end as type,
    row_number() over (partition by key order by length(value #>> '{}') > ${LONGEST_VALUE}, number desc, value) as place
  from found
)
select key, array_agg(distinct type order by type) as types, sum(number)::integer as contacts,
  coalesce(json_agg(value order by place) filter (where place <= ${MOST_KNOWN_VALUES} and length(value #>> '{}') <= ${LONGEST_VALUE}), '[]') as values
from ranked group by key order by sum(number) desc, key limit ${MOST_KNOWN}`;

/** The properties of the newest contacts, the most frequent first. @throws UnavailableError */
export const knownProperties = (
  { reads }: { readonly reads: Reads },
  { caller }: Pick<Call, 'caller'>,
): Promise<readonly KnownProperty[]> =>
  reads.query<KnownProperty>(KNOWN, [caller.workspaceId, caller.livemode]);
