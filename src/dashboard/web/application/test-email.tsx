import { useEffect, useState } from 'react';
import { Problem } from './form.tsx';
import { requestsOf, type Viewer } from './requests.ts';

/** A test email is asked about so often, and for so long; then only when somebody wants to know. */
const EVERY_MS = 400;
const MOST_TIMES = 75;

/** States that an email comes to rest in. */
const IS_OVER: ReadonlySet<string> = new Set(['delivered', 'bounced', 'failed', 'cancelled', 'complained']);

/** Sends an email to the simulator, and shows what becomes of it. It is a test email in either environment. */
export function TestEmail({
  viewer: { session, may },
  onExpired,
}: {
  readonly viewer: Viewer;
  readonly onExpired: () => void;
}) {
  const [id, setId] = useState<string | null>(null);
  const [seen, setSeen] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const to = `delivered@${session.simulatorDomain}`;
  const requests = requestsOf(session.workspace.id, 'test', onExpired);
  const refuse = (error: unknown) => setProblem((error as Error).message);

  async function send() {
    if (isBusy) return;
    setBusy(true);
    setProblem(null);
    setSeen([]);
    try {
      const sent = await requests.send({
        from: 'Posthorn <hello@example.com>',
        to,
        subject: 'My first test email',
        text: 'It was sent from the dashboard, and went nowhere.',
      });
      setSeen([sent.status]);
      setId(sent.id);
    } catch (error) {
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: an email is followed once, by its id
  useEffect(() => {
    if (id === null || !may('emails:read')) return;
    let times = 0;
    let isGone = false;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      try {
        const { status } = await requests.email(id);
        if (isGone) return;
        setSeen((before) => (before.at(-1) === status ? before : [...before, status]));
        if (!IS_OVER.has(status) && ++times < MOST_TIMES) timer = setTimeout(() => void look(), EVERY_MS);
      } catch (error) {
        refuse(error);
      }
    };
    void look();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [id]);

  const status = seen.at(-1);
  return (
    <section aria-labelledby="first-email" className="card grid gap-3 p-5">
      <h2 id="first-email" className="text-[16px] font-semibold">
        Send a test email
      </h2>
      <p className="text-dim">
        To <span className="font-mono text-[12.5px] break-all">{to}</span>, an address of the simulator: the
        email goes the whole way and never leaves. Nothing has to be set up for it.
      </p>
      {may('emails:send') ? (
        <button
          type="button"
          aria-disabled={isBusy}
          className="button button-main justify-self-start"
          onClick={() => void send()}
        >
          {seen.length > 0 ? 'Send another one' : 'Send a test email'}
        </button>
      ) : (
        <p>Your role reads only. A member of the workspace can send one.</p>
      )}
      {problem !== null && <Problem>{problem}</Problem>}
      <div role="status" className="grid gap-1">
        {status !== undefined && (
          <p>
            {seen.map((each, at) => (
              <span key={seen.slice(0, at + 1).join()}>
                {at > 0 && <span className="text-faint"> → </span>}
                <strong data-color={each === 'delivered' ? 'good' : 'moving'} className="state-text">
                  {each}
                </strong>
              </span>
            ))}
            {status === 'delivered' && ' It has arrived.'}
          </p>
        )}
        {id !== null && status !== undefined && (
          <p className="font-mono text-[12px] text-dim break-all">{id}</p>
        )}
      </div>
    </section>
  );
}
