import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import type { Tone } from '../../ui/display/event-looks.ts';
import { count } from '../../ui/display/format.ts';

interface Matter {
  readonly key: string;
  readonly tone: Tone;
  readonly text: ReactNode;
  readonly to: string;
  readonly action: string;
}

/** Usage follows sent emails. */
const USAGE = { follows: ['emails', 'domains'], every: 2_000 } as const;
/** A warning is shown from this share of a limit on. */
const NEAR = 0.8;

/** The problems that need an action; nothing is shown while there are none. */
export function Attention() {
  const matters = [...useDomainMatters(), ...useWebhookMatters(), ...useQuotaMatters()];
  if (matters.length === 0) return null;
  return (
    <section aria-label="Needs attention" className="card overflow-hidden">
      <h2 className="border-b border-edge px-5 py-3 text-heading font-semibold">Needs attention</h2>
      <ul>
        {matters.map(({ key, tone, text, to, action }) => (
          <li
            key={key}
            data-color={tone}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-edge px-5 py-3 last:border-0"
          >
            <span aria-hidden="true" className="size-2 rounded-full bg-(--state)" />
            <p className="min-w-0 flex-1 basis-64 break-words">{text}</p>
            <Link href={to} className="link min-h-6 font-medium">
              {action}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

function useDomainMatters(): readonly Matter[] {
  const { environment, may } = useViewer();
  const { items = [] } = useList(
    'GET /domains',
    { query: { limit: 50 } },
    { enabled: may('domains:read') && environment === 'live' },
  );
  return items
    .filter(({ status }) => status !== 'verified')
    .map(({ id, name, status }) => ({
      key: id,
      tone: status === 'pending' ? 'waiting' : 'bad',
      text:
        status === 'pending'
          ? `${name} waits for its DNS records. It cannot send yet.`
          : `The DNS records of ${name} are missing or wrong. Receivers may refuse its email.`,
      to: `/domains/${id}`,
      action: 'View records',
    }));
}

function useWebhookMatters(): readonly Matter[] {
  const { may } = useViewer();
  const { data = [] } = useRead('GET /webhooks', {}, { enabled: may('webhooks:read'), every: 5_000 });
  return data
    .filter(({ status, failureCount }) => status === 'disabled' || failureCount > 0)
    .map(({ id, url, status, failureCount }) => ({
      key: id,
      tone: status === 'disabled' ? 'waiting' : 'bad',
      text:
        status === 'disabled'
          ? `${hostOf(url)} is disabled and gets no events.`
          : `${hostOf(url)} has failed ${count(failureCount)} ${failureCount === 1 ? 'time' : 'times'} in a row.`,
      to: `/webhooks/${id}`,
      action: 'View deliveries',
    }));
}

/** The host of an endpoint: its path often holds a secret. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

function useQuotaMatters(): readonly Matter[] {
  const { may } = useViewer();
  const { data } = useRead('GET /workspace', {}, USAGE);
  const most = data?.limits.emailsPerMonth ?? null;
  if (!data || most === null || data.usage.emailsSent < most * NEAR) return [];
  const isOver = data.usage.emailsSent >= most;
  return [
    {
      key: 'quota',
      tone: isOver ? 'bad' : 'waiting',
      text: isOver
        ? `The ${count(most)} emails of this month are used up. Further live email is refused.`
        : `${count(data.usage.emailsSent)} of the ${count(most)} emails of this month are used.`,
      to: may('billing:read') ? '/billing' : '/',
      action: 'View usage',
    },
  ];
}
