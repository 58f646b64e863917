import { useQuery } from '@tanstack/react-query';
import type { ApiKey, Domain, EmailItem } from '../../../../../client/operations.ts';
import type { Environment } from '../../addresses.ts';
import { request } from '../../api/requests.ts';
import { useMember, type Viewer } from '../../api/viewer.tsx';

/** A step of the way from an empty workspace to the first live email. */
export type StepName = 'test' | 'domain' | 'key' | 'live';

interface Step {
  readonly name: StepName;
  readonly title: string;
  readonly environment: Environment;
}

/** The way, in order. */
export const STEPS: readonly Step[] = [
  { name: 'test', title: 'Send a test email', environment: 'test' },
  { name: 'domain', title: 'Add your domain', environment: 'live' },
  { name: 'key', title: 'Create an API key', environment: 'live' },
  { name: 'live', title: 'Send a live email', environment: 'live' },
];

/** The name of the live key that the first start creates and prints (src/accounts/api-keys/issue.ts). */
const PRINTED = 'First live key';

/** The address of a step, from anywhere in the application. */
export const addressOf = ({ name, environment }: Step, { baseOf }: Pick<Viewer, 'baseOf'>): string =>
  `~${baseOf(environment)}/start/${name}`;

/** The completed steps; undefined while they are unknown, or when the viewer may not read them. */
export function useProgress(): Readonly<Record<StepName, boolean>> | undefined {
  const { session, environment, may } = useMember();
  const { id: workspaceId } = session.workspace;
  const { data } = useQuery({
    // The steps concern both environments, and any change in this one reads them again.
    queryKey: [workspaceId, environment, 'first steps'],
    queryFn: async ({ signal }) => {
      const sent = { signal };
      const [tests, lives, domains, keys] = await Promise.all([
        request<readonly EmailItem[]>('GET', 'test/emails?limit=1', sent),
        request<readonly EmailItem[]>('GET', 'live/emails?limit=1', sent),
        request<readonly Domain[]>('GET', 'live/domains?limit=50', sent),
        request<readonly ApiKey[]>('GET', 'live/api-keys', sent),
      ]);
      return {
        test: tests.data.length > 0,
        domain: domains.data.some(({ status }) => status === 'verified'),
        // The keys printed at the first start count only once they are used.
        key: keys.data.some(
          ({ name, env, lastUsedAt, revokedAt }) =>
            env === 'live' && revokedAt === null && (lastUsedAt !== null || name !== PRINTED),
        ),
        live: lives.data.length > 0,
      };
    },
    enabled: may('emails:read') && may('domains:read') && may('api-keys:read'),
    meta: { follows: ['emails', 'domains', 'api-keys'], every: 2_000 },
  });
  return data;
}
