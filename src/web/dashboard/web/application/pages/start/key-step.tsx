import { useState } from 'react';
import type { CreatedApiKey } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Card } from '../../ui/page.tsx';
import { curlWith } from '../api-keys/curl.ts';
import { useStartDomain } from './domain-step.tsx';

/** The key with which a program sends live email, shown once with a request that uses it. */
export function KeyStep() {
  const { session, may } = useViewer();
  const { domain } = useStartDomain();
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const create = useChange('POST /api-keys', ['first steps']);
  if (created)
    return (
      <Card
        title={`“${created.name}” is made`}
        about="Copy the key now: it is shown only this once, and kept here as a hash alone."
      >
        <p role="status" className="sr-only">
          The key is made.
        </p>
        <Copyable label="API key" text={created.key} />
        <Copyable
          label="A first request"
          text={curlWith(created.key, {
            from: `hello@${domain?.name ?? 'your-domain.example'}`,
            to: session.account.email,
            subject: 'Hello',
            text: 'It works.',
          })}
        />
        <p className="text-dim">
          Your program speaks SMTP, or you would rather use a library?{' '}
          <a href="/docs" className="link">
            The documentation says how.
          </a>
        </p>
      </Card>
    );
  return (
    <Card
      title="Create an API key"
      about="Your program proves with it who it is. This one sends and reads live email, and nothing else."
    >
      {may('api-keys:write') ? (
        <Form
          action="Create the key"
          onSend={async ({ name = '' }) =>
            setCreated(
              await create.mutateAsync({
                body: { name, env: 'live', permissions: ['emails:send', 'emails:read'] },
              }),
            )
          }
        >
          <Field
            label="Name"
            name="name"
            defaultValue="My program"
            hint="Such as the program that uses it."
          />
        </Form>
      ) : (
        <p>Your role makes no keys. A member with more rights does.</p>
      )}
    </Card>
  );
}
