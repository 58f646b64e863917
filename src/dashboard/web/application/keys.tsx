import { useEffect, useRef, useState } from 'react';
import type { ApiKeyView } from '../../../modules/api-keys/model.ts';
import { Copyable } from './copyable.tsx';
import { Field, Form } from './form.tsx';
import type { Requests, Viewer } from './requests.ts';

interface KeyListProps {
  readonly viewer: Viewer;
  readonly requests: Requests;
  /** Null while they are read. */
  readonly keys: readonly ApiKeyView[] | null;
  readonly onChange: () => Promise<void>;
}

const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const dayOf = (time: string | null): string => (time === null ? 'never' : day.format(new Date(time)));

/** What a new key may do. The service makes none that may do more than who makes it. */
const KINDS = [
  { name: 'sending', text: 'Send and read email', permissions: ['emails:send', 'emails:read'] },
  { name: 'everything', text: 'Everything', permissions: ['*'] },
] as const;

/** The API keys of one environment: made, shown once, listed and revoked. */
export function KeyList({ viewer, requests, keys, onChange }: KeyListProps) {
  const [created, setCreated] = useState<(ApiKeyView & { key: string }) | null>(null);
  const { environment } = viewer;
  const mayWrite = viewer.may('api-keys:write');
  const title = useRef<HTMLHeadingElement>(null);
  const revoke = async (id: string) => {
    await requests.revokeKey(id);
    if (created?.id === id) setCreated(null);
    await onChange();
    // The button that was pressed is gone.
    title.current?.focus();
  };
  return (
    <section aria-labelledby="keys" className="card grid gap-4 p-5">
      <div>
        <h2 id="keys" ref={title} tabIndex={-1} className="text-[16px] font-semibold">
          API keys of the {environment} environment
        </h2>
        <p className="text-dim">
          {environment === 'test'
            ? 'With a test key your program does everything and sends nothing.'
            : 'With a live key your program sends email to real people.'}
        </p>
      </div>
      {created && <NewKey key={created.id} viewer={viewer} created={created} />}
      {mayWrite && (
        // A form that has done its work is empty again.
        <NewKeyForm
          key={created?.id ?? ''}
          viewer={viewer}
          requests={requests}
          onCreated={async (key) => {
            setCreated(key);
            await onChange();
          }}
        />
      )}
      {keys === null ? <p className="text-dim">Reading the keys…</p> : null}
      {keys?.length === 0 && <p className="text-dim">There is no key yet.</p>}
      <ul className="grid gap-2">
        {keys?.map((key) => (
          <li
            key={key.id}
            data-key={key.id}
            className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-lg border border-edge px-3 py-2"
          >
            <div className="min-w-0 flex-1 basis-56">
              <p className="flex flex-wrap items-baseline gap-x-2">
                <strong className="break-words">{key.name}</strong>
                <span className="font-mono text-[12px] text-dim">{key.prefix}</span>
              </p>
              <p className="text-[12px] text-dim">
                {key.permissions.includes('*') ? 'everything' : key.permissions.join(', ')} · made{' '}
                {dayOf(key.createdAt)} · used {dayOf(key.lastUsedAt)}
              </p>
            </div>
            {key.revokedAt !== null ? (
              <span data-color="quiet" className="state-text font-medium">
                Revoked
              </span>
            ) : (
              mayWrite && <Revoke name={key.name} onRevoke={() => revoke(key.id)} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewKeyForm(props: {
  readonly viewer: Viewer;
  readonly requests: Requests;
  readonly onCreated: (key: ApiKeyView & { key: string }) => Promise<void>;
}) {
  const { viewer, requests, onCreated } = props;
  const kinds = KINDS.filter(({ permissions }) => permissions.every(viewer.may));
  return (
    <Form
      action={`Create a ${viewer.environment} key`}
      onSend={async ({ name = '', kind }) => {
        const chosen = kinds.find((each) => each.name === kind) ?? KINDS[0];
        await onCreated(await requests.createKey({ name, permissions: [...chosen.permissions] }));
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Name of the new key"
          name="name"
          autoComplete="off"
          hint="Such as the program that uses it."
        />
        <div>
          <label htmlFor="kind" className="mb-1 block font-medium">
            It may
          </label>
          <select id="kind" name="kind" className="field">
            {kinds.map(({ name, text }) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </div>
      </div>
    </Form>
  );
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A key that was made a moment ago, with a command that uses it. */
function NewKey({
  viewer: { session },
  created,
}: {
  readonly viewer: Viewer;
  readonly created: ApiKeyView & { key: string };
}) {
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => shown.current?.focus(), []);
  const email = {
    from: 'you@example.com',
    to: `delivered@${session.simulatorDomain}`,
    subject: 'Hello',
    text: 'It works.',
  };
  const curl = [
    `curl ${location.origin}/v1/emails`,
    `-H ${quoted(`authorization: Bearer ${created.key}`)}`,
    `-H 'content-type: application/json'`,
    `-d ${quoted(JSON.stringify(email))}`,
  ].join(' \\\n  ');
  return (
    <div
      ref={shown}
      tabIndex={-1}
      data-color="good"
      className="grid gap-3 rounded-lg border-2 border-(--state)/60 p-4"
    >
      <p role="status" className="font-medium">
        “{created.name}” is made. Copy the key now: it is shown only this once.
      </p>
      <Copyable label="API key" text={created.key} />
      {created.env === 'test' && <Copyable label="A first request" text={curl} />}
    </div>
  );
}

/** Revokes a key, after asking: programs that use it stop at once. */
function Revoke({ name, onRevoke }: { readonly name: string; readonly onRevoke: () => Promise<void> }) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        type="button"
        className="button"
        aria-label={`Revoke ${name}`}
        onClick={() => dialog.current?.showModal()}
      >
        Revoke
      </button>
      <dialog ref={dialog} aria-label={`Revoke ${name}`} className="card w-full max-w-sm p-5">
        <p className="mb-4 break-words">
          Revoke “{name}”? Programs that use this key are refused from now on. This cannot be undone.
        </p>
        <div className="grid gap-3">
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Keep it
          </button>
          <Form action="Revoke the key" onSend={onRevoke}>
            {null}
          </Form>
        </div>
      </dialog>
    </>
  );
}
