import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Flow } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { request } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/display/format.ts';
import { ChoiceCards } from '../../ui/forms/choice-cards.tsx';
import { Field, Form, Tick } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { Item, Menu } from '../../ui/overlays/menu.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Facts } from '../../ui/page.tsx';
import { bodyOf, definitionOf } from './definition.ts';
import { NewSecret } from './forms/new-secret.tsx';
import { StartRun } from './runs/start-run.tsx';
import type { FlowDraft } from './use-flow-draft.ts';
import { stepText, TRIGGERS, triggerText, useNames } from './words.ts';

const openRuns = ({ stats }: Flow): number => (stats ? stats.running + stats.waiting : 0);
const runsText = (number: number): string => `${count(number)} open ${number === 1 ? 'run' : 'runs'}`;

/** The actions on a flow, by its status. It runs in the test environment as well, where nothing leaves. */
export function FlowActions({ flow, edited }: { readonly flow: Flow; readonly edited: FlowDraft }) {
  const { environment, baseOf, may } = useViewer();
  const [asked, setAsked] = useState<'activate' | 'pause' | 'delete' | 'rename' | 'run' | 'secret' | null>(
    null,
  );
  const [, navigate] = useLocation();
  const close = () => setAsked(null);
  const [saved, setSaved] = useState<Flow | null>(null);
  // The saved version runs, so changes are saved first.
  const askToActivate = async () => {
    const stored = await edited.editing.save();
    setSaved(stored);
    if (stored) setAsked('activate');
    else toastProblem(new Error('Your changes could not be saved, so the flow was not activated.'));
  };
  if (!may('campaigns:write')) return null;
  const { status, version, publishedVersion } = flow;
  const hasDraft = publishedVersion !== null && version > publishedVersion;
  const copyTo = async (to: 'live' | 'test') => {
    const made = await request<Flow>('POST', `${to}/flows`, {
      body: { name: to === environment ? `${flow.name} (copy)` : flow.name, ...bodyOf(definitionOf(flow)) },
    });
    toast(
      to === environment
        ? 'Flow duplicated as a draft'
        : `Flow copied to the ${to} environment as a draft. Choose its templates and audiences there.`,
    );
    navigate(`~${baseOf(to)}/flows/${made.data.id}`);
  };
  const other = environment === 'live' ? 'test' : 'live';
  return (
    <>
      {status === 'active' && flow.trigger.type === 'manual' && may('contacts:read') && (
        <Button onClick={() => setAsked('run')}>Start run</Button>
      )}
      {status !== 'draft' && (
        <Button onClick={() => setAsked('pause')}>{status === 'active' ? 'Pause' : 'Open runs'}</Button>
      )}
      {(status !== 'active' || hasDraft) && (
        <Button look="main" busy={edited.editing.isSaving} onClick={() => void askToActivate()}>
          {status === 'active' ? `Activate version ${version}` : 'Activate'}
        </Button>
      )}
      <Menu
        label="More actions"
        isPicture
        items={
          <>
            <Item onSelect={() => setAsked('rename')}>Rename flow</Item>
            <Item onSelect={() => void copyTo(environment).catch(toastProblem)}>Duplicate flow</Item>
            <Item onSelect={() => void copyTo(other).catch(toastProblem)}>Copy to {other}</Item>
            {flow.steps.some(({ type }) => type === 'webhook') && (
              <Item onSelect={() => setAsked('secret')}>Rotate webhook secret</Item>
            )}
            <Item danger onSelect={() => setAsked('delete')}>
              Delete flow
            </Item>
          </>
        }
      >
        {icons.More}
      </Menu>
      {asked === 'activate' && saved && <Activate flow={saved} onClose={close} />}
      {asked === 'pause' && <Pause flow={flow} onClose={close} />}
      {asked === 'delete' && <Delete flow={flow} onClose={close} />}
      {asked === 'rename' && <Rename flow={flow} onClose={close} />}
      {asked === 'secret' && <NewSecret onClose={close} />}
      {asked === 'run' && <StartRun flow={flow} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly flow: Flow;
  readonly onClose: () => void;
}

function Activate({ flow, onClose }: DialogProps) {
  const { id, name, version, publishedVersion, status, updatedAt } = flow;
  const activate = useChange('POST /flows/{id}/activate');
  const names = useNames();

  return (
    <Dialog title={`Activate “${name}”?`} onClose={onClose}>
      <div className="rounded-lg border border-edge bg-sunk px-4 py-3">
        <Facts
          facts={{
            Trigger: `${TRIGGERS[flow.trigger.type]}: ${triggerText(definitionOf(flow), names)}`,
            Steps: flow.steps.length,
            Emails: definitionOf(flow)
              .steps.filter(({ type }) => type === 'sendEmail')
              .map((step) => stepText(step, names))
              .join(', '),
          }}
        />
      </div>
      <div className="grid gap-2 text-dim">
        <p>
          The flow starts for events from now on, not for past events
          {status === 'paused' && ', and held runs continue'}.
        </p>
        {publishedVersion !== null && publishedVersion !== version && (
          <p>
            Version {version} replaces version {publishedVersion}. Open runs keep their version.
          </p>
        )}
      </div>
      <Form
        action="Activate flow"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async () => {
          await activate.mutateAsync({ path: { id }, body: { ifUpdatedAt: updatedAt } });
          toast('Flow activated');
          onClose();
        }}
      >
        {null}
      </Form>
    </Dialog>
  );
}

const RUNS = {
  finish: { title: 'Continue', about: 'They run to their end. No new runs start.' },
  hold: { title: 'Hold', about: 'They stop before their next step until the flow is activated again.' },
  cancel: { title: 'Cancel', about: 'They end now. This cannot be undone.' },
} as const;

function Pause({ flow, onClose }: DialogProps) {
  const [runs, setRuns] = useState<keyof typeof RUNS>('finish');
  const pause = useChange('POST /flows/{id}/pause');
  const isActive = flow.status === 'active';
  return (
    <Dialog title={isActive ? `Pause “${flow.name}”?` : `Open runs of “${flow.name}”`} onClose={onClose}>
      <p className="text-dim">
        {isActive ? 'No new runs start while the flow is paused. ' : 'The flow is paused. '}It has{' '}
        {runsText(openRuns(flow))}.
      </p>
      <Form
        action={isActive ? 'Pause flow' : 'Apply'}
        look={runs === 'cancel' ? 'danger' : 'main'}
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async () => {
          await pause.mutateAsync({ path: { id: flow.id }, body: { runs } });
          toast(isActive ? 'Flow paused' : 'Applied to the open runs');
          onClose();
        }}
      >
        <ChoiceCards label="Open runs" name="runs" value={runs} options={RUNS} onChange={setRuns} />
      </Form>
    </Dialog>
  );
}

function Delete({ flow, onClose }: DialogProps) {
  const remove = useChange('DELETE /flows/{id}');
  const [, navigate] = useLocation();
  const open = openRuns(flow);
  return (
    <Dialog title={`Delete “${flow.name}”?`} onClose={onClose}>
      <p className="text-dim">
        The flow and all its versions are deleted. Emails that it sent stay in the log.
      </p>
      <Form
        action="Delete flow"
        look="danger"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ runs }) => {
          await remove.mutateAsync({
            path: { id: flow.id },
            query: runs === 'on' ? { runs: 'cancel' } : {},
          });
          navigate('/flows');
          toast(`Flow “${flow.name}” deleted`);
        }}
      >
        {open > 0 && (
          <Tick label={`End its ${runsText(open)} as well`} name="runs" hint="Required to delete the flow." />
        )}
      </Form>
    </Dialog>
  );
}

function Rename({ flow, onClose }: DialogProps) {
  const change = useChange('PATCH /flows/{id}');
  return (
    <Dialog title="Rename flow" onClose={onClose}>
      <Form
        action="Rename flow"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ name = '' }) => {
          await change.mutateAsync({ path: { id: flow.id }, body: { name } });
          onClose();
        }}
      >
        <Field label="Name" name="name" defaultValue={flow.name} autoFocus />
      </Form>
    </Dialog>
  );
}
