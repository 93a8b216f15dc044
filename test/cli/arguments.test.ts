import test from 'ava';
import {AppError} from '../../api/errors.js';
import {parseArguments} from '../../cli/arguments.js';
import type {FlagSpecs} from '../../cli/command.js';
import {commands} from '../../cli/commands.js';
import {folder, run} from './_rig.js';

const specs: FlagSpecs = {
	namespace: {type: 'string', short: 'n', value: 'NAME', about: ''},
	'all-namespaces': {type: 'boolean', short: 'A', about: ''},
	filename: {type: 'string', short: 'f', multiple: true, about: ''},
	replicas: {type: 'number', about: ''},
	wait: {type: 'boolean', about: ''},
	output: {type: 'string', short: 'o', choices: ['json', 'yaml'], about: ''},
};

const parse = (...argv: readonly string[]) => {
	const {flags, inputs} = parseArguments(argv, specs);
	return {
		inputs,
		namespace: flags.text('namespace'),
		everywhere: flags.on('all-namespaces'),
		files: flags.texts('filename'),
		replicas: flags.number('replicas'),
		wait: flags.given('wait'),
		output: flags.text('output'),
	};
};

const nothing = {inputs: [], namespace: undefined, everywhere: false, files: [], replicas: undefined, wait: undefined, output: undefined};

test('flags may be written in every usual way', t => {
	t.deepEqual(parse('pods', '-n', 'a', 'b'), {...nothing, inputs: ['pods', 'b'], namespace: 'a'});
	t.deepEqual(parse('--namespace=a', '-ojson'), {...nothing, namespace: 'a', output: 'json'});
	t.deepEqual(parse('-A', '--wait=false'), {...nothing, everywhere: true, wait: false});
	t.deepEqual(parse('--no-wait'), {...nothing, wait: false});
	t.deepEqual(parse('--wait', 'true'), {...nothing, wait: true, inputs: ['true']});
	t.deepEqual(parse('-f', '-', '-f', 'b', '--filename=c'), {...nothing, files: ['-', 'b', 'c']});
	t.deepEqual(parse('--replicas', '-1'), {...nothing, replicas: -1});
	t.deepEqual(parse('007', '--', '-n', '--x'), {...nothing, inputs: ['007', '-n', '--x']});
	t.deepEqual(parse('--namespace=a=b c'), {...nothing, namespace: 'a=b c'});
});

const wrong: readonly (readonly [argv: readonly string[], message: string])[] = [
	[['--namespac', 'x'], 'unknown flag "--namespac"; did you mean "--namespace"?'],
	[['-z'], 'unknown flag "-z"'],
	[['-n'], '-n needs a value: -n NAME'],
	[['-n', '-A'], '-n needs a value: -n NAME'],
	[['--namespace='], '--namespace needs a value: --namespace NAME'],
	[['--replicas', 'many'], '--replicas must be a number'],
	[['-o', 'jsn'], '--output must be json, yaml, got "jsn"; did you mean "json"?'],
	[['--wait=maybe'], '--wait is true or false, got "--wait=maybe"'],
	[['-An', 'x'], '"-An" joins two flags; write them apart'],
	[['--no-output'], 'unknown flag "--no-output"'],
	[['--__proto__=x'], 'unknown flag "--__proto__"'],
	[['--a', '--b'], 'unknown flag "--a"\nunknown flag "--b"'],
];

for (const [argv, message] of wrong) {
	test(`${argv.join(' ')} is refused in words`, t => {
		const error = t.throws(() => parse(...argv), {instanceOf: AppError});
		t.is(error?.code, 'ERR_USAGE');
		t.true(error?.message.startsWith(message), error?.message);
	});
}

test('every command has help with its flags, and examples that name it', t => {
	for (const {name, examples, flags} of commands) {
		t.true(
			examples.every(example => example.includes(`troupe ${name}`)),
			name,
		);
		const shorts = Object.values(flags).flatMap(({short}) => short ?? []);
		t.is(new Set(shorts).size, shorts.length, name);
	}
});

test('help is shown on request, exits with 0, and wrong words exit with 2', async t => {
	const home = await folder(t);
	const troupe = (...args: readonly string[]) => run(t, args, {home});
	const overview = await troupe();
	t.is(overview.code, 0);
	for (const {name, summary} of commands) t.true(overview.out.includes(`  ${name} `) && overview.out.includes(summary), name);
	t.deepEqual(await troupe('help'), overview);
	t.deepEqual(await troupe('--help'), overview);
	const get = await troupe('help', 'get');
	t.regex(get.out, /^troupe get: .*\n\nUsage:\n/);
	t.deepEqual(await troupe('get', '--help'), get);
	t.deepEqual(await troupe('get', 'pods', '-h'), get);
	t.deepEqual(await troupe('aply'), {code: 2, out: '', err: 'error: unknown command "aply"; did you mean "apply"?\n'});
	t.is((await troupe('help', 'aply')).code, 2);
	t.regex((await troupe('-n', 'x', 'get', 'pods')).err, /the command comes first/);
	t.regex((await troupe('--version', '--client')).out, /^client: troupe/);
});
