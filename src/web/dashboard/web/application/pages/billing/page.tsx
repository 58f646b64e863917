import { PLANS, type PlanName } from '../../../../../../platform/config/plans.ts';
import type { Billing } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useMember, useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { capital, count, dayText, share } from '../../ui/display/format.ts';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Card, Facts, Page } from '../../ui/page.tsx';

const SOLD = ['free', 'starter', 'growth'] as const satisfies readonly PlanName[];

/** The plan, what of it is used, and the way to another one. */
export default function PlanAndUsage() {
  const { data, error, refetch } = useRead('GET /billing', {});
  return (
    <Page
      title="Plan and usage"
      about="Live email counts per calendar month in UTC. Test email does not count."
    >
      {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
      {data ? <Usage billing={data} /> : !error && <Skeleton className="h-48 w-full" />}
      {data && data.plan !== 'unlimited' && <Plans billing={data} />}
    </Page>
  );
}

function Usage({ billing }: { readonly billing: Billing }) {
  const { may } = useViewer();
  const portal = useChange('POST /billing/portal');
  const { emailsPerMonth, domains } = PLANS[billing.plan];
  const isPaid = billing.status !== 'none';
  return (
    <Card
      title={`Plan ${capital(billing.plan)}`}
      actions={
        isPaid &&
        may('billing:write') && (
          <Button
            busy={portal.isPending}
            onClick={() => portal.mutate({}, ({ url }) => location.assign(url))}
          >
            Manage billing
          </Button>
        )
      }
    >
      <div className="grid gap-5 sm:grid-cols-2">
        <Part name="Emails this month" value={billing.usage.emailsSent} most={emailsPerMonth} />
        <Part name="Domains" value={billing.usage.domains} most={domains} />
      </div>
      <Facts
        facts={{
          Subscription: isPaid ? <Badge status={billing.status} /> : null,
          'Renews on': billing.cancelAt === null && billing.renewsAt && dayText(billing.renewsAt),
          'Ends on': billing.cancelAt && dayText(billing.cancelAt),
        }}
      />
    </Card>
  );
}

const Part = (props: { readonly name: string; readonly value: number; readonly most: number | null }) => (
  <div className="grid gap-1.5">
    <p className="text-dim">{props.name}</p>
    <p className="num text-figure font-semibold tracking-tight">{count(props.value)}</p>
    {props.most === null ? (
      <p className="text-caption text-dim">no limit</p>
    ) : (
      <Meter
        label={props.name}
        value={props.value}
        most={props.most}
        words={`${share(props.value, props.most)} of ${count(props.most)}`}
      />
    )}
  </div>
);

function Plans({ billing }: { readonly billing: Billing }) {
  const { session, may } = useMember();
  const checkout = useChange('POST /billing/checkout');
  return (
    <ul aria-label="Plans" className="grid gap-4 md:grid-cols-3">
      {SOLD.map((plan) => (
        <li
          key={plan}
          className={`card grid grid-cols-1 content-start gap-3 p-5 ${plan === billing.plan ? 'border-accent' : ''}`}
        >
          <h2 className="flex items-center gap-2 text-heading font-semibold">
            {capital(plan)}
            {plan === billing.plan && <Badge status="active">Current plan</Badge>}
          </h2>
          <p className="text-dim">
            {PLANS[plan].emailsPerMonth === null
              ? 'Unlimited emails'
              : `${count(PLANS[plan].emailsPerMonth)} emails per month`}
            <br />
            {PLANS[plan].domains === null ? 'Unlimited domains' : `${PLANS[plan].domains} domains`}
          </p>
          {plan !== 'free' && plan !== billing.plan && session.takesPayments && may('billing:write') && (
            <Button
              busy={checkout.isPending}
              onClick={() => checkout.mutate({ body: { plan } }, ({ url }) => location.assign(url))}
            >
              Change to {capital(plan)}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
