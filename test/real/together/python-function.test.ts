// The example of docs/functions.md as a person types it, in Python. Needs python3.

import test from 'ava';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {isAlive} from '../../../cli/files/processes.js';
import {folder, run, start} from '../../cli/_rig.js';
import {writeFile} from 'node:fs/promises';
import path from 'node:path';

test('a function in Python is made, called, and says what is wrong with it', async t => {
	const home = await folder(t);
	const troupe = (...words: readonly string[]) => run(t, ['function', ...words], {home, cwd: home});
	t.like(await troupe('new', 'hello'), {code: 0, out: 'function "hello" is in hello/\n'});
	t.like(await troupe('run', 'hello', '{"name": "Ada"}'), {code: 0, out: '{"greeting":"Hello, Ada!"}\n', err: ''});

	const wrong = await troupe('run', 'hello', '[]');
	t.is(wrong.code, 1);
	t.is(wrong.out, '');
	t.regex(wrong.err, /^\[local\] Traceback[^]*func\.py", line 2[^]*\nerror: AttributeError: 'list' object has no attribute 'get'\n$/);

	await writeFile(path.join(home, 'hello', 'func.py'), 'def main(params):\n    return ]\n');
	const unloadable = await troupe('run', 'hello');
	t.is(unloadable.code, 1);
	t.regex(
		unloadable.err,
		/func\.py", line 2[^]*SyntaxError[^]*\nerror: the function cannot be loaded: its runner ended with exit code 1\n$/,
	);

	await writeFile(path.join(home, 'hello', 'func.py'), 'def main(params):\n    while True: pass\n');
	t.regex((await troupe('run', 'hello', '{}', '--timeout', '500ms')).err, /^error: the call took longer than 500 ms$/m);
});

test('a Python function ends with the command that has called it, also when it blocks', async t => {
	const home = await folder(t);
	// Whoever is killed leaves the folder of the call.
	const troupe = (...words: readonly string[]) => start(t, ['function', ...words], {home, cwd: home, env: {TMPDIR: home}});
	await troupe('new', 'busy').ended;
	await writeFile(
		path.join(home, 'busy', 'func.py'),
		'import os\ndef main(params):\n    print("pid", os.getpid())\n    while True: pass\n',
	);
	const killed = troupe('run', 'busy');
	await killed.notes('pid');
	killed.kill('SIGKILL');
	const pid = Number(/pid (\d+)/.exec((await killed.ended).err)?.[1]);
	await eventually('its runner is gone', () => !isAlive(pid));
	t.true(pid > 1);
});
