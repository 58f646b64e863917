import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { renderMjml } from '../../../../src/mail/content/render-mjml.ts';
import { NEWS } from '../../../../src/web/dashboard/web/application/pages/templates/starters/news.ts';
import {
  designOf,
  readDesign,
} from '../../../../src/web/dashboard/web/application/pages/visual/source/blocks.ts';
import { isWhole } from '../../../../src/web/dashboard/web/application/pages/visual/source/edit.ts';
import { writeTree } from '../../../../src/web/dashboard/web/application/pages/visual/source/tree.ts';
import { acts, edited } from './generated-message.ts';

test('messages made by 40 runs of acts are read as they were written, and MJML knows all of them', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (all) => {
      let source: string = NEWS.newsletter.content.mjml;
      for (const act of all) {
        const design = readDesign(source);
        if (!design) throw new Error(`Not read again: ${source}`);
        const tree = edited(design, act);
        expect(designOf(tree) && isWhole(tree)).toBe(true);
        source = writeTree(tree);
      }
      expect(writeTree(readDesign(source)?.tree ?? [])).toBe(source);
      const { html, notes } = await renderMjml(source, 'nonce');
      expect(notes).toEqual([]);
      expect(html).toContain('</html>');
    }),
    { numRuns: 40 },
  );
});
