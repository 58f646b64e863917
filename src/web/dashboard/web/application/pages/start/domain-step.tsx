import { useEffect } from 'react';
import { type ItemOf, useChange, useList, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Time } from '../../ui/display/time.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { Card } from '../../ui/page.tsx';
import { DomainNameField, Records } from '../domains/records.tsx';
import { areLookedUp, DOMAIN_STATES } from '../domains/states.ts';

/**
 * While the page is visible, the domain is read at the first interval and its DNS is checked at the second.
 */
const READ_MS = 3_000;
const LOOK_UP_MS = 15_000;
/** A look-up that fails is made again at the next interval. */
const nextTime = (): void => {};

/** The domain that this way is about: one that can send, else the one that was added last. */
export function useStartDomain(): ReturnType<typeof useList<'GET /domains'>> & {
  readonly domain: ItemOf<'GET /domains'> | undefined;
} {
  const list = useList('GET /domains', { query: { limit: 50 } }, { every: READ_MS });
  const domain = list.items?.find(({ status }) => status === 'verified') ?? list.items?.[0];
  return { ...list, domain };
}

/** The sending domain, and its records until they are found. */
export function DomainStep() {
  const { may } = useViewer();
  const { domain, items, error, refetch } = useStartDomain();
  if (error) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!items) return <Skeleton className="h-72 w-full" />;
  if (domain) return <Waiting id={domain.id} />;
  return (
    <Card
      title="Add your domain"
      about="Live email is signed by your own domain. You get the records for its DNS, and the service checks them until they are in place."
    >
      {may('domains:write') ? (
        <NewDomain />
      ) : (
        <p>Your role cannot add a domain. Ask a member with more permissions.</p>
      )}
    </Card>
  );
}

function NewDomain() {
  const create = useChange('POST /domains', ['first steps']);
  return (
    <Form action="Add domain" onSend={({ name = '' }) => create.mutateAsync({ body: { name: name.trim() } })}>
      <DomainNameField />
    </Form>
  );
}

function Waiting({ id }: { readonly id: string }) {
  const { may } = useViewer();
  const { data, error, refetch } = useRead('GET /domains/{id}', { path: { id } }, { every: READ_MS });
  const { mutate: lookUp, isPending } = useChange('POST /domains/{id}/verify', ['first steps']);
  const isWaiting = data !== undefined && data.status !== 'verified' && may('domains:write');
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => {
      if (!document.hidden) lookUp({ path: { id } }, undefined, nextTime);
    }, LOOK_UP_MS);
    return () => clearInterval(timer);
  }, [isWaiting, lookUp, id]);
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-72 w-full" />;
  const required = data.dnsRecords.filter((record) => record.required);
  const found = required.filter(({ status }) => status === 'verified').length;
  return (
    <Card
      title={data.name}
      about={
        data.status === 'verified'
          ? data.lastCheckedAt === null
            ? 'This domain can send email, which is captured here. Set the records before the service delivers email.'
            : 'All required records are in place. This domain can send email.'
          : `Set these records at the DNS provider of ${data.name}. The service checks them every ${LOOK_UP_MS / 1_000} seconds while this page is open; new records take minutes, rarely hours.`
      }
      actions={
        <span className="flex flex-wrap items-center gap-3">
          <span role="status" className="flex items-center gap-2">
            <Badge status={data.status} {...DOMAIN_STATES[data.status]} />
            {data.lastCheckedAt !== null && (
              <span className="num text-caption text-dim">
                {found} of {required.length} found
              </span>
            )}
          </span>
          {data.status === 'verified' ? (
            <ButtonLink to={`/domains/${id}`}>View domain</ButtonLink>
          ) : (
            may('domains:write') && (
              <Button busy={isPending} onClick={() => lookUp({ path: { id } })}>
                Check now
              </Button>
            )
          )}
        </span>
      }
    >
      {data.lastCheckedAt !== null && (
        <p className="text-caption text-dim">
          Checked <Time at={data.lastCheckedAt} />
        </p>
      )}
      <Records records={data.dnsRecords} isLookedUp={areLookedUp(data)} />
    </Card>
  );
}
