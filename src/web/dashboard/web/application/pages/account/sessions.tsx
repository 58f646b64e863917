import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Card } from '../../ui/page.tsx';
import { useAccountChange, useAccountList } from './account.ts';

interface OwnSession {
  readonly id: string;
  readonly userAgent: string;
  readonly client: string;
  readonly lastSeenAt: string;
  readonly current: boolean;
}

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Mac OS', 'macOS'],
  ['Windows', 'Windows'],
  ['Linux', 'Linux'],
] as const;
const named = (names: readonly (readonly [string, string])[], text: string): string | undefined =>
  names.find(([mark]) => text.includes(mark))?.[1];

/** `Firefox on Linux`, or what it calls itself. */
const deviceOf = (userAgent: string): string => {
  const parts = [named(BROWSERS, userAgent), named(SYSTEMS, userAgent)].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(' on ') : userAgent || 'Unknown browser';
};

/** The sessions of the account, each with a button that ends it. */
export function Sessions() {
  const { data } = useAccountList<OwnSession>('sessions');
  const change = useAccountChange('sessions');
  const end = (path: string, told: string) =>
    void change('DELETE', path).then(() => toast(told), toastProblem);
  return (
    <Card
      title="Active sessions"
      actions={
        (data?.length ?? 0) > 1 && (
          <Button onClick={() => end('sessions', 'Signed out everywhere else')}>
            Sign out everywhere else
          </Button>
        )
      }
    >
      {data ? (
        <ul className="grid grid-cols-1 gap-2">
          {data.map(({ id, userAgent, client, lastSeenAt, current }) => (
            <li
              key={id}
              className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-edge px-3.5 py-2"
            >
              <span className="min-w-0 flex-1 basis-48">
                <span className="block truncate font-medium" title={userAgent}>
                  {deviceOf(userAgent)}
                </span>
                <span className="block text-caption text-dim">
                  {client}, last active <Time at={lastSeenAt} />
                </span>
              </span>
              {current ? (
                <Badge status="active">This session</Badge>
              ) : (
                <Button
                  look="quiet"
                  aria-label={`Sign out ${deviceOf(userAgent)}`}
                  onClick={() => end(`sessions/${id}`, 'Signed out')}
                >
                  Sign out
                </Button>
              )}
            </li>
          ))}
        </ul>
      ) : (
        <Skeleton className="h-16 w-full" />
      )}
    </Card>
  );
}
