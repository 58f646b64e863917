import type { ReactNode } from 'react';
import { useRead } from '../../api/queries.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Chart } from '../../ui/charts/chart.tsx';
import { Figures, NotCounted } from '../../ui/charts/figures.tsx';
import { intervalText, rateText, roundCount } from '../../ui/display/format.ts';
import { Card } from '../../ui/page.tsx';
import { rangeOf } from '../analytics/periods.ts';
import { useTrackedDomains } from '../names.ts';
import { isCounted, trackingOf } from '../tracking.ts';

/** A summary of the last 30 days. Nothing is shown before the first email. */
export default function Lately({ waiting }: { readonly waiting: ReactNode }) {
  const { data } = useRead(
    'GET /analytics',
    { query: rangeOf('30') },
    { follows: ['emails'], every: 15_000 },
  );
  const tracking = trackingOf(useTrackedDomains());
  if (!data) return waiting;
  if (data.totals.accepted === 0) return null;
  const { totals, rates } = data;
  return (
    <Card
      title="Last 30 days"
      actions={
        <ButtonLink look="quiet" to="/analytics">
          Analytics
        </ButtonLink>
      }
    >
      <Figures
        figures={[
          { name: 'Accepted', value: roundCount(totals.accepted) },
          { name: 'Delivered', value: roundCount(totals.delivered), sub: rateText(rates.delivered) },
          isCounted(tracking, 'opened', totals.opened + totals.machineOpened)
            ? { name: 'Opened', value: roundCount(totals.opened), sub: rateText(rates.opened) }
            : { name: 'Opened', value: <NotCounted />, sub: 'Tracking is off' },
          { name: 'Bounced', value: roundCount(totals.bounced), sub: rateText(rates.bounced) },
          { name: 'Complained', value: roundCount(totals.complained), sub: rateText(rates.complained) },
        ]}
      />
      <Chart
        title="Accepted"
        points={data.series.map((point) => ({
          key: point.start,
          label: intervalText(point.local, data.interval),
          value: point.accepted,
          isOpen: point.open,
        }))}
      />
    </Card>
  );
}
