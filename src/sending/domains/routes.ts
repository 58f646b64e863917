import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/request/route.ts';
import { notFound } from '../../platform/errors/failure.ts';
import { addDomain } from './add.ts';
import { type DomainCommands, patchDomain, removeDomain, verifyDomain } from './commands.ts';
import { ADDED, ROTATING, VERIFIED } from './examples.ts';
import { AddDomain, Domain, DomainQuery, PatchDomain } from './model.ts';
import { findDomain, listDomains } from './queries.ts';
import { rotateKeys } from './records/rotate.ts';

const DOMAIN_ID = { prefix: 'dom', resource: 'domain' } as const;

const SHARED =
  'Live and test keys share the domains of a workspace; only a live key may change, rotate or remove one.';

/** The endpoints of sending domains. */
export const domainRoutes = (deps: DomainCommands): readonly Route[] => [
  route({
    method: 'POST',
    path: '/v1/domains',
    name: 'createDomain',
    audit: { action: 'domain.created' },
    permission: 'domains:write',
    summary: 'Add a sending domain',
    description: `Makes its DKIM keys and tells the DNS records to set. Its records are then looked up again and again, soon at first, until they are there. While the service captures mail instead of sending it, names under .test, .example, .localhost and .invalid are verified at once. ${SHARED} A verified domain also speaks for the names below it.`,
    body: AddDomain,
    response: Domain,
    status: 201,
    failures: ['CONFLICT', 'QUOTA_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    example: { body: { name: 'example.com' }, response: ADDED },
    handle: (call) => addDomain(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/domains',
    name: 'listDomains',
    permission: 'domains:read',
    summary: 'List sending domains',
    description: `Newest first. ${SHARED}`,
    query: DomainQuery,
    response: Type.Array(Domain),
    status: 200,
    example: { response: [VERIFIED] },
    handle: (call) => listDomains(deps, call),
  }),
  route({
    method: 'GET',
    path: '/v1/domains/:id',
    name: 'getDomain',
    permission: 'domains:read',
    summary: 'Get a sending domain with its DNS records',
    description:
      'The records to publish, and for each whether it was found when the domain was last checked. The status is that of the last check; `POST …/verify` checks again.',
    params: { id: DOMAIN_ID },
    response: Domain,
    status: 200,
    example: { response: VERIFIED },
    handle: async ({ caller, params }) => (await findDomain(deps, caller, params.id)) ?? notFound('domain'),
  }),
  route({
    method: 'PATCH',
    path: '/v1/domains/:id',
    name: 'updateDomain',
    audit: { action: 'domain.changed' },
    permission: 'domains:write',
    summary: 'Change what a sending domain tracks, or how its mail leaves',
    description:
      'What is left out stays. Tracking holds for emails that are accepted afterwards; another provider for every attempt from then on. A provider may ask for other DNS records: they are looked up at once, and a verified domain sends on for an hour while they are not there.',
    params: { id: DOMAIN_ID },
    body: PatchDomain,
    response: Domain,
    status: 200,
    example: { body: { clickTracking: true }, response: { ...VERIFIED, clickTracking: true } },
    failures: ['CONFLICT', 'FORBIDDEN'],
    handle: (call) => patchDomain(deps, call),
  }),
  route({
    method: 'DELETE',
    path: '/v1/domains/:id',
    name: 'deleteDomain',
    audit: { action: 'domain.deleted' },
    permission: 'domains:write',
    summary: 'Remove a sending domain',
    description:
      'At once and for good: its keys are destroyed, and its place among the plan’s domains is free again. Live emails that are scheduled from it fail with `domain_removed` when they come due, and no event tells of it, since no server was asked; what a campaign has given out waits until a domain of that name is verified again.',
    params: { id: DOMAIN_ID },
    response: Type.Null(),
    status: 204,
    failures: ['FORBIDDEN'],
    handle: (call) => removeDomain(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/domains/:id/verify',
    name: 'verifyDomain',
    permission: 'domains:write',
    summary: 'Look at the DNS records of a sending domain now',
    description:
      'Asks DNS afresh and answers with what it found. When DNS takes longer than six seconds, the answer is what was known before, and the look goes on. Repeating it is harmless; with the same Idempotency-Key the answer is that of the first time, and DNS is not asked again.',
    params: { id: DOMAIN_ID },
    response: Domain,
    status: 200,
    example: { response: VERIFIED },
    handle: (call) => verifyDomain(deps, call),
  }),
  route({
    method: 'POST',
    path: '/v1/domains/:id/rotate-dkim',
    name: 'rotateDomainDkim',
    audit: { action: 'domain.keysRotated' },
    permission: 'domains:write',
    summary: 'Give a sending domain new DKIM keys',
    description:
      'Makes new keys and shows their records beside the old ones. The old keys sign until the new records are seen in DNS, soon after they are set or with POST /v1/domains/{id}/verify; then the new ones sign by themselves, and Amazon SES is result of them where it is the provider. Where the Ed25519 record of the old keys is there, that of the new ones is awaited too, for three days. The old records may go from DNS seven days after the switch: `dkimKeys` tells when. While a rotation waits for its records, another one is a CONFLICT: it would undo what somebody may be writing into DNS.',
    params: { id: DOMAIN_ID },
    response: Domain,
    status: 200,
    failures: ['CONFLICT', 'FORBIDDEN', 'SERVICE_UNAVAILABLE'],
    example: { response: ROTATING },
    handle: (call) => rotateKeys(deps, call),
  }),
];
