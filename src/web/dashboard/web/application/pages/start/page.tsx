import { Link, Redirect, useRoute } from 'wouter';
import { useViewer } from '../../api/viewer.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { icons } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { DomainStep } from './domain-step.tsx';
import { KeyStep } from './key-step.tsx';
import { LiveStep } from './live-step.tsx';
import { addressOf, STEPS, type StepName, useProgress } from './steps.ts';
import { TestStep } from './test-step.tsx';

const VIEWS = {
  test: TestStep,
  domain: DomainStep,
  key: KeyStep,
  live: LiveStep,
} as const satisfies Record<StepName, () => unknown>;

/**
 * The way from an empty workspace to the first live email, a step at a time. Each step is in the environment
 * that it concerns.
 */
export default function Start() {
  const viewer = useViewer();
  const { environment, baseOf } = viewer;
  const [, parameters] = useRoute<{ name: string }>('/start/:name');
  const done = useProgress();
  const here = STEPS.filter((step) => step.environment === environment);
  const shown = STEPS.find(({ name }) => name === parameters?.name);
  if (!shown) {
    const next = here.find(({ name }) => done?.[name] === false) ?? here[0];
    return next ? <Redirect to={addressOf(next, viewer)} replace /> : null;
  }
  if (shown.environment !== environment) return <Redirect to={addressOf(shown, viewer)} replace />;
  const View = VIEWS[shown.name];
  const next = STEPS[STEPS.indexOf(shown) + 1];
  const isDone = done?.[shown.name] === true;
  return (
    <Page
      title="First steps"
      about="From an empty workspace to your first live email. You can skip every step and return later."
      actions={
        <ButtonLink look="quiet" to={`~${baseOf(environment)}`}>
          Skip for now
        </ButtonLink>
      }
    >
      <nav aria-label="Steps">
        <ol className="grid grid-cols-2 gap-2 lg:grid-cols-4">
          {STEPS.map((step, index) => (
            <li key={step.name}>
              <StepLink step={step} number={index + 1} isHere={step === shown} isDone={done?.[step.name]} />
            </li>
          ))}
        </ol>
      </nav>
      <View />
      <div className="flex flex-wrap justify-end gap-2">
        {next ? (
          <ButtonLink look={isDone ? 'main' : 'plain'} to={addressOf(next, viewer)}>
            {isDone ? 'Next' : 'Skip to'}: {next.title.toLowerCase().replace(/\bapi\b/, 'API')}
          </ButtonLink>
        ) : (
          isDone && (
            <ButtonLink look="main" to={`~${baseOf(environment)}`}>
              Go to overview
            </ButtonLink>
          )
        )}
      </div>
    </Page>
  );
}

function StepLink(props: {
  readonly step: (typeof STEPS)[number];
  readonly number: number;
  readonly isHere: boolean;
  readonly isDone: boolean | undefined;
}) {
  const { step, number, isHere, isDone = false } = props;
  const viewer = useViewer();
  return (
    <Link
      href={addressOf(step, viewer)}
      aria-current={isHere ? 'step' : undefined}
      data-color={isDone ? 'good' : 'quiet'}
      className={`flex h-full items-center gap-3 rounded-lg border px-3 py-2.5 ${isHere ? 'border-accent bg-accent-soft' : 'border-edge bg-sheet hover:border-edge-strong'}`}
    >
      <span
        aria-hidden="true"
        className={`grid size-6 shrink-0 place-items-center rounded-full text-caption font-semibold ${isDone ? 'bg-(--tint) text-(--state)' : isHere ? 'bg-accent text-on-accent' : 'bg-hover text-dim'}`}
      >
        {isDone ? icons.Check : number}
      </span>
      <span className="min-w-0 leading-tight">
        <span className="block font-medium">{step.title}</span>
        <span className="text-caption text-dim">
          {isDone ? 'Done' : step.environment === 'test' ? 'Not sent' : 'Live'}
        </span>
      </span>
    </Link>
  );
}
