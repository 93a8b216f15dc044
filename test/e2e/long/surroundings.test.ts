// A home that is not as it was left: what cannot be used is told by its file, with what to do, and left as it is. (A busy port, and two
// that want one home: process.test.ts. Each way in which a store can be damaged: test/system/level-store.test.ts.)

import {createHash} from 'node:crypto';
import {cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {freePorts, nodeName, openHome, type Home} from '../_rig.js';

/** The files of a store, but for LevelDB's own diary and lock. */
function storeOf({home}: Home): readonly string[] {
	const level = path.join(home, 'data/control/level');
	return readdirSync(level)
		.filter(name => !/^LO(G|G\.old|CK)$/.test(name))
		.map(
			name =>
				`${name} ${createHash('sha256')
					.update(readFileSync(path.join(level, name)))
					.digest('hex')}`,
		);
}

/** FIFOs are nothing to copy. */
const isPlain = (file: string): boolean => !lstatSync(file).isFIFO();

test('a store that is newer or damaged, and a folder in the place of a file, are refused by name and left as they are', async t => {
	t.timeout(60_000);
	const cluster = openHome(t);
	await cluster.up();
	await cluster.fine('down');
	const good = path.join(cluster.folder, 'good');
	cpSync(cluster.home, good, {recursive: true, filter: isPlain});
	const level = path.join(cluster.home, 'data/control/level');
	const remedy =
		'put its files back as they were, or move that folder away and restore a backup in its place \\(troupe restore FILE\\), or save what can be saved \\(troupe restore --salvage\\); see docs/stores\\.md#damage';
	const cases: readonly [string, () => void, RegExp][] = [
		[
			'newer',
			() => writeFileSync(path.join(level, 'FORMAT'), 'troupe-level 99\n'),
			/^error: the data directory ".*control" cannot be used: it was written by a newer version \(format 99, this one reads up to 2\); nothing in it was changed\n$/,
		],
		[
			'damaged',
			() => truncateSync(path.join(level, readdirSync(level).find(name => name.startsWith('MANIFEST')) ?? ''), 20),
			new RegExp(`^error: the store in ".*control" cannot be opened: Corruption: [^\\n]*; ${remedy}\n$`),
		],
		[
			'a folder for a token',
			() => {
				rmSync(path.join(cluster.home, 'admin.token'));
				mkdirSync(path.join(cluster.home, 'admin.token'));
			},
			/^error: \S+admin\.token cannot be read: EISDIR[^\n]*\n$/,
		],
	];
	for (const [name, spoil, says] of cases) {
		rmSync(cluster.home, {recursive: true});
		cpSync(good, cluster.home, {recursive: true});
		spoil();
		const before = name.startsWith('a folder') ? undefined : storeOf(cluster);
		const {code, out, err} = await cluster.troupe('up', `--node=${nodeName}`, ...freePorts);
		t.deepEqual([code, out], [1, ''], name);
		t.regex(err, says, name);
		if (before !== undefined) t.deepEqual(storeOf(cluster), before, name);
		t.false(existsSync(path.join(cluster.home, 'endpoints.json')), name);
		t.deepEqual(cluster.processes(), [], name);
	}
	rmSync(cluster.home, {recursive: true});
	cpSync(good, cluster.home, {recursive: true});
	// What can be made again is: what runs, and a certificate of this server alone.
	writeFileSync(path.join(cluster.home, 'endpoints.json'), '{{{');
	writeFileSync(path.join(cluster.home, 'data/server-certificate'), 'rubbish');
	await cluster.up();
	t.is(await cluster.fine('get', 'nodes', '-o', 'name'), `node/${nodeName}\n`);
	await cluster.fine('down');
});
