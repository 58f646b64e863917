import type { PageLanguage } from '../../../../../../platform/text/language.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import type { EntranceWords } from './en.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { pt } from './pt.ts';
import { sv } from './sv.ts';
import { tr } from './tr.ts';

/** The words by their languages. */
export const WORDS: Readonly<Record<PageLanguage, EntranceWords>> = {
  en,
  de,
  fr,
  es,
  it,
  pt,
  nl,
  pl,
  sv,
  tr,
  ar,
  ja,
};
