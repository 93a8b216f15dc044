import test from 'ava';
import {createInheritance} from '../../agent/os/descriptors.js';

/** Descriptors by number: which file each is, and what its flags say. */
type Open = {file: string | undefined; inherited: boolean | undefined};

function looking(open: Record<number, Open>): {inheritedOf: (descriptors: readonly number[]) => number[]; reads: number[]} {
	const reads: number[] = [];
	const inheritedOf = createInheritance({
		fileOf: descriptor => open[descriptor]?.file,
		isInherited(descriptor) {
			reads.push(descriptor);
			return open[descriptor]?.inherited;
		},
	});
	return {inheritedOf, reads};
}

test('files that programs would get are found, and only files', t => {
	const {inheritedOf} = looking({
		5: {file: 'store', inherited: true},
		6: {file: 'log', inherited: false},
		7: {file: undefined, inherited: true},
	});
	t.deepEqual(inheritedOf([5, 6, 7, 8]), [5]);
});

test('a descriptor that was safe is looked at again: another file may have it, with the same inode', t => {
	const open: Record<number, Open> = {5: {file: '1/77', inherited: false}};
	const {inheritedOf} = looking(open);
	t.deepEqual(inheritedOf([5]), []);
	open[5] = {file: '1/77', inherited: true};
	t.deepEqual(inheritedOf([5]), [5]);
});

test('what could not be found out counts as inherited', t => {
	t.deepEqual(looking({5: {file: 'store', inherited: undefined}}).inheritedOf([5]), [5]);
});

test('the flags of a file that programs would get are read once', t => {
	const {inheritedOf, reads} = looking({5: {file: 'store', inherited: true}});
	t.deepEqual([inheritedOf([5]), inheritedOf([5])], [[5], [5]]);
	t.deepEqual(reads, [5]);
});
