import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Check } from '../../../icons.tsx';
import type { ApiKey, Domain, EmailItem } from '../../api/operations.ts';
import { request } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Card } from '../../ui/page.tsx';

/** What has been done of the way to the first live email; it concerns both environments at once. */
function useProgress(isAsked: boolean) {
  const { session } = useViewer();
  return useQuery({
    queryKey: [session.workspace.id, 'first steps'],
    queryFn: async ({ signal }) => {
      const [tests, lives, domains, keys] = await Promise.all([
        request<readonly EmailItem[]>('GET', 'test/emails?limit=1', { signal }),
        request<readonly EmailItem[]>('GET', 'live/emails?limit=1', { signal }),
        request<readonly Domain[]>('GET', 'live/domains?limit=50', { signal }),
        request<readonly ApiKey[]>('GET', 'live/api-keys', { signal }),
      ]);
      return {
        test: tests.data.length > 0,
        key: keys.data.some(({ lastUsedAt, revokedAt }) => lastUsedAt !== null && revokedAt === null),
        domain: domains.data.some(({ status }) => status === 'verified'),
        live: lives.data.length > 0,
      };
    },
    enabled: isAsked,
    meta: { follows: ['emails', 'domains', 'api-keys'], every: 2_000 },
  });
}

const STEPS = [
  { name: 'test', text: 'Send a test email', to: '~/app/test' },
  { name: 'key', text: 'Send one from your program, with an API key', to: '/api-keys' },
  { name: 'domain', text: 'Add a domain and set its records', to: '~/app/live/domains' },
  { name: 'live', text: 'Send the first live email', to: '~/app/live/emails' },
] as const;

/** The way to the first live email. It goes away when it has been gone. */
export function FirstSteps() {
  const { may } = useViewer();
  const { data } = useProgress(may('emails:read') && may('domains:read') && may('api-keys:read'));
  if (!data || STEPS.every(({ name }) => data[name])) return null;
  const next = STEPS.find(({ name }) => !data[name])?.name;
  return (
    <Card title="First steps" about="From here to the first live email.">
      <ol className="grid gap-1">
        {STEPS.map(({ name, text, to }, index) => (
          <li
            key={name}
            data-color={data[name] ? 'good' : 'quiet'}
            className="flex min-h-8 items-center gap-3"
          >
            <span
              aria-hidden="true"
              className={`grid size-6 shrink-0 place-items-center rounded-full text-caption font-semibold ${data[name] ? 'bg-(--tint) text-(--state)' : name === next ? 'bg-accent text-on-accent' : 'bg-hover text-dim'}`}
            >
              {data[name] ? <Check className="size-3.5" /> : index + 1}
            </span>
            {data[name] ? (
              <span className="text-dim">
                {text}
                <span className="sr-only">: done</span>
              </span>
            ) : (
              <Link href={to} className={name === next ? 'link font-medium' : 'link'}>
                {text}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
