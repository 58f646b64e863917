import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Campaign } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Form } from '../../ui/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { Item, Menu } from '../../ui/menu.tsx';
import { toast, toastProblem } from '../../ui/toast.tsx';

const DELETABLE: ReadonlySet<Campaign['status']> = new Set(['draft', 'failed', 'sent', 'cancelled']);

/** What can be done with a campaign in every state: a copy, a test, its end. */
export function CampaignMenu({ campaign }: { readonly campaign: Campaign }) {
  const { environment, may, session } = useViewer();
  const [asked, setAsked] = useState<'delete' | 'test' | null>(null);
  const [, navigate] = useLocation();
  const duplicate = useChange('POST /campaigns/{id}/duplicate');
  const remove = useChange('DELETE /campaigns/{id}');
  const test = useChange('POST /campaigns/{id}/test-send', ['emails']);
  const path = { id: campaign.id };
  const close = () => setAsked(null);
  if (!may('campaigns:write')) return null;
  return (
    <>
      <Menu
        label="More"
        isPicture
        items={
          <>
            <Item
              onSelect={() =>
                duplicate.mutate(
                  { path },
                  {
                    onError: toastProblem,
                    onSuccess: ({ id }) => {
                      toast('A copy is made, as a draft.');
                      navigate(`/campaigns/${id}`);
                    },
                  },
                )
              }
            >
              Duplicate
            </Item>
            {DELETABLE.has(campaign.status) && (
              <Item danger onSelect={() => setAsked('delete')}>
                Delete the campaign
              </Item>
            )}
          </>
        }
      >
        {icons.More}
      </Menu>
      {environment === 'live' && may('emails:send') && (
        <Button onClick={() => setAsked('test')}>Send a test</Button>
      )}
      {asked === 'test' && (
        <Dialog title="Send a test" onClose={close}>
          <p className="text-dim">
            A real email with the content as it was saved last. It reaches members of the workspace and
            addresses at its verified domains, and is in no number of the campaign.
          </p>
          <Form
            action="Send the test"
            aside={<Button onClick={close}>Cancel</Button>}
            onSend={async ({ to = '' }) => {
              await test.mutateAsync({
                path,
                body: { to: to.split(/[\s,;]+/).filter((each) => each !== '') },
              });
              toast('The test is on its way.');
              close();
            }}
          >
            <Field label="To" name="to" defaultValue={session.account.email} autoFocus />
          </Form>
        </Dialog>
      )}
      {asked === 'delete' && (
        <Confirm
          title={`Delete “${campaign.name}”?`}
          action="Delete the campaign"
          keep="Keep it"
          onClose={close}
          onConfirm={async () => {
            await remove.mutateAsync({ path });
            navigate('/campaigns');
            toast(`“${campaign.name}” is deleted.`);
          }}
        >
          Its numbers go with it; the emails that were sent stay in the log.
        </Confirm>
      )}
    </>
  );
}
