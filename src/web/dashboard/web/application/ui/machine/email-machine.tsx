import { lazy, Suspense } from 'react';
import { Skeleton } from '../display/states.tsx';

const EmailMachine = lazy(() => import('./email-life.tsx'));
const HEIGHT = 'h-96';

/** The machine of an email as a section of a page; without an email, hidden on narrow screens. */
export const EmailMachineCard = (props: {
  readonly id: string | null;
  readonly title: string;
  readonly about: string;
}) => (
  <section
    aria-label="State machine"
    className={`card overflow-hidden ${props.id === null ? 'not-lg:hidden' : ''}`}
  >
    <header className="border-b border-edge px-5 py-3">
      <h2 className="text-heading font-semibold">{props.title}</h2>
      <p className="text-dim">{props.about}</p>
    </header>
    <Suspense fallback={<Skeleton className={HEIGHT} />}>
      <EmailMachine id={props.id} height={HEIGHT} />
    </Suspense>
  </section>
);
