import { type FormEvent, useState } from 'react';
import { outside } from './api.ts';
import { Mark } from './icons.tsx';

/** The sign-in: an API key is exchanged for a session and not stored. */
export function SignIn({
  why,
  onEnter,
}: {
  readonly why: string | null;
  readonly onEnter: () => Promise<void>;
}) {
  const [problem, setProblem] = useState(why);
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    setBusy(true);
    try {
      await outside.open({ key });
      await onEnter();
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className="grid min-h-full place-items-center p-6">
      <form onSubmit={(event) => void submit(event)} className="w-full max-w-sm rise">
        <div className="mb-6 flex items-center gap-3">
          <Mark className="size-9" />
          <div>
            <h1 className="text-[17px] font-semibold tracking-tight">Posthorn live</h1>
            <p className="text-dim">Every email is a state machine. Watch them move.</p>
          </div>
        </div>
        <div className="rounded-xl border border-edge bg-sheet p-5 shadow-card">
          <label htmlFor="key" className="mb-1.5 block font-medium">
            API key
          </label>
          <input
            id="key"
            name="key"
            type="password"
            autoComplete="off"
            spellCheck={false}
            required
            placeholder="svc_test_… or svc_live_…"
            aria-describedby="about"
            aria-invalid={problem !== null}
            className="w-full rounded-lg border border-edge-strong bg-page px-3 py-2 font-mono text-[13px] placeholder:text-faint"
          />
          {problem !== null && (
            <p role="alert" data-color="bad" className="state-text mt-2">
              {problem}
            </p>
          )}
          <button
            type="submit"
            disabled={busy}
            className="mt-4 w-full rounded-lg bg-accent px-3 py-2 font-medium text-on-accent hover:brightness-110 disabled:opacity-60"
          >
            {busy ? 'Opening…' : 'Open the live view'}
          </button>
          <p id="about" className="mt-4 text-[12px] text-dim">
            The key needs <code className="font-mono">emails:read</code>. It is exchanged for a session of one
            hour and not stored. You see only the environment of the key, test or live.
          </p>
        </div>
        <p className="mt-4 px-1 text-[12px] text-faint">
          With an account, open the machines{' '}
          <a href="/app/test/machines" className="link">
            in the application
          </a>
          . On your own machine, <code className="font-mono">serve</code> prints a link that opens this page
          without a key.
        </p>
      </form>
    </main>
  );
}
