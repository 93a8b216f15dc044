import test from 'ava';
import {AppError} from '../../api/errors.js';
import {parseArguments} from '../../cli/command-line/arguments.js';
import type {FlagSpecs} from '../../cli/command.js';
import {commands} from '../../cli/commands.js';
import {withoutLeading} from '../../cli/command-line/leading-flags.js';
import {line} from '../../bench/rigs/command-line.js';
import {folder, run} from './_rig.js';

const specs: FlagSpecs = {
	namespace: {type: 'string', short: 'n', value: 'NAME', about: ''},
	'all-namespaces': {type: 'boolean', short: 'A', about: ''},
	filename: {type: 'string', short: 'f', multiple: true, about: ''},
	replicas: {type: 'number', about: ''},
	wait: {type: 'boolean', about: ''},
	output: {type: 'string', short: 'o', choices: ['json', 'yaml'], about: ''},
	'dry-run': {type: 'string', bare: 'true', choices: ['true', 'client'], about: ''},
};

const parse = async (...argv: readonly string[]) => {
	const {flags, inputs} = await parseArguments(argv, specs);
	return {
		inputs,
		namespace: flags.text('namespace'),
		everywhere: flags.on('all-namespaces'),
		files: flags.texts('filename'),
		replicas: flags.number('replicas'),
		wait: flags.given('wait'),
		output: flags.text('output'),
		dryRun: flags.text('dry-run'),
	};
};

const nothing = {
	inputs: [],
	namespace: undefined,
	everywhere: false,
	files: [],
	replicas: undefined,
	wait: undefined,
	output: undefined,
	dryRun: undefined,
};

test('flags may be written in every usual way', async t => {
	t.deepEqual(await parse('pods', '-n', 'a', 'b'), {...nothing, inputs: ['pods', 'b'], namespace: 'a'});
	t.deepEqual(await parse('--namespace=a', '-ojson'), {...nothing, namespace: 'a', output: 'json'});
	t.deepEqual(await parse('-A', '--wait=false'), {...nothing, everywhere: true, wait: false});
	t.deepEqual(await parse('--no-wait'), {...nothing, wait: false});
	t.deepEqual(await parse('--wait', 'true'), {...nothing, wait: true, inputs: ['true']});
	t.deepEqual(await parse('-f', '-', '-f', 'b', '--filename=c'), {...nothing, files: ['-', 'b', 'c']});
	t.deepEqual(await parse('--replicas', '-1'), {...nothing, replicas: -1});
	t.deepEqual(await parse('007', '--', '-n', '--x'), {...nothing, inputs: ['007', '-n', '--x']});
	t.deepEqual(await parse('--namespace=a=b c'), {...nothing, namespace: 'a=b c'});
	t.deepEqual(await parse('-An', 'x', 'b'), {...nothing, everywhere: true, namespace: 'x', inputs: ['b']});
	t.deepEqual(await parse('-Anx'), {...nothing, everywhere: true, namespace: 'x'});
	t.deepEqual(await parse('--dry-run', 'b'), {...nothing, dryRun: 'true', inputs: ['b']});
	t.deepEqual(await parse('--dry-run=client'), {...nothing, dryRun: 'client'});
});

test('quotes of a value are its own', async t => {
	for (const text of ['"a"', "'a'", '""', '"', "''", `"'a'"`, 'a"b"']) {
		t.deepEqual(await parse('-n', text), {...nothing, namespace: text});
		t.deepEqual(await parse(`--namespace=${text}`), {...nothing, namespace: text});
		t.deepEqual(await parse('-f', text, '-f', 'b'), {...nothing, files: [text, 'b']});
		t.deepEqual((await parseArguments(['-n', text], specs)).flags.words, [`--namespace=${text}`], 'as another process is to get it');
	}
});

const wrong: readonly (readonly [argv: readonly string[], message: string])[] = [
	[['--namespac', 'x'], 'unknown flag "--namespac"; did you mean "--namespace"?'],
	[['-z'], 'unknown flag "-z"'],
	[['-n'], '-n needs a value: -n NAME'],
	[['-n', '-A'], '-n needs a value: -n NAME'],
	[['--namespace='], '--namespace needs a value: --namespace NAME'],
	[['--replicas', ''], '--replicas needs a value: --replicas VALUE'],
	[['--replicas='], '--replicas needs a value: --replicas VALUE'],
	[['--replicas', 'many'], '--replicas must be a number'],
	...['1e3', '0x10', ' 5', '5.0', '+5', '５'].map(
		text => [['--replicas', text], `--replicas must be a number in plain digits, got "${text}"`] as const,
	),
	[['--replicas=1e3'], '--replicas must be a number in plain digits'],
	[['-o', 'jsn'], '--output must be json, yaml, got "jsn"; did you mean "json"?'],
	[['--wait=maybe'], '--wait is true or false, got "--wait=maybe"'],
	[['-Az', 'x'], 'unknown flag "-z"'],
	[['-An'], '-n needs a value: -n NAME'],
	[['--dry-run', 'client'], '--dry-run client is read as two words; write --dry-run=client'],
	[['--dry-run=maybe'], '--dry-run must be true, client, got "maybe"'],
	[['--no-output'], 'unknown flag "--no-output"'],
	[['--__proto__=x'], 'unknown flag "--__proto__"'],
	[['--a', '--b'], 'unknown flag "--a"\nunknown flag "--b"'],
];

for (const [argv, message] of wrong) {
	test(`${argv.join(' ')} is refused in words`, async t => {
		const error = await t.throwsAsync(parse(...argv), {instanceOf: AppError});
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

test('some flags may stand in front of the command', t => {
	const led = (...argv: readonly string[]) => {
		const {leading, rest} = withoutLeading(argv);
		return `${leading.join(' ')} | ${rest.join(' ')}`;
	};
	t.is(led('-n', 'a', 'get', 'pods'), '-n a | get pods');
	t.is(led('-na', '--namespace=b', '-n=c', '--namespace', 'd', 'get', '-A'), '-na --namespace=b -n=c --namespace d | get -A');
	t.is(led('-A', '--home', '/h', '--kubeconfig=F', 'get'), '-A --home /h --kubeconfig=F | get');
	t.is(led('get', '-n', 'a'), ' | get -n a');
	t.is(led('-n', 'a', '-o', 'json', 'get'), ' | -n a -o json get');
	t.is(led('--help', 'get'), ' | --help get');
	t.deepEqual([led('-n'), led('-A', '-n', 'x')], [' | -n', ' | -A -n x']);
	t.is(led(), ' | ');
});

test('help is shown on request, exits with 0, and wrong words exit with 2', async t => {
	const home = await folder(t);
	const troupe = (...args: readonly string[]) => line(args, {home});
	const overview = await run(t, [], {home});
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
	t.regex((await troupe('-o', 'json', 'get', 'pods')).err, /the command comes first, as in: troupe get pods -o json; /);
	t.regex((await troupe('-n', 'x')).err, /the command comes first, as in: troupe get pods -n x; /);
	t.regex((await troupe('-z')).err, /the command comes first, as in: troupe get pods -z; /);
	t.deepEqual(await troupe('-n', 'x', '--home', home, 'get', '-h'), get);
	t.regex((await troupe('--version', '--client')).out, /^client: troupe/);
});
