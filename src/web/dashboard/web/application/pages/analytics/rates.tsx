import type { Operations } from '../../../../../client/operations.ts';
import type { Tone } from '../../ui/display/event-looks.ts';
import { rateText } from '../../ui/display/format.ts';
import { Card } from '../../ui/page.tsx';
import type { TrackedAction } from '../tracking.ts';

type Rates = Operations['GET /analytics']['data']['rates'];

interface RateLabel {
  readonly text: string;
  readonly about: string;
  /** The rate from which mailbox providers throttle or block. */
  readonly limit?: number;
}

const RATES = {
  delivered: { text: 'Delivered', about: 'The receiving server accepted it.' },
  opened: {
    text: 'Opened',
    about: 'Many mail programs block or fake opens. Use this to compare, not to count.',
  },
  clicked: { text: 'Clicked', about: 'The most reliable sign that a person read it.' },
  bounced: { text: 'Bounced', about: 'Above 5 %, mailbox providers throttle your mail.', limit: 0.05 },
  complained: { text: 'Complained', about: 'Gmail and Yahoo require less than 0.3 %.', limit: 0.003 },
  unsubscribed: { text: 'Unsubscribed', about: 'They opted out, which is better than a complaint.' },
} as const satisfies Record<keyof Rates, RateLabel>;

const toneOf = (rate: number, limit: number | undefined): Tone => {
  if (limit === undefined) return 'good';
  return rate > limit ? 'bad' : 'quiet';
};

/** The outcomes of the emails accepted in the period, as shares, beside the limits of mailbox providers. */
export const Rates = ({
  rates,
  counted,
}: {
  readonly rates: Rates;
  /** False where tracking is off. */
  readonly counted: Readonly<Record<TrackedAction, boolean>>;
}) => (
  <Card
    title="Rates"
    about="Of the recipients whose email was accepted in this period. Each recipient counts once."
  >
    <dl className="grid gap-x-8 gap-y-4 sm:grid-cols-2 lg:grid-cols-3">
      {(Object.entries(RATES) as [keyof Rates, RateLabel][]).map(([key, { text, about, limit }]) => {
        const isOff = (key === 'opened' || key === 'clicked') && !counted[key];
        const rate = isOff ? null : rates[key];
        return (
          <div key={key} data-color={toneOf(rate ?? 0, limit)} className="grid content-start gap-1">
            <dt className="flex items-baseline justify-between gap-2">
              <span className="font-medium">{text}</span>
              <span className="num font-semibold">{isOff ? 'Not counted' : rateText(rate)}</span>
            </dt>
            <dd className="grid gap-1">
              <span aria-hidden="true" className="block h-1.5 overflow-hidden rounded-full bg-hover">
                <span
                  className="block h-full rounded-full bg-(--state)"
                  style={{
                    width: `${Math.min((rate ?? 0) / (limit === undefined ? 1 : limit * 2), 1) * 100}%`,
                  }}
                />
              </span>
              <span className="text-caption text-dim">{isOff ? 'Tracking is off.' : about}</span>
            </dd>
          </div>
        );
      })}
    </dl>
  </Card>
);
