import { Link } from 'wouter';
import { useViewer } from '../../api/viewer.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { icons } from '../../ui/icons.tsx';
import { Card } from '../../ui/page.tsx';
import { addressOf, STEPS, useProgress } from '../start/steps.ts';

/** The steps to the first live email, hidden once all are done. */
export function FirstSteps() {
  const viewer = useViewer();
  const done = useProgress();
  const next = done && STEPS.find(({ name }) => !done[name]);
  // A read-only role cannot take any of the steps.
  if (!next || !viewer.may('emails:send')) return null;
  return (
    <Card
      title="First steps"
      about="Get to your first live email."
      actions={<ButtonLink to={addressOf(next, viewer)}>Continue</ButtonLink>}
    >
      <ol className="grid gap-1">
        {STEPS.map((step, index) => (
          <li
            key={step.name}
            data-color={done[step.name] ? 'good' : 'quiet'}
            className="flex min-h-8 items-center gap-3"
          >
            <span
              aria-hidden="true"
              className={`grid size-6 shrink-0 place-items-center rounded-full text-caption font-semibold ${done[step.name] ? 'bg-(--tint) text-(--state)' : step === next ? 'bg-accent text-on-accent' : 'bg-hover text-dim'}`}
            >
              {done[step.name] ? icons.Check : index + 1}
            </span>
            {done[step.name] ? (
              <span className="text-dim">
                {step.title}
                <span className="sr-only">: done</span>
              </span>
            ) : (
              <Link href={addressOf(step, viewer)} className={step === next ? 'link font-medium' : 'link'}>
                {step.title}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
