// JavaScript, since the types of the library bring those of a browser into every file that imports them.
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import properties from 'highlight.js/lib/languages/properties';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';

/** The languages of the pages, by the word after the fence. */
const LANGUAGES = {
  ...{ go, http, ini, java, json, php, properties, python, ruby, sql, xml },
  ...{ sh: bash, js: javascript, ts: typescript },
};

for (const [name, grammar] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, grammar);

/** Colours code; null for a language that has no grammar here. */
export const colored = (code, language) =>
  Object.hasOwn(LANGUAGES, language) ? hljs.highlight(code, { language }).value : null;
