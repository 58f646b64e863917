import { lazy, Suspense } from 'react';
import { useRead } from '../../api/queries.ts';
import { useMember, useViewer } from '../../api/viewer.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { count, share } from '../../ui/display/format.ts';
import { Later, Skeleton } from '../../ui/display/states.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Attention } from './attention.tsx';
import { Failures } from './failures.tsx';
import { FirstSteps } from './first-steps.tsx';
import { TestEmail } from './test-email.tsx';

// The first page loads without its chart.
const Lately = lazy(() => import('./lately.tsx'));

/** Totals, failures with their reasons, and the problems that need an action. */
export default function Overview() {
  const { session, environment, may } = useMember();
  const { data } = useRead('GET /workspace', {});
  // Before the first email there is nothing to wait for.
  const waiting = data?.usage.emailsSent ? <Skeleton className="h-112 w-full" /> : null;
  return (
    <Page title="Overview" heading={`Welcome, ${session.account.name}`}>
      <Attention />
      <Figures />
      {environment === 'live' && may('emails:read') && (
        <Later instead={waiting}>
          <Suspense fallback={waiting}>
            <Lately waiting={waiting} />
          </Suspense>
        </Later>
      )}
      <div className="grid items-start gap-5 lg:has-[>:nth-child(2)]:grid-cols-2">
        <FirstSteps />
        {environment === 'test' && <TestEmail />}
      </div>
      {may('emails:read') && (
        <Later instead={<Skeleton className="h-48 w-full" />}>
          <Failures />
        </Later>
      )}
    </Page>
  );
}

/** The numbers of the period, with what the plan allows. */
function Figures() {
  const { environment } = useViewer();
  const { data } = useRead('GET /workspace', {}, { follows: ['emails', 'domains'], every: 2_000 });
  const usage = data?.usage;
  const limits = data?.limits;
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <Figure
        name={environment === 'live' ? 'Sent this month' : 'Live email this month'}
        value={usage?.emailsSent}
        most={limits?.emailsPerMonth}
      />
      <Figure name="Test emails today" value={usage?.testSendsToday} />
      <Figure name="Domains" value={usage?.domains} most={limits?.domains} />
    </div>
  );
}

const Figure = (props: {
  readonly name: string;
  readonly value: number | undefined;
  readonly most?: number | null | undefined;
}) => (
  <Card>
    <p className="text-dim">{props.name}</p>
    {props.value === undefined ? (
      <Skeleton className="h-8 w-24" />
    ) : (
      <p className="num -mt-2 text-figure font-semibold tracking-tight">{count(props.value)}</p>
    )}
    {typeof props.most === 'number' && props.value !== undefined && (
      <Meter
        label={props.name}
        value={props.value}
        most={props.most}
        words={`${share(props.value, props.most)} of ${count(props.most)}`}
      />
    )}
  </Card>
);
