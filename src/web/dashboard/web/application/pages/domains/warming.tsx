import { useState } from 'react';
import type { Domain } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Meter } from '../../ui/charts/meter.tsx';
import { count, dayText } from '../../ui/display/format.ts';
import { Field, Form, TextArea } from '../../ui/forms/form.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Card } from '../../ui/page.tsx';
import { PROVIDERS } from './states.ts';

type WarmUp = Domain['warmUps'][number];
type Provider = WarmUp['provider'];
/** A warm-up as it is sent; what is left out stays. */
interface WarmUpInput {
  readonly provider: Provider;
  readonly startedAt?: string;
  readonly perDay?: readonly number[];
}

/** The warm-up of a domain's live email on each of its transports. */
export function Warming({ domain }: { readonly domain: Domain }) {
  const { may } = useViewer();
  const update = useChange('PATCH /domains/{id}');
  const [edited, setEdited] = useState<Provider | null>(null);
  const ways = [domain.provider, ...domain.fallbacks].filter((way) => way !== 'capture');
  const warmed = domain.warmUps.map(({ provider }) => provider);
  const others = (provider: Provider): WarmUpInput[] =>
    domain.warmUps
      .filter((one) => one.provider !== provider)
      .map(({ provider: other }) => ({ provider: other }));
  // All warm-ups are sent together. The guard refuses them if another member changed the domain meanwhile.
  const send = (warmUps: readonly WarmUpInput[], ifUpdatedAt = domain.updatedAt) =>
    update.mutateAsync({
      path: { id: domain.id },
      body: {
        ifUpdatedAt,
        warmUps: warmUps.map(({ perDay, ...more }) => ({ ...more, ...(perDay && { perDay: [...perDay] }) })),
      },
    });
  const startable = may('domains:write') ? ways.filter((way) => !warmed.includes(way)) : [];
  if (domain.warmUps.length === 0 && startable.length === 0) return null;

  function end({ provider, startedAt, perDay }: WarmUp) {
    void send(others(provider)).then(
      ({ updatedAt }) =>
        toast(`Warm-up of “${PROVIDERS[provider]}” ended. Waiting email leaves now.`, () =>
          send([...others(provider), { provider, startedAt, perDay }], updatedAt),
        ),
      toastProblem,
    );
  }

  return (
    <Card
      title="Warm-up"
      about="A daily limit of recipients that grows while receivers get to know a new sender. Email above the limit waits for the next day with room. Campaigns use at most four fifths of a day's limit."
    >
      {domain.warmUps.map((warmUp) => (
        <section key={warmUp.provider} aria-label={PROVIDERS[warmUp.provider]} className="grid gap-3">
          <header className="flex flex-wrap items-center gap-2">
            <h3 className="min-w-0 flex-1 font-medium">{PROVIDERS[warmUp.provider]}</h3>
            {may('domains:write') && (
              <>
                <Button
                  look="quiet"
                  aria-expanded={edited === warmUp.provider}
                  onClick={() => setEdited(edited === warmUp.provider ? null : warmUp.provider)}
                >
                  Edit schedule
                </Button>
                <Button look="quiet" busy={update.isPending} onClick={() => end(warmUp)}>
                  End warm-up
                </Button>
              </>
            )}
          </header>
          <Progress warmUp={warmUp} />
          {edited === warmUp.provider && (
            <Schedule
              warmUp={warmUp}
              index={others(warmUp.provider).length}
              onSend={async (wanted) => {
                await send([...others(warmUp.provider), wanted]);
                setEdited(null);
                toast(
                  `Schedule of “${PROVIDERS[warmUp.provider]}” updated. Waiting email is scheduled again now.`,
                );
              }}
            />
          )}
        </section>
      ))}
      {startable.map((way) => (
        <Button
          key={way}
          className="justify-self-start"
          busy={update.isPending}
          onClick={() => {
            void send([...others(way), { provider: way }]).then(
              () => toast(`Warm-up of “${PROVIDERS[way]}” started`),
              toastProblem,
            );
          }}
        >
          Warm up “{PROVIDERS[way]}”
        </Button>
      ))}
    </Card>
  );
}

function Progress({ warmUp: { today, perDay, endsAt } }: { readonly warmUp: WarmUp }) {
  if (today === null)
    return <p className="text-dim">The warm-up ended on {dayText(endsAt)}. There is no limit any more.</p>;
  const left = today.allowed - today.claimed;
  return (
    <Meter
      label={`Day ${today.day}`}
      value={today.claimed}
      most={today.allowed}
      words={`Day ${today.day} of ${perDay.length}: ${count(today.claimed)} of ${count(today.allowed)} recipients${left === 0 ? '; further email waits until midnight UTC' : ''}. Unlimited from ${dayText(endsAt)}.`}
    />
  );
}

/** The numbers in a text, separated by spaces, commas or semicolons. */
const numbersIn = (text: string): number[] =>
  text
    .split(/[\s,;]+/)
    .filter((word) => word !== '')
    .map(Number);

function Schedule(props: {
  readonly warmUp: WarmUp;
  /** Its place among those that are sent. */
  readonly index: number;
  readonly onSend: (wanted: WarmUpInput) => Promise<void>;
}) {
  const { provider, startedAt, perDay } = props.warmUp;
  const name = (member: string): string => `warmUps/${props.index}/${member}`;
  return (
    <Form
      action="Save schedule"
      look="plain"
      onSend={(fields) =>
        props.onSend({
          provider,
          startedAt:
            fields[name('startedAt')] === startedAt.slice(0, 10)
              ? startedAt
              : `${fields[name('startedAt')]}T00:00:00.000Z`,
          perDay: numbersIn(fields[name('perDay')] ?? ''),
        })
      }
    >
      <Field
        label="First day (UTC)"
        name={name('startedAt')}
        type="date"
        defaultValue={startedAt.slice(0, 10)}
      />
      <TextArea
        label="Recipients per day"
        name={name('perDay')}
        rows={3}
        hint="One number per day, at most 90."
        defaultValue={perDay.join(', ')}
      />
    </Form>
  );
}
