import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Campaign } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import type { Editing } from '../../editing/use-editing.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import type { CampaignValues } from './campaign-values.ts';
import { WhatIsSent } from './send.tsx';

const DELETABLE: ReadonlySet<Campaign['status']> = new Set(['draft', 'failed', 'sent', 'cancelled']);

/** What can be done with a campaign in every state: a copy, a test, its end. */
export function CampaignMenu({
  campaign,
  editing,
}: {
  readonly campaign: Campaign;
  /** Of a draft: what is on the screen is saved first. */
  readonly editing?: Pick<Editing<Campaign, CampaignValues>, 'save' | 'isSaving'>;
}) {
  const { environment, may, session } = useViewer();
  const [asked, setAsked] = useState<'delete' | 'test' | null>(null);
  const [tested, setTested] = useState(campaign);
  const askTest = async () => {
    const saved = editing ? await editing.save() : campaign;
    if (!saved) return;
    setTested(saved);
    setAsked('test');
  };
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
        <Button busy={editing?.isSaving ?? false} onClick={() => void askTest()}>
          Send a test
        </Button>
      )}
      {asked === 'test' && (
        <Dialog title="Send a test" onClose={close}>
          <p className="text-dim">
            A real email to members of the workspace and addresses at its verified domains. It is in no number
            of the campaign.
          </p>
          <WhatIsSent campaign={tested} />
          <Form
            action="Send the test"
            aside={<Button onClick={close}>Cancel</Button>}
            onSend={async ({ to = '' }) => {
              await test.mutateAsync({
                path,
                body: {
                  to: to.split(/[\s,;]+/).filter((each) => each !== ''),
                  ...(editing && { ifUpdatedAt: tested.updatedAt }),
                },
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
