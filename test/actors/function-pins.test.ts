// Versions of a function that runs of workflows under way began with: which sets are kept for them, how large these are, and who hears of it.

import test from 'ava';
import type {FunctionObject, FunctionSpec, FunctionStatus} from '../../api/kinds/function.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject} from '../../api/object.js';
import {placeOfVersion, versionOf, versionOfSet} from '../../actors/control/functions/function-version.js';
import {wakesOf} from '../../actors/control/wakes.js';
import type {Message} from '../../system/kernel/behavior.js';
import {aFunction, aRunOf, digest, version, writes} from './_functions.js';
import {contextWith, drop, indexOf, put} from './_objects.js';
import {tellRecord} from './_records.js';

const wake: Message = {type: 'wake'};

/** What a look asks for, and what the status says after it. */
function looked(fn: FunctionObject, ...others: readonly ApiObject[]): {readonly asked: readonly string[]; readonly status: FunctionStatus} {
	const {effects, object} = tellRecord(fn, [wake], contextWith(indexOf(fn, ...others)));
	return {asked: writes(effects), status: (object as FunctionObject | undefined)?.status ?? {}};
}

const old = aFunction({artifact: digest('b')});
const older = aFunction({artifact: digest('c')});
const run = aRunOf(old);
/** Of another version than `old`. */
const fn = (status: FunctionStatus = {}, spec: Partial<FunctionSpec> = {}): FunctionObject => aFunction(spec, status);

test('a version has one word, whatever else is said of its function, and its set has the same', t => {
	const [set] = version(old, 1, 0) as readonly ReplicaSet[];
	t.is(versionOf(old), set === undefined ? '' : versionOfSet(set));
	t.is(
		versionOf(aFunction({artifact: digest('b'), max: 7, idle: '5s', traffic: [{revision: 1}], revisionHistoryLimit: 1})),
		versionOf(old),
	);
	for (const spec of [{artifact: digest('a')}, {concurrency: 3}, {timeout: '1s'}, {env: [{name: 'A', value: 'b'}]}])
		t.not(versionOf(aFunction({artifact: digest('b'), ...spec})), versionOf(old));
	const {artifact: _, ...bare} = fn().spec ?? {};
	t.is(versionOf({...fn(), spec: bare}), undefined);
});

test('the set of a version that was never called is made without instances once a run begins with it, and is made once', t => {
	t.deepEqual(looked(old).asked, []);
	t.deepEqual(looked(old, aRunOf(old, 'order-7', true)).asked, []);
	t.deepEqual(looked(old, aRunOf(fn())).asked, [], 'of another version');
	t.deepEqual(looked(old, run).asked, ['create add- 0']);
	t.deepEqual(looked(old, run, ...version(old, 1, 0)).asked, []);
});

test('a version that a run under way began with is kept beyond its history, and goes once the last one is over', t => {
	const now = fn({desired: 1}, {revisionHistoryLimit: 0});
	const sets = [...version(old, 1, 0), ...version(older, 2, 0), ...version(now, 3, 1)];
	t.deepEqual(looked(now, ...sets, run, aRunOf(old, 'two', true)).asked, ['delete add-2']);
	t.deepEqual(looked(now, ...sets, aRunOf(old, 'two', true)).asked, ['delete add-1', 'delete add-2']);
});

test('a version that runs go on with stands in for the newest one as others do, and is on its own after that', t => {
	const first = looked(fn({desired: 2}), ...version(old, 1, 2), run);
	t.deepEqual([first.asked, first.status.apart], [['create add- 2'], undefined]);
	const half = looked(fn({desired: 2}), ...version(old, 1, 2), ...version(fn(), 2, 2, 1), run);
	t.deepEqual([half.asked, half.status.apart], [['add-1 to 1'], undefined]);
	const whole = looked(fn({desired: 2}), ...version(old, 1, 1), ...version(fn(), 2, 2), run);
	t.deepEqual(whole.asked, [], 'it keeps the instances that it has, and its own activator lets them go');
	t.like(whole.status, {apart: [1], demands: [{revision: 1, desired: 1}]});
});

test('while it stands in for a newest one that does not get ready it grows with what the calls need, and other old ones do not', t => {
	const sets = [...version(old, 1, 1), ...version(fn(), 2, 3, 0)];
	t.deepEqual(looked(fn({desired: 3}), ...sets, run).asked, ['add-1 to 3']);
	t.deepEqual(looked(fn({desired: 3}), ...sets).asked, []);
});

test('a version at rest that a run goes on with is on its own at once', t => {
	const {asked, status} = looked(fn({desired: 1}), ...version(old, 1, 0), run);
	t.deepEqual(asked, ['create add- 1']);
	t.deepEqual([status.apart, status.demands], [[1], undefined]);
});

test('a version on its own is as large as its own calls need, never stands in for the newest one, and stays so', t => {
	const now = fn({desired: 2, apart: [1], demands: [{revision: 1, desired: 1}]});
	const waiting = looked(now, ...version(old, 1, 0), ...version(fn(), 2, 2, 0), run);
	t.deepEqual(waiting.asked, ['add-1 to 1']);
	const {asked, status} = looked({...now, status: {...now.status, demands: []}}, ...version(old, 1, 2), ...version(fn(), 2, 2, 0), run);
	t.deepEqual(asked, ['add-1 to 0']);
	t.deepEqual(status.apart, [1]);
	const most = fn({apart: [1], demands: [{revision: 1, desired: 9}]});
	t.deepEqual(looked(most, ...version(old, 1, 0), run).asked, ['add-1 to 3']);
});

test('once its runs are over it has no instances, and no other calls get those that it had', t => {
	const now = fn({desired: 1, apart: [1], demands: [{revision: 1, desired: 1}]});
	const over = looked(now, ...version(old, 1, 1), ...version(fn(), 2, 1, 0));
	t.deepEqual([over.asked, over.status.apart], [['add-1 to 0'], [1]]);
	const going = looked(now, ...version(old, 1, 0, 1), ...version(fn(), 2, 1, 0));
	t.deepEqual([going.asked, going.status.apart], [[], [1]]);
	const gone = looked(now, ...version(old, 1, 0), ...version(fn(), 2, 1, 0));
	t.deepEqual([gone.asked, gone.status.apart, gone.status.demands], [[], undefined, undefined]);
});

test('a version that becomes the newest one again is on its own no more', t => {
	const again = aFunction({artifact: digest('b')}, {desired: 1, apart: [1], demands: [{revision: 1, desired: 2}]});
	const {asked, status} = looked(again, ...version(old, 1, 2), ...version(fn(), 2, 1), run);
	t.deepEqual(asked, ['add-1 to 1', 'add-2 to 0']);
	t.deepEqual([status.apart, status.demands], [undefined, undefined]);
});

test('while versions share the calls one that runs go on with is on its own, also where traffic names it no more', t => {
	const shared = looked(fn({desired: 1}, {traffic: [{weight: 1}]}), ...version(old, 1, 1), ...version(fn(), 2, 1), run);
	t.like(shared.status, {apart: [1], demands: [{revision: 1, desired: 1}]});
	const named = fn({desired: 1, demands: [{revision: 1, desired: 2}]}, {traffic: [{revision: 1}, {}]});
	const both = looked(named, ...version(old, 1, 2), ...version(fn(), 2, 1), run);
	t.like(both.status, {apart: [1], demands: [{revision: 1, desired: 2}]});
	const after = looked(fn(both.status), ...version(old, 1, 2), ...version(fn(), 2, 1), run);
	t.deepEqual(after.asked, []);
	t.like(after.status, {apart: [1], demands: [{revision: 1, desired: 2}]});
});

test('calls of a version go to the activator of its function, to its own one, or nowhere', t => {
	const word = versionOf(old) ?? '';
	const place = (now: FunctionObject, ...others: readonly ApiObject[]) => placeOfVersion(now, word, indexOf(now, ...others));
	t.is(place(old), 'function');
	t.is(place(fn(), ...version(old, 4, 1)), 'function');
	t.is(place(fn({apart: [4]}), ...version(old, 4, 1)), 4);
	t.is(place(fn({}, {traffic: [{revision: 4}]}), ...version(old, 4, 1)), 4);
	t.is(place(fn(), ...version(fn(), 5, 1)), undefined);
	const [set] = version(old, 4, 0);
	const going = {...set, metadata: {...set?.metadata, deletionTimestamp: '2030-01-01T00:00:00Z'}} as ApiObject;
	t.is(place(fn(), going), undefined);
});

// ---- who hears of it ---------------------------------------------------------------------------------------------------------

const record = 'troupe://control/functions/default.add';

/** Whether the function is woken by that a run becomes another one, beside these. */
function isWoken(before: ApiObject | undefined, after: ApiObject | undefined, ...others: readonly ApiObject[]): boolean {
	const index = indexOf(...others, ...(before === undefined ? [] : [before]));
	const change = after === undefined ? drop(index, before ?? run) : put(index, after);
	return wakesOf(change, index).some(({to}) => to === record);
}

const pending = {...run, status: {phase: 'Pending' as const}};
const over = aRunOf(old, 'order-7', true);

test('a run that begins wakes the functions that have to keep their versions for it', t => {
	t.true(isWoken(pending, run, old), 'it has no set');
	t.false(isWoken(pending, run, old, ...version(old, 1, 0)));
	t.true(isWoken(pending, run, fn(), ...version(old, 1, 0)), 'it has another version by now');
	t.false(isWoken(pending, run, fn({apart: [1]}), ...version(old, 1, 0)));
	t.true(isWoken(undefined, run, old), 'one that is put back');
	t.false(isWoken(pending, {...run, status: {...run.status, functions: []}}, old));
});

test('the last run that ends wakes the functions that have other versions by now, and a step of it nobody', t => {
	t.true(isWoken(run, over, fn()));
	t.true(isWoken(run, undefined, fn()));
	t.false(isWoken(over, undefined, fn()));
	t.false(isWoken(run, over, fn(), aRunOf(old, 'two')));
	t.false(isWoken(run, over, old));
	t.false(isWoken(run, {...run, status: {...run.status, steps: 7}}, old));
});

test('two runs that end, or begin, in one transaction are both heard of', t => {
	const two = aRunOf(old, 'two');
	const index = indexOf(fn(), run, two);
	const ends = [put(index, over), put(index, aRunOf(old, 'two', true))];
	t.true(ends.every(change => wakesOf(change, index).some(({to}) => to === record)));
	const other = indexOf(old);
	const begins = [put(other, run), put(other, two)];
	t.true(begins.every(change => wakesOf(change, other).some(({to}) => to === record)));
});

test('what changes of a function is heard by the activators of its versions on their own, before and after', t => {
	const index = indexOf(fn({apart: [1]}));
	const woken = wakesOf(put(index, fn({apart: [2]})), index).map(({to}) => to);
	for (const name of ['default.add', 'default.add@1', 'default.add@2']) t.true(woken.includes(`troupe://control/activators/${name}`), name);
});
