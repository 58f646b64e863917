import { useRef } from 'react';
import { useChange } from '../../../api/queries.ts';
import { isFinal } from '../../../api/requests.ts';

/**
 * Starts something that needs a new audience. A start that is refused leaves none behind, and one that is
 * tried again takes the same one.
 */
export function useNewAudience() {
  const create = useChange('POST /audiences');
  const remove = useChange('DELETE /audiences/{id}');
  const unused = useRef<{ readonly id: string; readonly name: string } | null>(null);
  /**
   * True after a start of which no final answer came: it may be filling the audience, whatever a later try is
   * answered.
   */
  const mayBeFilled = useRef(false);
  return {
    isPending: create.isPending || remove.isPending,
    startWith: async <Started>(name: string, start: (id: string) => Promise<Started>): Promise<Started> => {
      if (unused.current?.name !== name) {
        unused.current = await create.mutateAsync({ body: { name } });
        mayBeFilled.current = false;
      }
      const { id } = unused.current;
      try {
        const started = await start(id);
        unused.current = null;
        return started;
      } catch (error) {
        // An import that may have started needs its audience, and one that cannot be deleted serves the next
        // try.
        if (!isFinal(error)) mayBeFilled.current = true;
        const isGone =
          !mayBeFilled.current &&
          (await remove.mutateAsync({ path: { id } }).then(
            () => true,
            () => false,
          ));
        if (isGone) unused.current = null;
        throw error;
      }
    },
  };
}
