import { useState } from 'react';
import type { CreatedApiKey } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Card } from '../../ui/page.tsx';
import { curlWith } from '../api-keys/curl.ts';
import { useStartDomain } from './domain-step.tsx';

/** The key with which a program sends live email, shown once with a request that uses it. */
export function KeyStep() {
  const { session, may } = useMember();
  const { domain } = useStartDomain();
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const create = useChange('POST /api-keys', ['first steps']);
  if (created)
    return (
      <Card
        title={`API key “${created.name}” created`}
        about="Copy the key now. It is shown only once and stored only as a hash."
      >
        <p role="status" className="sr-only">
          API key created.
        </p>
        <Copyable label="API key" text={created.key} />
        <Copyable
          label="First request"
          text={curlWith(created.key, {
            from: `hello@${domain?.name ?? 'your-domain.example'}`,
            to: session.account.email,
            subject: 'Hello',
            text: 'It works.',
          })}
        />
        <p className="text-dim">
          To send by SMTP or with a library,{' '}
          <a href="/docs" className="link">
            read the documentation.
          </a>
        </p>
      </Card>
    );
  return (
    <Card
      title="Create an API key"
      about="The key identifies your program. This one can only send and read live email."
    >
      {may('api-keys:write') ? (
        <Form
          action="Create API key"
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
            hint="For example, the program that uses it."
          />
        </Form>
      ) : (
        <p>Your role cannot create keys. Ask a member with more permissions.</p>
      )}
    </Card>
  );
}
