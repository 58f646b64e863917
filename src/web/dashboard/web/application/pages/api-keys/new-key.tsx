import { useState } from 'react';
import type { CreatedApiKey } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { curlWith } from './curl.ts';
import { type KeyPermission, PermissionTicks, tickedPermissions } from './permissions.tsx';

const SENDING: readonly KeyPermission[] = ['emails:send', 'emails:read'];

/** The permission sets of a new key; with `chosen`, each permission is ticked. */
const KINDS = {
  sending: 'Send and read email',
  everything: 'Everything',
  chosen: 'Selected permissions',
} as const;

/** Creates a key, and shows it once. */
export const NewKey = (props: {
  readonly created: CreatedApiKey | null;
  readonly onCreated: (key: CreatedApiKey) => void;
  readonly onClose: () => void;
}) =>
  props.created ? (
    <Dialog
      title={`API key “${props.created.name}” created`}
      onClose={props.onClose}
      width="max-w-xl"
      isShownOnce
    >
      <Shown created={props.created} />
      <Button look="main" onClick={props.onClose}>
        I have copied it
      </Button>
    </Dialog>
  ) : (
    <Making onCreated={props.onCreated} onClose={props.onClose} />
  );

/** The service creates no key with more permissions than its creator, so only those are offered. */
function Making(props: { readonly onCreated: (key: CreatedApiKey) => void; readonly onClose: () => void }) {
  const { environment, session } = useMember();
  const [kind, setKind] = useState('sending');
  const create = useChange('POST /api-keys');
  const { everything, ...others } = KINDS;
  const kinds = session.permissions.includes('*') ? KINDS : others;
  return (
    <Dialog
      title={`New ${environment} key`}
      onClose={props.onClose}
      width={kind === 'chosen' ? 'max-w-2xl' : 'max-w-md'}
    >
      <Form
        action="Create API key"
        aside={<Button onClick={props.onClose}>Cancel</Button>}
        onSend={async ({ name = '', ...fields }) => {
          const permissions =
            kind === 'everything'
              ? (['*'] as const)
              : kind === 'sending'
                ? SENDING
                : tickedPermissions(fields);
          props.onCreated(await create.mutateAsync({ body: { name, env: environment, permissions } }));
        }}
      >
        <Field label="Name" name="name" hint="For example, the program that uses it." />
        <Choice
          label="Permissions"
          name="permissions"
          options={kinds}
          defaultValue="sending"
          onChange={setKind}
        />
        {kind === 'chosen' && <PermissionTicks ticked={[]} />}
      </Form>
    </Dialog>
  );
}

/** The new key, with a command that uses it. */
function Shown({ created }: { readonly created: CreatedApiKey }) {
  const { session } = useMember();
  const curl = curlWith(created.key, {
    from: 'you@example.com',
    to: `delivered@${session.simulatorDomain}`,
    subject: 'Hello',
    text: 'It works.',
  });
  return (
    <>
      <p role="status">Copy the key now. It is shown only once.</p>
      <Copyable label="API key" text={created.key} />
      {created.env === 'test' && <Copyable label="First request" text={curl} />}
    </>
  );
}
