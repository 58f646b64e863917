import { expect, test } from 'bun:test';
import { diagnoseOpenFiles } from '../../src/ops/doctor/machine.ts';

const limits = (soft: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             63432                63432                processes
Max open files            ${soft.padEnd(20)} 524288               files
Max locked memory         8388608              8388608              bytes
`;

test('doctor warns where few files and connections may be open', () => {
  expect(diagnoseOpenFiles(limits('400'))).toMatchObject({
    status: 'warning',
    detail: '400 at once, each connection one of them.',
    advice: expect.stringContaining('LimitNOFILE'),
  });
  expect(diagnoseOpenFiles(limits('1024'))).toMatchObject({
    status: 'fine',
    detail: '1,024 at once, each connection one of them.',
  });
  expect(diagnoseOpenFiles(limits('unlimited')).status).toBe('fine');
  expect(diagnoseOpenFiles(null).status).toBe('skipped');
});
