// Node.js's runner keeps the contract of runners, and what only Node.js has: promises that nobody waits for, exits, modules of both forms.

import path from 'node:path';
import ava, {type ExecutionContext} from 'ava';
import {startRunner, type Limits, type Runner} from '../_runner.js';
import {codeOf, errorOf, openGate, runnerContract, valueOf} from '../runner-contract.js';
import {nodeFunctions} from '../runner-functions.js';

const test = ava.serial;

const program = path.resolve(import.meta.dirname, '../../../../agent/functions/runners/node-runner.js');

const start = (t: ExecutionContext, files: Readonly<Record<string, string>>, limits?: Partial<Limits>): Promise<Runner> =>
	startRunner(t, [process.execPath, program], files, limits);

runnerContract(test, {name: 'nodejs', file: 'func.mjs', sources: nodeFunctions, start});

test('a function may be a module of either form, with modules beside it', async t => {
	const helper = {'helper.js': `exports.name = 'helper';\n`};
	for (const files of [
		{'func.js': `module.exports = () => require('./helper').name;\n`, ...helper},
		{'func.js': `exports.__esModule = true;\nexports.default = () => require('./helper').name;\n`, ...helper},
		{'func.js': `import {name} from './helper.js';\nexport default () => name;\n`, ...helper},
		{'func.mjs': `import {name} from './helper.js';\nexport default () => name;\n`, 'func.js': 'throw 1;', ...helper},
	]) {
		const {call} = await start(t, files);
		t.is(valueOf(await call()), 'helper');
	}
});

test('what is no function cannot be loaded', async t => {
	for (const [files, message] of [
		[{'func.mjs': 'export default 1;\n'}, /func\.mjs has no function as its default export/],
		[{'func.mjs': 'export const main = () => 1;\n'}, /func\.mjs has no function as its default export/],
		[{'other.js': ''}, /there is neither func\.mjs nor func\.js/],
	] as const) {
		const {isReady, ended, output} = await start(t, files);
		t.false(isReady);
		t.is(await ended(), 1);
		t.regex(output(), message);
	}
});

test('a promise that is rejected and that nobody waits for is in the log, and the runner goes on', async t => {
	const code = `export default params => { if (params.loses) Promise.reject(new Error('lost')); return 'answered'; };\n`;
	const {call, wrote} = await start(t, {'func.mjs': code});
	t.is(valueOf(await call({params: {loses: true}, headers: {'x-request-id': 'a'}})), 'answered');
	await wrote(/^\[a\] .*Error: lost/m);
	t.is(valueOf(await call({params: {}})), 'answered');
});

test('what is thrown outside of promises ends its call and the runner, which answers the others first', async t => {
	const code = `
import {existsSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
export default async params => {
	if (params.throws) {
		setTimeout(() => { throw new Error('outside'); });
		await new Promise(() => {});
	}
	console.log('begun');
	while (!existsSync('open')) await sleep(20);
	return 'answered';
};
`;
	const runner = await start(t, {'func.mjs': code});
	const other = runner.call({params: {}});
	await runner.wrote('begun');
	const error = errorOf(await runner.call({params: {throws: true}}));
	t.deepEqual([error.status, error.code, error.message], [500, 'ERR_FUNCTION', 'Error: outside']);
	openGate(runner);
	t.is(valueOf(await other), 'answered');
	t.is(await runner.ended(), 1);
});

test('whatever a function throws is answered', async t => {
	const code = `
const odd = {
	none: Object.create(null),
	nothing: undefined,
	stack: Object.assign(new Error('odd'), {stack: {}}),
	symbol: Symbol('s'),
	name: Object.assign(new Error('odd'), {name: {}}),
	made: Object.assign(new Error('odd'), {constructor: undefined}),
};
export default ({what}) => { throw odd[what]; };
`;
	const {call} = await start(t, {'func.mjs': code});
	for (const what of ['none', 'nothing', 'stack', 'symbol', 'name', 'made'])
		t.is(codeOf(await call({params: {what}})), '500 ERR_FUNCTION', what);
});

test('a function cannot end its process', async t => {
	const {call} = await start(t, {'func.mjs': 'export default () => process.exit(3);\n'});
	t.is(codeOf(await call()), '500 ERR_FUNCTION');
	t.is(codeOf(await call()), '500 ERR_FUNCTION');
});

test('a function has nothing of its runner: no words, no object to be called on', async t => {
	const code =
		'export default function () { return [process.argv.length, process.argv[1].slice(-8), this === undefined, process.cwd().slice(-5)]; }\n';
	const {call} = await start(t, {'func.mjs': code});
	t.deepEqual(valueOf(await call()), [2, 'func.mjs', true, '/code']);
});

test('a call that is over aborts its signal', async t => {
	const code = `
export default (params, {signal}) => new Promise(() => {
	const timer = setInterval(() => undefined, 1000);
	signal.onabort = () => { console.log('aborted'); clearInterval(timer); };
	console.log('begun');
});
`;
	const runner = await start(t, {'func.mjs': code}, {timeoutMs: 2000});
	const response = runner.open({headers: {'x-request-id': 'a'}});
	await runner.wrote('begun');
	t.is((await response).statusCode, 504);
	await runner.wrote('[a] aborted\n');
});
