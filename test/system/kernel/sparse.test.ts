// Maps and sets that are nothing while they are empty behave as the built-in ones, whatever is done to them.

import test from 'ava';
import fc from 'fast-check';
import {SparseMap, SparseSet} from '../../../system/kernel/sparse.js';

const key = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
	fc.record({type: fc.constant('set' as const), key, value: fc.nat(9)}),
	fc.record({type: fc.constant('delete' as const), key}),
	fc.record({type: fc.constant('clear' as const)}),
);

test('a sparse map holds what a map holds, in the same order, after any steps', t => {
	fc.assert(
		fc.property(fc.array(step), steps => {
			const sparse = new SparseMap<string, number>();
			const model = new Map<string, number>();
			for (const each of steps) {
				if (each.type === 'set') {
					sparse.set(each.key, each.value);
					model.set(each.key, each.value);
				} else if (each.type === 'delete') t.is(sparse.delete(each.key), model.delete(each.key));
				else for (const one of [sparse, model]) one.clear();
				t.deepEqual([...sparse], [...model]);
			}
			t.is(sparse.size, model.size);
			t.deepEqual([[...sparse.keys()], [...sparse.values()]], [[...model.keys()], [...model.values()]]);
			for (const name of ['a', 'b', 'c']) t.deepEqual([sparse.has(name), sparse.get(name)], [model.has(name), model.get(name)]);
			const visited: [string, number][] = [];
			for (const [name, value] of sparse.entries()) visited.push([name, value]);
			const told: [string, number][] = [];
			sparse.forEach((value, name) => told.push([name, value]));
			t.deepEqual(told, visited);
		}),
	);
});

test('a sparse set holds what a set holds, in the same order, after any steps', t => {
	fc.assert(
		fc.property(fc.array(step), steps => {
			const sparse = new SparseSet<string>();
			const model = new Set<string>();
			for (const each of steps) {
				if (each.type === 'set') {
					sparse.add(each.key);
					model.add(each.key);
				} else if (each.type === 'delete') t.is(sparse.delete(each.key), model.delete(each.key));
				else for (const one of [sparse, model]) one.clear();
				t.deepEqual([...sparse], [...model]);
			}
			t.is(sparse.size, model.size);
			for (const name of ['a', 'b', 'c']) t.is(sparse.has(name), model.has(name));
		}),
	);
});

test('entries may be taken out while they are walked', t => {
	const sparse = new SparseMap<string, number>();
	for (const name of ['a', 'b', 'c']) sparse.set(name, 1);
	const seen: string[] = [];
	for (const name of sparse.keys()) {
		seen.push(name);
		sparse.delete(name);
	}
	t.deepEqual(seen, ['a', 'b', 'c']);
	t.is(sparse.size, 0);
});
