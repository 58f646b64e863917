import type { Webhook } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { count, momentText, wordsOf } from '../../ui/display/format.ts';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';

/** The answers that were counted, each once with how often: "timeout (7), HTTP 500 (3)". */
export function answersText({ lastFailures }: Webhook): string {
  const counts = new Map<string, number>();
  for (const { httpStatus, error } of lastFailures) {
    const answer = error === null ? `HTTP ${httpStatus}` : wordsOf(error);
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  return [...counts].map(([answer, times]) => `${answer} (${count(times)})`).join(', ');
}

/** The reason and the time of disabling, with the two ways to enable the endpoint. */
export function Disabled({
  webhook,
  onReplay,
}: {
  readonly webhook: Webhook;
  readonly onReplay: () => void;
}) {
  const { may } = useViewer();
  const update = useChange('PATCH /webhooks/{id}');
  const { disabledAt, disabledReason, failureCount } = webhook;
  const at = disabledAt === null ? '' : ` on ${momentText(disabledAt)}`;
  const answers = answersText(webhook);
  const enable = async () => {
    await update.mutateAsync({ path: { id: webhook.id }, body: { status: 'active' } });
    toast('Endpoint enabled');
  };
  return (
    <section
      aria-label="Reason for disabling"
      data-color="waiting"
      className="card grid grid-cols-1 gap-3 border-l-4 border-l-(--state) p-4"
    >
      <p className="font-semibold">
        {disabledReason === 'failures'
          ? `Disabled${at} after ${count(failureCount)} failures in a row${answers === '' ? '' : `: ${answers}`}.`
          : `Disabled${at} by a person or an API key.`}
      </p>
      <p>
        Events are not posted to this endpoint now. Events that waited for it when it was disabled are listed
        as skipped.
      </p>
      {may('webhooks:write') && (
        <div className="flex flex-wrap gap-2">
          <Button look="main" busy={update.isPending} onClick={() => void enable().catch(toastProblem)}>
            Enable endpoint
          </Button>
          <Button onClick={onReplay}>Enable and post missed events</Button>
        </div>
      )}
    </section>
  );
}
