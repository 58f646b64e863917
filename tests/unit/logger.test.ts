import { describe, expect, test } from 'bun:test';
import { createLogger } from '../../src/platform/telemetry/logger.ts';

const capture = (options: { level?: string; pretty: boolean }) => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return {
    lines,
    logger: createLogger({ level: options.level ?? 'info', pretty: options.pretty, destination }),
  };
};

describe('the JSON log', () => {
  test('a line is one JSON object with the time in ISO 8601 and the level as a word', () => {
    const { lines, logger } = capture({ pretty: false });
    logger.info({ port: 3000 }, 'Listening');
    expect(lines).toHaveLength(1);
    const { time, ...rest } = JSON.parse(lines[0] ?? '');
    expect(rest).toEqual({ level: 'info', port: 3000, msg: 'Listening' });
    expect(new Date(time).toISOString()).toBe(time);
  });

  test('an error keeps its stack', () => {
    const { lines, logger } = capture({ pretty: false });
    logger.error({ err: new Error('broken pipe') }, 'Failed');
    expect(JSON.parse(lines[0] ?? '').err).toMatchObject({
      message: 'broken pipe',
      stack: expect.any(String),
    });
  });

  test('less than the level is not written', () => {
    const { lines, logger } = capture({ level: 'warn', pretty: false });
    logger.info('quiet');
    logger.warn('loud');
    expect(lines).toHaveLength(1);
  });
});

describe('the readable log', () => {
  test('a line starts with the time and shows fields by name', () => {
    const { lines, logger } = capture({ pretty: true });
    logger.info({ url: 'http://127.0.0.1:3000', note: 'two words' }, 'Listening');
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}Listening {2}url=http:\/\/127\.0\.0\.1:3000 note="two words"\n$/,
    );
  });

  test('an error is followed by its stack', () => {
    const { lines, logger } = capture({ pretty: true });
    logger.error({ err: new Error('broken pipe') }, 'Failed');
    expect(lines[0]).toContain('ERROR Failed\nError: broken pipe\n    at ');
  });

  test('a text with line breaks stays on its line', () => {
    const { lines, logger } = capture({ pretty: true });
    logger.warn({ reply: '250 ok\r\nforged line' }, 'Odd');
    expect(lines[0]?.split('\n')).toHaveLength(2);
  });
});
