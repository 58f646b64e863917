import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Template } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import type { EditSession } from '../../editing/use-editing.ts';
import { useValue } from '../../editing/use-values.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Facts } from '../../ui/page.tsx';
import { CopyTemplate } from './copy-template.tsx';
import type { Draft } from './draft.ts';

/** The actions on a template besides editing. */
export function TemplateActions(props: {
  readonly template: Template;
  readonly values: Readonly<Record<string, unknown>>;
  readonly editing: EditSession<Template, Draft>;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  /** Stores what is on the screen, and answers its version; null where it was refused. */
  readonly toTest: () => Promise<number | null>;
}) {
  const { environment, may, session } = useMember();
  const [asked, setAsked] = useState<'send' | 'copy' | 'delete' | null>(null);
  const [, navigate] = useLocation();
  const send = useChange('POST /templates/{id}/test-send', ['emails']);
  const remove = useChange('DELETE /templates/{id}');
  const { id, name } = props.template;
  const [version, setVersion] = useState(props.template.version);
  const close = () => setAsked(null);
  const ask = (stored: number) => {
    setVersion(stored);
    setAsked('send');
  };
  const maySend = environment === 'live' && may('templates:write') && may('emails:send');
  return (
    <>
      {maySend && (
        <Button
          busy={props.isSaving}
          onClick={() => void props.toTest().then((stored) => stored !== null && ask(stored))}
        >
          Send test
        </Button>
      )}
      {may('templates:write') && (
        <Menu
          label="More actions"
          isPicture
          items={
            <>
              <Item onSelect={() => setAsked('copy')}>
                Copy to {environment === 'live' ? 'test' : 'live'}
              </Item>
              <Item danger onSelect={() => setAsked('delete')}>
                Delete template
              </Item>
            </>
          }
        >
          {icons.More}
        </Menu>
      )}
      {asked === 'send' && (
        <Dialog title="Send test email" onClose={close}>
          <p className="text-dim">
            Sends a real email with the preview data to members of the workspace or addresses at its verified
            domains.
            {version !== props.template.version &&
              ` Your changes are saved as version ${version}, which is not published.`}
          </p>
          <div className="rounded-lg border border-edge bg-sunk px-4 py-3">
            <Tested editing={props.editing} version={version} />
          </div>
          <Form
            action="Send test"
            aside={<Button onClick={close}>Cancel</Button>}
            onSend={async ({ to = '' }) => {
              const addresses = to.split(/[\s,;]+/).filter((each) => each !== '');
              const body = { to: addresses, variables: props.values, version };
              await send.mutateAsync({ path: { id }, body });
              toast('Test email sent');
              close();
            }}
          >
            <Field
              label="To"
              name="to"
              defaultValue={session.account.email}
              hint="Up to five, separated by commas."
              autoFocus
            />
          </Form>
        </Dialog>
      )}
      {asked === 'copy' && (
        <CopyTemplate template={props.template} isChanged={props.isChanged} onClose={close} />
      )}
      {asked === 'delete' && (
        <Confirm
          title={`Delete “${name}”?`}
          action="Delete template"
          onClose={close}
          onConfirm={async () => {
            await remove.mutateAsync({ path: { id } });
            navigate('/templates');
            toast(`Template “${name}” deleted`);
          }}
        >
          All its versions are deleted. Programs that send with it are refused from now on.
        </Confirm>
      )}
    </>
  );
}

/** The facts of a test email. */
function Tested(props: { readonly editing: EditSession<Template, Draft>; readonly version: number }) {
  const subject = useValue(props.editing, 'subject');
  const from = useValue(props.editing, 'from');
  return (
    <Facts
      facts={{
        Subject: <strong>{subject || '(no subject)'}</strong>,
        From: from,
        Version: props.version,
      }}
    />
  );
}
