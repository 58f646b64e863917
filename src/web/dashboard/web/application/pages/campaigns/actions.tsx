import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Campaign } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import type { EditSession } from '../../editing/use-editing.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import type { CampaignValues } from './campaign-values.ts';
import { WhatIsSent } from './send.tsx';

const DELETABLE: ReadonlySet<Campaign['status']> = new Set(['draft', 'failed', 'sent', 'cancelled']);

/** The actions on a campaign in every state: copy, test and delete. */
export function CampaignMenu({
  campaign,
  editing,
}: {
  readonly campaign: Campaign;
  /** Of a draft: what is on the screen is saved first. */
  readonly editing?: Pick<EditSession<Campaign, CampaignValues>, 'save' | 'isSaving'>;
}) {
  const { environment, may, session } = useMember();
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
      {environment === 'live' && may('emails:send') && (
        <Button busy={editing?.isSaving ?? false} onClick={() => void askTest()}>
          Send test
        </Button>
      )}
      <Menu
        label="More actions"
        isPicture
        items={
          <>
            <Item
              onSelect={() =>
                duplicate.mutate({ path }, ({ id }) => {
                  toast('Campaign duplicated as a draft');
                  navigate(`/campaigns/${id}`);
                })
              }
            >
              Duplicate campaign
            </Item>
            {DELETABLE.has(campaign.status) && (
              <Item danger onSelect={() => setAsked('delete')}>
                Delete campaign
              </Item>
            )}
          </>
        }
      >
        {icons.More}
      </Menu>
      {asked === 'test' && (
        <Dialog title="Send test email" onClose={close} width="max-w-4xl">
          <p className="text-dim">
            Sends a real email to members of the workspace or addresses at its verified domains. It does not
            count in the campaign's numbers.
          </p>
          <WhatIsSent campaign={tested}>
            <Form
              action="Send test"
              aside={<Button onClick={close}>Cancel</Button>}
              onSend={async ({ to = '' }) => {
                await test.mutateAsync({
                  path,
                  body: {
                    to: to.split(/[\s,;]+/).filter((each) => each !== ''),
                    ...(editing && { ifUpdatedAt: tested.updatedAt }),
                  },
                });
                toast('Test email sent');
                close();
              }}
            >
              <Field label="To" name="to" defaultValue={session.account.email} autoFocus />
            </Form>
          </WhatIsSent>
        </Dialog>
      )}
      {asked === 'delete' && (
        <Confirm
          title={`Delete “${campaign.name}”?`}
          action="Delete campaign"
          onClose={close}
          onConfirm={async () => {
            await remove.mutateAsync({ path });
            navigate('/campaigns');
            toast(`Campaign “${campaign.name}” deleted`);
          }}
        >
          Its numbers are deleted. The emails that it sent stay in the log.
        </Confirm>
      )}
    </>
  );
}
