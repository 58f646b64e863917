import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Template } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
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

/** What can be done with a template besides writing it. */
export function TemplateActions(props: {
  readonly template: Template;
  readonly values: Readonly<Record<string, unknown>>;
  readonly draft: Draft;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  /** Stores what is on the screen, and answers its version; null where it was refused. */
  readonly toTest: () => Promise<number | null>;
}) {
  const { environment, may, session } = useViewer();
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
      {may('templates:write') && (
        <Menu
          label="More"
          isPicture
          items={
            <>
              <Item onSelect={() => setAsked('copy')}>
                Copy to {environment === 'live' ? 'test' : 'live'}
              </Item>
              <Item danger onSelect={() => setAsked('delete')}>
                Delete the template
              </Item>
            </>
          }
        >
          {icons.More}
        </Menu>
      )}
      {maySend && (
        <Button
          busy={props.isSaving}
          onClick={() => void props.toTest().then((stored) => stored !== null && ask(stored))}
        >
          Send a test
        </Button>
      )}
      {asked === 'send' && (
        <Dialog title="Send a test" onClose={close}>
          <p className="text-dim">
            A real email with the data of the preview. It reaches members of the workspace and addresses at
            its verified domains.
            {version !== props.template.version &&
              ` Your changes are kept as version ${version}; it is not published.`}
          </p>
          <div className="rounded-lg border border-edge bg-sunk px-4 py-3">
            <Facts
              facts={{
                Subject: <strong>{props.draft.subject || '(no subject)'}</strong>,
                From: props.draft.from,
                Version: version,
              }}
            />
          </div>
          <Form
            action="Send the test"
            aside={<Button onClick={close}>Cancel</Button>}
            onSend={async ({ to = '' }) => {
              const addresses = to.split(/[\s,;]+/).filter((each) => each !== '');
              const body = { to: addresses, variables: props.values, version };
              await send.mutateAsync({ path: { id }, body });
              toast('The test is on its way.');
              close();
            }}
          >
            <Field
              label="To"
              name="to"
              defaultValue={session.account.email}
              hint="Up to five, with commas between them."
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
          action="Delete the template"
          keep="Keep it"
          onClose={close}
          onConfirm={async () => {
            await remove.mutateAsync({ path: { id } });
            navigate('/templates');
            toast(`“${name}” is deleted.`);
          }}
        >
          All its versions go with it. A program that sends with it is refused from now on.
        </Confirm>
      )}
    </>
  );
}
