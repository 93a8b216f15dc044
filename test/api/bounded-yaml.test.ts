import test from 'ava';
import {LineCounter} from 'yaml';
import {parseBoundedYaml} from '../../api/bounded-yaml.js';
import {limits} from '../../api/limits.js';

test('a text has so many parts at most, and is told where it has more', t => {
	const text = Array.from({length: 100}, (_, line) => `- ${line}\n`).join('');
	const whole = parseBoundedYaml(text, new LineCounter());
	t.is(whole.ok && whole.documents.length, 1);
	const parsed = parseBoundedYaml(text, new LineCounter(), 50);
	if (parsed.ok) return t.fail('it was read');
	t.is(parsed.message, 'has more than 50 parts up to here; split it');
	t.true(parsed.offset > 0 && parsed.offset < text.length / 2);
});

test('a text is nested so deep at most', t => {
	const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
	t.true(parseBoundedYaml(nested(limits.objectDepth), new LineCounter()).ok);
	const parsed = parseBoundedYaml(nested(100_000), new LineCounter());
	t.is(parsed.ok ? '' : parsed.message, `is nested deeper than ${limits.objectDepth} levels`);
});
