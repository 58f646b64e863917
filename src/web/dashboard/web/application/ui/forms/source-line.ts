import { useMemo, useRef } from 'react';

/** Shows a line in a code editor, which is there only once `open` has shown its pane. */
export function useSourceLine(open: () => void) {
  const lineShower = useRef<((line: number) => void) | null>(null);
  const wantedLine = useRef<number | null>(null);
  const opener = useRef(open);
  opener.current = open;
  return useMemo(() => {
    const show = (line: number | null) => {
      opener.current();
      if (line !== null && lineShower.current) lineShower.current(line);
      else wantedLine.current = line;
    };
    return { show, editor: { lineShower, wantedLine } };
  }, []);
}

export type SourceLine = ReturnType<typeof useSourceLine>;
