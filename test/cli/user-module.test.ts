// What a module of a user's own may be, and what is said of one that may not.

import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {checkedBehavior} from '../../cli/actor-run/checked-behavior.js';
import {loadUserModule, userModuleOf} from '../../cli/actor-run/user-module.js';
import type {AnyBehavior, Context, Effect, Message} from '../../system/kernel/behavior.js';
import {play, receivedBy} from '../../system/kernel/play.js';
import {seededRandom} from '../../system/time/random.js';

const counter = {kind: 'Counter', init: () => ({state: 0}), receive: (state: number) => ({state: state + 1, effects: []})};

test('a module exports a behaviour, or several by name', t => {
	t.is(userModuleOf({default: counter}, 'f').root, 'Counter');
	t.is(userModuleOf({behaviors: {counter}}, 'f').root, 'counter');
	const two = {counter, other: counter};
	t.deepEqual(
		[userModuleOf({behaviors: two, root: 'other'}, 'f').root, Object.keys(userModuleOf({behaviors: two, root: 'other'}, 'f').behaviors)],
		['other', ['counter', 'other']],
	);
	t.deepEqual(Object.keys(userModuleOf({default: counter, behaviors: two}, 'f').behaviors), ['counter', 'other', 'Counter']);
	t.is(userModuleOf({default: {behaviors: two, root: 'other'}}, 'f').root, 'other');
});

const wrong: readonly (readonly [what: object, said: RegExp])[] = [
	[{}, /^f: it exports no behaviour: export one as default/],
	[{default: 1}, /^f: the default export must be a behaviour, \{kind, init, receive\}, got 1$/],
	[{default: {...counter, kind: ''}}, /^f: the default export must have a kind/],
	[{default: {...counter, init: undefined}}, /^f: the default export must have a function "init", got nothing$/],
	[{default: {...counter, receive: 'x'}}, /^f: the default export must have a function "receive", got "x"$/],
	[{default: {...counter, signal: 1}}, /^f: the default export has "signal", which must be a function, got 1$/],
	[{default: {...counter, persistence: {}}}, /^f: the default export has "persistence", which is of actors that keep objects/],
	[{default: {...counter, strategy: 'all'}}, /^f: the default export has the strategy "all"; there are oneForOne/],
	[{default: {...counter, pastIntensity: 'park'}}, /pastIntensity "park"; there are escalate and backOff$/],
	[{behaviors: []}, /^f: behaviors must be an object of behaviours by name, got a list$/],
	[{behaviors: {a: 1}}, /^f: behaviors\.a must be a behaviour/],
	[{behaviors: {a: counter, b: counter}}, /^f: root must name the first of its behaviours \(a, b\), got nothing$/],
	[{behaviors: {a: counter, b: counter}, root: 'c'}, /^f: root must name .*, got "c"$/],
	[{default: {...counter, kind: 'Run'}}, /^f: a behaviour cannot be called "Run"/],
	[{default: counter, behaviors: {Counter: {...counter}}}, /^f: the default export and behaviors\.Counter are both called "Counter"/],
	[{behaviors: {Inspector: counter}}, /^f: a behaviour cannot be called "Inspector"/],
];

for (const [what, said] of wrong)
	test(`of a module that exports ${JSON.stringify(what, (_key, value: unknown) => (typeof value === 'function' ? 'a function' : value))} it is said what is wrong`, t => {
		t.throws(() => userModuleOf(what as {readonly [name: string]: unknown}, 'f'), {message: said, name: 'AppError'});
	});

test('a file is named with what is wrong with it', async t => {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-module-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const write = (name: string, text: string): string => {
		const file = path.join(folder, name);
		writeFileSync(file, text);
		return file;
	};
	const cases: readonly (readonly [file: string, said: RegExp])[] = [
		[path.join(folder, 'missing.mjs'), /missing\.mjs: there is no such file/],
		[folder, /: it is no file/],
		[write('a.txt', ''), /a\.txt: a module's name ends in \.js, \.mjs, \.cjs; got "\.txt"$/],
		[write('throws.mjs', '\nthrow new TypeError("no")'), /throws\.mjs: it cannot be loaded: TypeError: no \(at file:.*throws\.mjs:2:7\)$/],
		[write('syntax.mjs', 'export default {\n)'), /syntax\.mjs: it cannot be loaded: SyntaxError: .* \(at .*syntax\.mjs:2\)$/],
		[write('lacks.mjs', 'import "./nowhere.mjs"'), /lacks\.mjs: it cannot be loaded: Error: Cannot find module/],
		[write('empty.mjs', ''), /empty\.mjs: it exports no behaviour/],
		[write('thrown.mjs', 'throw null'), /thrown\.mjs: it cannot be loaded: it throws null, which is no Error$/],
		[
			write('getter.mjs', 'export default {get kind() {\n throw new Error("no kind"); }}'),
			/getter\.mjs: what it exports cannot be read: Error: no kind \(at get kind .*getter\.mjs:2:8\)\)$/,
		],
	];
	for (const [file, said] of cases) await t.throwsAsync(loadUserModule(file), {message: said, code: 'ERR_USAGE'}, file);
	const {root, behaviors} = await loadUserModule(
		write('good.cjs', 'module.exports = {behaviors: {a: {kind: "A", init: () => ({state: 1}), receive: state => ({state})}}}'),
	);
	t.deepEqual([root, Object.keys(behaviors)], ['a', ['a']]);
});

const context = {random: seededRandom(1)} as unknown as Context;

/** What becomes of a step that returns this. */
const stepOf = (returned: unknown, behavior: object = {}) =>
	receivedBy<unknown, Message>(
		checkedBehavior({...counter, receive: () => returned, ...behavior} as unknown as AnyBehavior, ['Counter', 'b']),
		0,
		{type: 'x'},
		context,
	);

const to = 'troupe://ping@ann/main';

test('a step may return whatever there is here', t => {
	const effects: readonly Effect[] = [
		{type: 'tell', to, message: {type: 'x'}},
		{type: 'ask', to, message: {type: 'x'}, as: 'a', id: '1', deadlineMs: 5},
		{type: 'reply', to: {to, as: 'a', id: ''}, outcome: {ok: true, value: 1}},
		{type: 'spawn', name: 'child', behavior: 'b', input: 1, restart: 'permanent', shutdownMs: 'brutalKill'},
		{type: 'stopChild', name: 'child'},
		{type: 'watch', address: to},
		{type: 'unwatch', address: to},
		{type: 'wakeAt', name: 't', atMs: 1, message: {type: 'x'}, atMostMs: 5},
		{type: 'cancelWake', name: 't'},
	];
	t.deepEqual(stepOf({state: 1, effects}), {state: 1, effects});
	t.deepEqual(stepOf({state: null}), {state: null, effects: []});
	t.deepEqual(stepOf({state: 1, effects: [], stop: true}), {state: 1, effects: [], stop: true});
});

test('what a step prints is one perform, of whose outcome the behaviour hears nothing', t => {
	const {effects} = stepOf({
		state: 1,
		effects: [
			{type: 'print', text: 'a'},
			{type: 'stopChild', name: 'x'},
			{type: 'print', text: ''},
		],
	});
	t.like(effects, [{type: 'perform', command: {type: 'print', text: 'a\n'}}, {type: 'stopChild'}]);
	t.is(effects.length, 2);
	const behavior = checkedBehavior(counter as unknown as AnyBehavior, ['Counter']);
	const answer = {type: (effects[0] as {as: string}).as, id: '1', outcome: {ok: true, value: null}} as const;
	t.deepEqual(play(behavior, null, [answer]).state, 0);
	t.deepEqual(play(behavior, null, [{type: 'other'}]).state, 1);
});

test('a behaviour that returns nothing for a message does not know it; of its first step that is a mistake', t => {
	const behavior = checkedBehavior({...counter, receive: () => undefined} as unknown as AnyBehavior, []);
	t.is(behavior.receive(0, {type: 'x'}, context), undefined);
	const first = checkedBehavior({...counter, init: () => undefined} as unknown as AnyBehavior, []);
	t.throws(() => first.init(null, context), {message: 'init must return {state, effects}, got nothing'});
});

const bad: readonly (readonly [returned: unknown, said: RegExp])[] = [
	[null, /^receive must return \{state, effects\}, got nothing$/],
	[Promise.resolve({state: 1}), /^receive returned a promise: a step awaits nothing/],
	[Promise.reject(new Error('x')), /^receive returned a promise/],
	[{effects: []}, /^receive returned no state/],
	[{state: 1, effects: {}}, /^receive must return a list of effects beside the state, got an object$/],
	[{state: 1, stop: 1}, /^stop must be true or left out, got 1 \(receive\)$/],
	[{state: 1, effects: ['tell']}, /^an effect must be an object with a type, got "tell" \(effect 0 of receive\)$/],
	[{state: 1, effects: [{type: 'shout'}]}, /^there is no effect "shout"; there are tell, ask, reply/],
	[{state: 1, effects: [{type: 'perform', command: {type: 'rm'}, key: 'a', as: 'b'}]}, /^there is no effect "perform"/],
	[{state: 1, effects: [{type: 'constructor'}]}, /^there is no effect "constructor"/],
	[
		{state: 1, effects: [{type: 'create', object: {}, id: '1'}]},
		/^"create" is about objects of the cluster, and actors of your own have none/,
	],
	[{state: 1, effects: [{type: 'tell', to: 'ping', message: {type: 'x'}}]}, /^to of "tell" must be an address, .* got "ping"/],
	[{state: 1, effects: [{type: 'tell', to, message: {}}]}, /^message of "tell" must be an object with a type/],
	[{state: 1, effects: [{type: 'tell', to, message: {type: 'x'}, mesage: 1}]}, /^"tell" has no field "mesage"; it has to, message, cause/],
	[{state: 1, effects: [{type: 'ask', to, message: {type: 'x'}, as: 'a'}]}, /^id of "ask" must be a text, got nothing/],
	[{state: 1, effects: [{type: 'reply', to: undefined, outcome: {ok: true}}]}, /^to of "reply" must be the replyTo of a message/],
	[{state: 1, effects: [{type: 'reply', to: {to, as: 'a', id: '1'}, outcome: 7}]}, /^outcome of "reply" must be \{ok: true, value\}/],
	[{state: 1, effects: [{type: 'spawn', name: 'a/b', behavior: 'b'}]}, /^name of "spawn" must be 1 to 253 characters/],
	[{state: 1, effects: [{type: 'spawn', name: 'a', behavior: 'b', restart: 'often'}]}, /^restart of "spawn" must be one of permanent/],
	[
		{state: 1, effects: [{type: 'spawn', name: 'a', behavior: 'Kid'}]},
		/^there is no behaviour "Kid" to spawn; the module has Counter, b, and others go into its behaviors \(effect 0 of receive\)$/,
	],
	[{state: 1, effects: [{type: 'wakeAt', name: 'a', atMs: NaN, message: {type: 'x'}}]}, /^atMs of "wakeAt" must be a number, got NaN/],
];

bad.forEach(([returned, said], at) => {
	test(`a step that returns what it may not crashes with a sentence: ${at}`, t => {
		t.throws(() => stepOf(returned), {message: said});
	});
});

test('what is asked of a behaviour outside of its steps never throws', t => {
	const throwing = (): never => {
		throw new Error('no');
	};
	const throwers = {...counter, describe: throwing, trouble: throwing, coalesce: throwing} as unknown as AnyBehavior;
	const {describe, trouble, coalesce} = checkedBehavior(throwers, []);
	t.deepEqual([describe?.(0), trouble?.(0), coalesce?.({type: 'x'})], ['(describe threw)', undefined, undefined]);
	const long = (): string => 'x'.repeat(1_000);
	const odd = checkedBehavior({...counter, describe: long, trouble: long, coalesce: () => 7} as unknown as AnyBehavior, []);
	t.deepEqual([odd.describe?.(0).length, odd.trouble?.(0)?.length, odd.coalesce?.({type: 'x'})], [200, 200, undefined]);
});

test('a behaviour may be an instance of a class', t => {
	class Doubling {
		kind = 'Doubling';
		factor = 2;
		init(): object {
			return {state: this.factor};
		}
		receive(state: number): object {
			return {state: state * this.factor};
		}
	}
	const {behaviors} = userModuleOf({default: new Doubling()}, 'f');
	t.is(play(behaviors['Doubling'] as AnyBehavior, null, [{type: 'x'}]).state, 4);
});
