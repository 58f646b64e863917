import type { DomainView } from './model.ts';

const record = (
  more: Pick<DomainView['dnsRecords'][number], 'purpose' | 'type' | 'name' | 'value' | 'required'>,
) => ({
  ttl: 3_600,
  priority: more.type === 'MX' ? 10 : null,
  status: 'verified' as const,
  found: [],
  error: null,
  settable: true,
  ...more,
});

/** A verified domain, for the documentation. */
export const VERIFIED: DomainView = {
  id: 'dom_01m7xj1rwp4sersf8ggsa354',
  name: 'example.com',
  status: 'verified',
  livemode: true,
  provider: 'direct',
  fallbacks: [],
  warmUps: [],
  openTracking: false,
  clickTracking: false,
  trackingDomain: null,
  returnPath: 'send.example.com',
  createdAt: '2026-11-20T21:33:00.000Z',
  updatedAt: '2026-11-20T21:33:00.000Z',
  verifiedAt: '2026-11-20T21:33:00.000Z',
  lastCheckedAt: '2026-11-20T21:33:00.000Z',
  dkimKeys: [
    {
      selector: 'svc-gsa354',
      status: 'active',
      recordNames: ['svc-gsa354._domainkey.example.com', 'svc-gsa354-ed._domainkey.example.com'],
      removableAt: null,
    },
  ],
  dnsRecords: [
    record({
      purpose: 'dkim',
      type: 'TXT',
      name: 'svc-gsa354._domainkey.example.com',
      value: 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA…',
      required: true,
    }),
    record({
      purpose: 'dkim',
      type: 'TXT',
      name: 'svc-gsa354-ed._domainkey.example.com',
      value: 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
      required: false,
    }),
    record({
      purpose: 'spf',
      type: 'TXT',
      name: 'send.example.com',
      value: 'v=spf1 a:mail.posthorn.example ~all',
      required: true,
    }),
    record({
      purpose: 'mx',
      type: 'MX',
      name: 'send.example.com',
      value: 'mail.posthorn.example',
      required: true,
    }),
    record({
      purpose: 'dmarc',
      type: 'TXT',
      name: '_dmarc.example.com',
      value: 'v=DMARC1; p=none;',
      required: false,
    }),
  ],
};

/** The same domain right after it was added. */
export const ADDED: DomainView = {
  ...VERIFIED,
  status: 'pending',
  verifiedAt: null,
  lastCheckedAt: null,
  dnsRecords: VERIFIED.dnsRecords.map((each) => ({ ...each, status: 'pending' })),
};

const NEXT = 'svc-7kq2mz';

/** The same domain during a rotation of its keys. */
export const ROTATING: DomainView = {
  ...VERIFIED,
  dkimKeys: [
    {
      selector: NEXT,
      status: 'pending',
      recordNames: [`${NEXT}._domainkey.example.com`, `${NEXT}-ed._domainkey.example.com`],
      removableAt: null,
    },
    ...VERIFIED.dkimKeys,
  ],
  dnsRecords: [
    ...VERIFIED.dnsRecords.slice(0, 2),
    {
      ...record({
        purpose: 'dkim',
        type: 'TXT',
        name: `${NEXT}._domainkey.example.com`,
        value: 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEB…',
        required: false,
      }),
      status: 'pending',
    },
    {
      ...record({
        purpose: 'dkim',
        type: 'TXT',
        name: `${NEXT}-ed._domainkey.example.com`,
        value: 'v=DKIM1; k=ed25519; p=7IkIeJb1nQWGyO1j1gKpYQmZb0Kk3bS6yQ2lM0Xo4aE=',
        required: false,
      }),
      status: 'pending',
    },
    ...VERIFIED.dnsRecords.slice(2),
  ],
};
