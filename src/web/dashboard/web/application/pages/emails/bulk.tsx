import { useState } from 'react';
import { type ItemOf, useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/display/format.ts';
import { Bulk } from '../../ui/lists/bulk.tsx';
import { type Selection, SelectionBar } from '../../ui/lists/selection.tsx';
import { RESEND_TEXT, useResend } from './resend.ts';

type Item = ItemOf<'GET /emails'>;

/** The actions on the selected emails. */
export function EmailActions({ selection }: { readonly selection: Selection<Item> }) {
  const { environment, may } = useViewer();
  const [asked, setAsked] = useState<'cancel' | 'resend' | 'suppress' | null>(null);
  const close = () => setAsked(null);
  const cancel = useChange('DELETE /emails/{id}');
  const suppress = useChange('POST /suppressions', ['contacts']);
  const { resend, refresh } = useResend();
  const number = selection.items.length;
  const scheduled = selection.items.filter(({ status }) => status === 'scheduled');
  const maySuppress = may('contacts:write') && environment === 'live';
  return (
    <>
      <SelectionBar selection={selection} list="emails">
        {may('emails:send') && (
          <Button
            aria-disabled={scheduled.length === 0}
            title={scheduled.length === 0 ? 'None of them is scheduled.' : undefined}
            onClick={() => scheduled.length > 0 && setAsked('cancel')}
          >
            Cancel scheduled
          </Button>
        )}
        {may('emails:send') && <Button onClick={() => setAsked('resend')}>Resend</Button>}
        {maySuppress && <Button onClick={() => setAsked('suppress')}>Suppress recipients</Button>}
      </SelectionBar>
      {asked === 'cancel' && (
        <Bulk
          title={`Cancel ${scheduled.length === 1 ? '1 email' : `${count(scheduled.length)} emails`}?`}
          action="Cancel emails"
          done="cancelled"
          selection={selection}
          items={scheduled}
          change={({ id }) => cancel.each({ path: { id } })}
          refresh={cancel.refresh}
          onClose={close}
        >
          Scheduled emails are not sent. {count(selection.items.length - scheduled.length)} of the selected
          emails are not scheduled and stay as they are.
        </Bulk>
      )}
      {asked === 'resend' && (
        <Bulk
          title={`Resend ${number === 1 ? '1 email' : `${count(number)} emails`}?`}
          action="Resend emails"
          done="sent again"
          selection={selection}
          change={({ id }) => resend(id)}
          refresh={refresh}
          onClose={close}
          isDangerous={false}
        >
          {RESEND_TEXT}
        </Bulk>
      )}
      {asked === 'suppress' && (
        <Bulk
          title="Suppress the recipients?"
          action="Suppress recipients"
          done="suppressed"
          selection={selection}
          change={async ({ to }) => {
            for (const address of to) await suppress.each({ body: { address: bareOf(address) } });
          }}
          refresh={suppress.refresh}
          onClose={close}
        >
          The addresses in “To” of the selected emails get no more email from this workspace.
        </Bulk>
      )}
    </>
  );
}

/** `ada@example.com` of `Ada <ada@example.com>`. */
const bareOf = (address: string): string => /<([^<>]+)>\s*$/.exec(address)?.[1] ?? address;
