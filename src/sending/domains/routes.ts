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

export const domainRoutes = (deps: DomainCommands): readonly Route[] => [
  route('POST /v1/domains', {
    name: 'createDomain',
    audit: { action: 'domain.created' },
    permission: 'domains:write',
    summary: 'Add a sending domain',
    description: `Creates its DKIM keys and returns the DNS records to set. The service then checks the records, often at first, until DNS has them. While the service captures mail instead of sending it, names under .test, .example, .localhost and .invalid are verified at once. ${SHARED} A verified domain also covers the names below it.`,
    body: AddDomain,
    response: Domain,
    status: 201,
    failures: ['CONFLICT', 'QUOTA_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    example: { body: { name: 'example.com' }, response: ADDED },
    handle: (call) => addDomain(deps, call),
  }),
  route('GET /v1/domains', {
    name: 'listDomains',
    permission: 'domains:read',
    summary: 'List sending domains',
    description: `Newest first. ${SHARED}`,
    query: DomainQuery,
    response: Type.Array(Domain),
    example: { response: [VERIFIED] },
    handle: (call) => listDomains(deps, call),
  }),
  route('GET /v1/domains/:id', {
    name: 'getDomain',
    permission: 'domains:read',
    summary: 'Get a sending domain with its DNS records',
    description:
      'The records to publish, each with the result of the last check. The status is that of the last check; `POST …/verify` checks again.',
    params: { id: DOMAIN_ID },
    response: Domain,
    example: { response: VERIFIED },
    handle: async ({ caller, params }) => (await findDomain(deps, caller, params.id)) ?? notFound('domain'),
  }),
  route('PATCH /v1/domains/:id', {
    name: 'updateDomain',
    audit: { action: 'domain.changed' },
    permission: 'domains:write',
    summary: 'Change the tracking or the transport of a sending domain',
    description:
      'Members that are left out stay as they are. Tracking applies to emails that are accepted afterwards, a new provider to every attempt from then on. A provider may need other DNS records: they are checked at once, and a verified domain continues to send for an hour while they are missing.',
    params: { id: DOMAIN_ID },
    body: PatchDomain,
    response: Domain,
    example: { body: { clickTracking: true }, response: { ...VERIFIED, clickTracking: true } },
    failures: ['CONFLICT', 'FORBIDDEN'],
    handle: (call) => patchDomain(deps, call),
  }),
  route('DELETE /v1/domains/:id', {
    name: 'deleteDomain',
    audit: { action: 'domain.deleted' },
    permission: 'domains:write',
    summary: 'Remove a sending domain',
    description:
      'Takes effect at once and cannot be undone: its keys are destroyed, and it no longer counts against the plan’s domains. Live emails that are scheduled from it fail with `domain_removed` when they come due, without an event, since no server was contacted; emails of campaigns wait until a domain of that name is verified again.',
    params: { id: DOMAIN_ID },
    failures: ['FORBIDDEN'],
    handle: (call) => removeDomain(deps, call),
  }),
  route('POST /v1/domains/:id/verify', {
    name: 'verifyDomain',
    permission: 'domains:write',
    summary: 'Check the DNS records of a sending domain',
    description:
      'Looks up the records in DNS without a cache and returns the result. When DNS takes longer than six seconds, the reply has the previous result, and the check continues. It is safe to repeat; with the same Idempotency-Key the reply is the first one, and DNS is not queried again.',
    params: { id: DOMAIN_ID },
    response: Domain,
    example: { response: VERIFIED },
    handle: (call) => verifyDomain(deps, call),
  }),
  route('POST /v1/domains/:id/rotate-dkim', {
    name: 'rotateDomainDkim',
    audit: { action: 'domain.keysRotated' },
    permission: 'domains:write',
    summary: 'Rotate the DKIM keys of a sending domain',
    description:
      'Creates new keys and returns their records beside the old ones. The old keys sign until a check finds the new records in DNS, soon after you set them or with POST /v1/domains/{id}/verify; then the new keys sign, and Amazon SES receives them where it is the provider. Where DNS has the Ed25519 record of the old keys, the switch also waits for that of the new ones, for up to three days. You may delete the old records seven days after the switch: `dkimKeys` has the time. While a rotation waits for its records, another one is a CONFLICT: it would invalidate records that you may be setting.',
    params: { id: DOMAIN_ID },
    response: Domain,
    failures: ['CONFLICT', 'FORBIDDEN', 'SERVICE_UNAVAILABLE'],
    example: { response: ROTATING },
    handle: (call) => rotateKeys(deps, call),
  }),
];
