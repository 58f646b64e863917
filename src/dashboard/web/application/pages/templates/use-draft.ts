import { useState } from 'react';
import type { Template } from '../../api/operations.ts';
import { bodyOf, type Draft, draftOf } from './draft.ts';

/**
 * A template while it is edited. When another version comes from elsewhere, it is shown if nothing was written here; if something was,
 * `base` stays the version that it was written upon, so that saving is refused rather than undoing what somebody else did.
 */
export function useDraft(template: Template) {
  const [saved, setSaved] = useState(() => draftOf(template));
  const [draft, setDraft] = useState(saved);
  const [seen, setSeen] = useState(template.version);
  const [base, setBase] = useState(template.version);
  const [round, setRound] = useState(0);
  const textOf = (each: Draft): string => JSON.stringify(bodyOf(each, template.format));
  const isChanged = textOf(draft) !== textOf(saved);
  if (template.version !== seen) {
    const theirs = draftOf(template);
    const isOwn = textOf(theirs) === textOf(draft);
    setSeen(template.version);
    if (isOwn || !isChanged) {
      setBase(template.version);
      setSaved(isOwn ? draft : theirs);
    }
    if (!isOwn && !isChanged) {
      setDraft(theirs);
      setRound(round + 1);
    }
  }
  return {
    draft,
    set: (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part })),
    isChanged,
    /** The version that this builds on. */
    base,
    /** Changes when what is edited begins anew. */
    round,
    /** Hears what was saved, and as which version if it is sent from now on. */
    keep: (kept: Draft, version: number | null) => {
      setSaved(kept);
      if (version !== null) setBase(version);
    },
  };
}
