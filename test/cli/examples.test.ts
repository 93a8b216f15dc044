import {readdir} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {line} from '../../bench/rigs/command-line.js';
import {detached} from './_rig.js';

const examples = path.resolve(import.meta.dirname, '../../../examples');

test('every example can be applied, a second time without a change, and deleted', async t => {
	const {home, up} = await detached(t, '--runtime=simulated', '--store=memory');
	const troupe = (...args: readonly string[]) => line(args, {home});
	t.is(up.code, 0, up.err);
	const files = (await readdir(examples)).filter(name => name.endsWith('.yaml'));
	t.true(files.length >= 7);
	for (const file of files.map(name => path.join(examples, name))) {
		const first = await troupe('apply', '-f', file);
		t.is(first.code, 0, `${file}: ${first.err}`);
		t.regex(first.out, /^(\S+ created\n)+$/);
		t.is((await troupe('apply', '-f', file)).out, first.out.replaceAll('created', 'unchanged'), file);
		t.is((await troupe('delete', '-f', file, '--now')).code, 0, file);
	}
});

/** The specs of pods in a value, however deep. */
const podSpecsIn = (value: unknown): readonly object[] => {
	if (typeof value !== 'object' || value === null) return [];
	return ['containers' in value ? [value] : [], ...Object.values(value).map(podSpecsIn)].flat();
};

test('every example says which class its pods are of: its programs are those of the node, whatever the default of the cluster', async t => {
	const files = (await readdir(examples)).filter(name => name.endsWith('.yaml'));
	for (const file of files) {
		const {code, out, err} = await line(['convert', '-f', path.join(examples, file), '-o', 'json'], {home: '/nowhere'});
		t.is(code, 0, err);
		const specs = podSpecsIn(JSON.parse(out));
		// Of a function the cluster makes the pods, and says it itself; a workflow has none.
		t.true(specs.length > 0 || file === 'function.yaml' || file === 'workflow.yaml', file);
		for (const spec of specs) t.like(spec, {runtimeClassName: 'process'}, file);
	}
});
