import type { Campaign } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { Figures, NotCounted } from '../../ui/charts/figures.tsx';
import { PartsBar } from '../../ui/charts/progress.tsx';
import { count, rateText } from '../../ui/display/format.ts';
import { Failed, Skeleton } from '../../ui/display/states.tsx';
import { Card } from '../../ui/page.tsx';
import { useTrackedDomains } from '../names.ts';
import { isCounted, type TrackedAction, trackingOfCampaign } from '../tracking.ts';

/** The numbers of a campaign. Each contact of the frozen audience is in exactly one part of the bar. */
export function Ledger({ campaign, campaign: { id } }: { readonly campaign: Campaign }) {
  const { data, error, refetch } = useRead(
    'GET /campaigns/{id}/stats',
    { path: { id } },
    { follows: ['emails'] },
  );
  const domains = useTrackedDomains();
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-64 w-full" />;
  const to = (outcome: string): string => `/campaigns/${id}?tab=recipients&outcome=${outcome}`;
  const { total, sent, remaining, skipped, failed, delivered, opened, clicked, bounced } = data;
  const tracking = trackingOfCampaign(campaign, domains);
  const engagement = (action: TrackedAction, name: string, people: typeof opened, machines: number) =>
    isCounted(tracking, action, people.unique + machines)
      ? { name, value: count(people.unique), sub: rateText(people.rate), to: to(action) }
      : { name, value: <NotCounted />, sub: 'Tracking is off' };
  return (
    <>
      <Card
        title={`${count(total)} in the audience`}
        about="Counted when the campaign started. Each contact has one of these outcomes. Select a number to see its contacts."
      >
        <PartsBar
          total={total}
          parts={[
            { name: 'sent', value: sent, tone: 'good' },
            { name: 'failed', value: failed, tone: 'bad' },
            { name: 'skipped', value: skipped, tone: 'waiting' },
            { name: 'remaining', value: remaining, tone: 'quiet' },
          ]}
        />
        <Figures
          figures={[
            { name: 'Sent', value: count(sent), tone: 'good', to: to('sent') },
            {
              name: 'Failed',
              value: count(failed),
              tone: 'bad',
              to: to('failed'),
              ...(data.inDoubt > 0 && { sub: `${count(data.inDoubt)} possibly delivered` }),
            },
            { name: 'Skipped', value: count(skipped), tone: 'waiting', to: to('skipped') },
            { name: 'Remaining', value: count(remaining), tone: 'quiet', to: to('remaining') },
          ]}
        />
      </Card>
      <Card
        title="Engagement"
        about="Rates are of delivered emails. Opens and clicks by bots are counted apart."
      >
        <Figures
          figures={[
            {
              name: 'Delivered',
              value: count(delivered.count),
              sub: rateText(delivered.rate),
              to: to('delivered'),
            },
            engagement('opened', 'Opened', opened, data.machineOpens),
            engagement('clicked', 'Clicked', clicked, data.machineClicks),
            {
              name: 'Bounced',
              value: count(bounced.permanent + bounced.transient),
              sub: rateText(bounced.rate),
              to: to('bounced'),
            },
            { name: 'Replied', value: count(data.replied), to: to('replied') },
            { name: 'Complained', value: count(data.complained), to: to('complained') },
            { name: 'Unsubscribed', value: count(data.unsubscribed), to: to('unsubscribed') },
          ]}
        />
        <p className="text-caption text-dim">
          Excludes opens by bots: {count(data.machineOpens)}, and clicks by bots: {count(data.machineClicks)}.
        </p>
      </Card>
    </>
  );
}
