import { useId } from 'react';
import { Link } from 'wouter';
import { useDownload, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Download } from '../../ui/button.tsx';
import { Chart } from '../../ui/charts/chart.tsx';
import { count, intervalText, roundCount } from '../../ui/display/format.ts';
import { Empty, Skeleton } from '../../ui/display/states.tsx';
import { Problem } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { ChoiceFilter, FilterBar, TextFilter, useFilters } from '../../ui/lists/filters.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { useTemplateNames, useTrackedDomains } from '../names.ts';
import { isCounted, trackingOf } from '../tracking.ts';
import { PERIODS, type Period, rangeOf } from './periods.ts';
import { Rates } from './rates.tsx';

/** The numbers that a chart may show. */
const METRICS = {
  accepted: 'Accepted',
  delivered: 'Delivered',
  opened: 'Opened',
  clicked: 'Clicked',
  bounced: 'Bounced',
  complained: 'Complained',
  unsubscribed: 'Unsubscribed',
} as const;
type Metric = keyof typeof METRICS;

const BY = { accepted: 'By acceptance time' } as const;

const TrackingOff = () => (
  <p className="text-dim">
    Tracking is off for the domain.{' '}
    <Link href="/domains" className="link">
      Open domains
    </Link>{' '}
    to turn it on for new email.
  </p>
);

/** The events of live mail over time and as rates. */
export default function Analytics() {
  const { environment } = useViewer();
  const { values, set, filter, isSet, clear } = useFilters(['period', 'by', 'tag', 'template', 'domain']);
  const shown = useFilters(['metric']);
  const period: Period = values.period in PERIODS ? (values.period as Period) : '30';
  const metric: Metric = shown.values.metric in METRICS ? (shown.values.metric as Metric) : 'delivered';
  const isLive = environment === 'live';
  const templates = useTemplateNames();
  const domains = useTrackedDomains();
  const tracking = trackingOf(domains.filter(({ id }) => values.domain === '' || values.domain === id));
  const name = useId();
  const query = {
    ...rangeOf(period),
    ...(values.by === 'accepted' && { by: 'accepted' as const }),
    ...(values.tag !== '' && { tag: values.tag }),
    ...(values.template !== '' && { templateId: values.template }),
    ...(values.domain !== '' && { domainId: values.domain }),
  };
  const file = useDownload('GET /analytics/export', { query });
  const { data, error } = useRead(
    'GET /analytics',
    { query },
    { follows: ['emails'], every: 15_000, enabled: isLive },
  );
  const about =
    'The outcomes of live mail. Opens and clicks are those of people; those of bots are counted apart.';
  if (!isLive)
    return (
      <Page title="Analytics" about={about}>
        <Empty title="Test mail is not counted" icon={icons.Chart}>
          <p>
            Test mail never reaches a person, so its numbers would say nothing. Switch to the live
            environment.
          </p>
        </Empty>
      </Page>
    );
  const totals = data?.totals;
  const counted = {
    opened: isCounted(tracking, 'opened', totals ? totals.opened + totals.machineOpened : 0),
    clicked: isCounted(tracking, 'clicked', totals ? totals.clicked + totals.machineClicked : 0),
  };
  const isShown = (each: string) => (each === 'opened' || each === 'clicked' ? counted[each] : true);
  return (
    <Page
      title="Analytics"
      about={about}
      actions={
        <Download href={file} name="analytics.csv">
          Export CSV
        </Download>
      }
    >
      <FilterBar isSet={isSet} onClear={clear}>
        <select
          aria-label="Period"
          value={period}
          onChange={({ target }) => set({ period: target.value === '30' ? '' : target.value })}
          className="field field-small w-auto"
        >
          {Object.entries(PERIODS).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <select
          aria-label="Counting"
          value={values.by}
          onChange={({ target }) => set({ by: target.value })}
          className="field field-small w-auto"
        >
          <option value="">By event time</option>
          {Object.entries(BY).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        {domains.length > 0 && (
          <ChoiceFilter
            label="Domain"
            {...filter('domain')}
            options={Object.fromEntries(domains.map((each) => [each.id, each.name]))}
          />
        )}
        {Object.keys(templates).length > 0 && (
          <ChoiceFilter label="Template" {...filter('template')} options={templates} />
        )}
        <TextFilter label="Tag (name:value)" isExact {...filter('tag')} />
      </FilterBar>
      {error && <Problem>{error.message}</Problem>}
      {data ? (
        <>
          <Card title="Over time">
            <fieldset className="grid grid-cols-[repeat(auto-fit,minmax(7rem,1fr))] gap-2">
              <legend className="sr-only">Metric of the chart</legend>
              {Object.entries(METRICS).map(([each, text]) => (
                <label
                  key={each}
                  className="relative grid cursor-pointer gap-0.5 rounded-lg border border-transparent px-3 py-2 hover:bg-hover has-checked:border-edge-strong has-checked:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
                >
                  <input
                    type="radio"
                    name={name}
                    checked={metric === each}
                    onChange={() => shown.set({ metric: each === 'delivered' ? '' : each })}
                    className="sr-only"
                  />
                  <span className="text-caption text-dim">{text}</span>
                  {isShown(each) ? (
                    <span
                      className="num text-[20px] leading-7 font-semibold"
                      title={count(data.totals[each as Metric])}
                    >
                      {roundCount(data.totals[each as Metric])}
                    </span>
                  ) : (
                    <span className="leading-7 text-dim">Not counted</span>
                  )}
                </label>
              ))}
            </fieldset>
            {!isShown(metric) && <TrackingOff />}
            <Chart
              title={METRICS[metric]}
              points={data.series.map((point) => ({
                key: point.start,
                label: intervalText(point.local, data.interval),
                value: point[metric],
                isOpen: point.open,
              }))}
            />
            <p className="text-caption text-dim">
              {data.interval === 'day' ? 'Days' : 'Hours'} of {data.timeZone}. Excludes opens by bots:{' '}
              {count(data.totals.machineOpened)}, and clicks by bots: {count(data.totals.machineClicked)}.
            </p>
          </Card>
          <Rates rates={data.rates} counted={counted} />
        </>
      ) : (
        !error && <Skeleton className="h-96 w-full" />
      )}
    </Page>
  );
}
