import test from 'ava';
import type {ApiObject} from '../../api/object.js';
import {parseJsonPath, valuesAt} from '../../cli/objects/json-path.js';
import {beginWait, isMet, lookAgain, parseGoal, type WaitGoal} from '../../cli/objects/wait-goal.js';

const goalOf = (text: string): WaitGoal => {
	const goal = parseGoal(text);
	if (typeof goal === 'string') throw new Error(goal);
	return goal;
};

const anObject = (status: object, metadata: object = {}): ApiObject =>
	({apiVersion: 'v1', kind: 'Pod', metadata: {name: 'web', uid: '1', generation: 2, ...metadata}, status}) as unknown as ApiObject;

const found = (path: string, value: unknown): unknown => {
	const parsed = parseJsonPath(path);
	return parsed === undefined ? undefined : valuesAt(parsed, value);
};

test('paths lead through fields, keys with dots, indexes, everything, and filters', t => {
	const value = {
		a: {b: [1, 2, {c: 'x'}], 'd.e/f': 'y'},
		list: [
			{type: 'Ready', ok: true},
			{type: 'Other', n: 3},
		],
	};
	const cases: readonly (readonly [string, readonly unknown[]])[] = [
		['{.a.b[0]}', [1]],
		['.a.b[-1].c', ['x']],
		['a.b[2].c', ['x']],
		['{$.a.b[*]}', [1, 2, {c: 'x'}]],
		[String.raw`{.a.d\.e/f}`, ['y']],
		[`{.a['d.e/f']}`, ['y']],
		['{.list[?(@.type=="Ready")].ok}', [true]],
		[`{.list[?(@.type!='Ready')].n}`, [3]],
		['{.list[?(@.n==3)].type}', ['Other']],
		['{.list[*].type}', ['Ready', 'Other']],
		['{.nothing.here}', []],
		['{.a.b[9]}', []],
		['{.constructor.name}', []],
	];
	for (const [path, values] of cases) t.deepEqual(found(path, value), values, path);
	for (const path of ['', '{}', '{.a', '.a..b', '.a[', '.a[x]', '{.a}{.b}', '.a b']) t.is(parseJsonPath(path), undefined, path);
});

test('what is waited for is read as kubectl reads it', t => {
	t.deepEqual(goalOf('delete'), {type: 'delete'});
	t.deepEqual(goalOf('condition=Ready'), {type: 'condition', name: 'Ready', status: 'true'});
	t.deepEqual(goalOf('condition=Ready=False'), {type: 'condition', name: 'Ready', status: 'False'});
	t.like(goalOf('jsonpath={.a}'), {type: 'jsonpath', value: undefined});
	t.like(goalOf(`jsonpath='{.status.phase}'=Running`.replaceAll("'", '')), {type: 'jsonpath', value: 'Running'});
	t.like(goalOf('jsonpath=.list[?(@.type=="Ready")].status=True'), {type: 'jsonpath', value: 'True'});
	t.like(goalOf('jsonpath={.a}="b c"'), {type: 'jsonpath', value: 'b c'});
	for (const text of ['', 'condition', 'condition=', 'condition=a=b=c', 'jsonpath=', 'jsonpath={.a}x', 'ready'])
		t.is(typeof parseGoal(text), 'string', text);
	t.regex(JSON.stringify(parseGoal('conditoin=Ready')), /did you mean \\"condition\\"\?/);
});

test('a condition counts in any case, and only when it was seen of this spec', t => {
	const ready = anObject({conditions: [{type: 'Ready', status: 'True'}]});
	t.true(isMet(goalOf('condition=ready'), ready));
	t.false(isMet(goalOf('condition=Ready=False'), ready));
	t.false(isMet(goalOf('condition=Other'), ready));
	t.false(isMet(goalOf('condition=Ready'), anObject({observedGeneration: 1, conditions: [{type: 'Ready', status: 'True'}]})));
	t.true(isMet(goalOf('condition=Ready'), anObject({observedGeneration: 2, conditions: [{type: 'Ready', status: 'True'}]})));
});

test('a path is met by a value, by this value, and by all of several', t => {
	const object = anObject({phase: 'Running', replicas: 3, all: [{ok: true}, {ok: false}]});
	const met = (text: string) => isMet(goalOf(`jsonpath=${text}`), object);
	t.deepEqual(['{.status.phase}', '{.status.phase}=Running', '{.status.replicas}=3', '{.metadata.name}=web'].map(met), [
		true,
		true,
		true,
		true,
	]);
	t.deepEqual(['{.status.none}', '{.status.phase}=Pending', '{.status.all[*].ok}=true'].map(met), [false, false, false]);
});

test('names that are missing end the wait for them, unless they shall come or be gone', t => {
	const there = new Map([['a', anObject({}, {name: 'a', uid: 'ua'})]]);
	const begin = (text: string, ...names: readonly string[]) => {
		const begun = beginWait(goalOf(text), names, there);
		return begun === undefined ? undefined : [[...begun.awaited], begun.missing];
	};
	t.deepEqual(begin('condition=Ready', 'a', 'b'), [[['a', 'ua']], ['b']]);
	t.deepEqual(begin('delete', 'a', 'b'), [[['a', 'ua']], []]);
	t.deepEqual(begin('create', 'a', 'b'), [
		[
			['a', undefined],
			['b', undefined],
		],
		[],
	]);
	t.deepEqual(begin('condition=Ready'), [[['a', 'ua']], []]);
	t.is(beginWait(goalOf('create'), [], new Map()), undefined, 'nobody has created one yet');
});

test('another object of the same name is not the one that was there', t => {
	const awaited = new Map([['a', 'u1']]);
	const another = new Map([['a', anObject({conditions: [{type: 'Ready', status: 'True'}]}, {name: 'a', uid: 'u2'})]]);
	const look = (text: string) => {
		const {met, missing, awaited: left} = lookAgain(goalOf(text), awaited, another);
		return {met, missing, left: [...left.keys()]};
	};
	t.deepEqual(look('delete'), {met: ['a'], missing: [], left: []});
	t.deepEqual(look('condition=Ready'), {met: [], missing: ['a'], left: []});
	t.deepEqual(lookAgain(goalOf('create'), new Map([['a', undefined]]), new Map()).met, [], 'still awaited');
});
