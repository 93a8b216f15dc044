import {chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {planMounts, seenBy, type MountPlan, type Planned, type Wanted} from '../../agent/process/mounts/mount-plan.js';
import {findProgram} from '../../agent/process/start/programs.js';
import {makeFifos} from '../../agent/process/attempts/stock.js';
import {mountTable} from '../../agent/process/mounts/mount-table.js';
import {mountScript, toolNames, type MountTools} from '../../agent/process/mounts/mount-script.js';
import type {VolumeRecord} from '../../agent/volumes/volumes.js';
import type {MountSpec} from '../../actors/node/runtime/runtime-port.js';
import {limits} from '../../api/limits.js';
import {mount} from './runtime-contract.js';

function folderOf(t: ExecutionContext): string {
	const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'troupe-mounts-')));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	return folder;
}

/** Volumes `scratch` and `files`, and whatever else is given. */
function worldOf(t: ExecutionContext, volumes: Readonly<Record<string, VolumeRecord>> = {}) {
	const folder = folderOf(t);
	const scratch = path.join(folder, 'scratch');
	const files = path.join(folder, 'files');
	mkdirSync(scratch);
	mkdirSync(files);
	writeFileSync(path.join(files, 'a.txt'), 'a');
	const all: Readonly<Record<string, VolumeRecord>> = {
		scratch: {type: 'scratch', place: scratch},
		files: {type: 'files', place: files},
		...volumes,
	};
	const wanted = (mounts: readonly MountSpec[], rest: Partial<Wanted> = {}): Wanted => ({
		root: path.join(folder, 'root'),
		table: path.join(folder, 'table'),
		hidden: [],
		podHome: undefined,
		mounts,
		readOnlyRoot: false,
		find: name => all[name],
		hostPaths: {allowed: 'all', never: []},
		...rest,
	});
	const plan = (mounts: readonly MountSpec[], rest: Partial<Wanted> = {}): Planned => planMounts(wanted(mounts, rest));
	return {folder, scratch, files, plan, must: (...args: Parameters<typeof plan>): MountPlan => planOf(plan(...args))};
}

function planOf(planned: Planned): MountPlan {
	if (!planned.ok) throw new Error(planned.reason);
	if (planned.plan === undefined) throw new Error('no plan');
	return planned.plan;
}

const reasonOf = (planned: Planned): string => (planned.ok ? 'it can be mounted' : planned.reason);

test('a container without mounts needs no view of its own', t => {
	t.deepEqual(worldOf(t).plan([]), {ok: true, plan: undefined});
});

test('where the node has the mount point nothing is covered', t => {
	const {folder, scratch, must} = worldOf(t);
	const there = path.join(folder, 'there');
	mkdirSync(there);
	symlinkSync(there, path.join(folder, 'link'));
	const plan = must([mount('scratch', path.join(folder, 'link'))]);
	t.deepEqual(plan.covers, []);
	t.like(plan.mounts[0], {folder: scratch, file: undefined, target: there, readOnly: false});
});

test('a file of the pod is seen in place of one of the node, unless the manifest has something there', t => {
	const {folder, scratch, plan, must} = worldOf(t);
	const place = path.join(folder, 'conf');
	const own = {file: path.join(scratch, 'own'), place, isAsked: true};
	t.regex(
		reasonOf(plan([], {ownFiles: [own]})),
		/^its pod is to have an \S+\/conf of its own, and this node has none that it could stand for$/,
	);
	t.deepEqual(must([], {ownFiles: [{...own, isAsked: false}]}).mounts, []);
	writeFileSync(path.join(folder, 'elsewhere'), '');
	symlinkSync('elsewhere', place);
	const [mounted] = must([], {ownFiles: [own]}).mounts;
	t.like(mounted, {folder: scratch, file: 'own', path: place, target: path.join(folder, 'elsewhere'), readOnly: true});
	t.is(must([mount('files', place, {subPath: 'a.txt'})], {ownFiles: [own]}).mounts.length, 1);
});

test('where it has none each folder on the way is covered, and nothing is made on the node', t => {
	const {folder, must} = worldOf(t);
	writeFileSync(path.join(folder, 'file'), '');
	symlinkSync('nowhere', path.join(folder, 'link'));
	const place = path.join(folder, 'new', 'deep');
	const {covers, newFolders} = must([mount('scratch', place)]);
	const names = folder.split('/').slice(1);
	t.deepEqual(
		covers.map(cover => cover.folder),
		['/', ...names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)],
	);
	t.like(covers.at(-1), {folders: ['files', 'scratch'], files: ['file'], links: ['link']});
	t.false(covers[0]?.folders.includes(names[0] ?? ''), 'what is covered itself is not bound');
	t.deepEqual(newFolders, [path.join(folder, 'new'), place]);
	t.throws(() => statSync(path.join(folder, 'new')), {code: 'ENOENT'});
});

test('a folder that others may write into is looked at again after it was bound', t => {
	const {folder, must} = worldOf(t);
	const open = path.join(folder, 'open');
	mkdirSync(open);
	chmodSync(open, 0o1777);
	const covers = must([mount('scratch', path.join(open, 'new'))]).covers;
	t.true(covers.at(-1)?.isOpen);
	t.is(covers.at(-1)?.mode, 0o1777);
	// In a user namespace without root, as the tests of an ordinary user run in one, the root is a stranger's.
	t.is(covers[0]?.isOpen, statSync('/').uid !== 0);
});

test('a file of a volume is mounted as a file, and what only the agent writes is read-only', t => {
	const {folder, files, must} = worldOf(t);
	const {mounts, newFiles} = must([mount('files', path.join(folder, 'x.txt'), {subPath: 'a.txt'})]);
	t.like(mounts[0], {folder: files, file: 'a.txt', readOnly: true});
	t.deepEqual(newFiles, [path.join(folder, 'x.txt')]);
});

test('a subPath that is not there is made in a scratch volume, as open as that', t => {
	const {folder, scratch, must, plan} = worldOf(t);
	chmodSync(scratch, 0o777);
	must([mount('scratch', folder, {subPath: 'some/where'})]);
	t.is(statSync(path.join(scratch, 'some', 'where')).mode & 0o777, 0o777);
	t.regex(reasonOf(plan([mount('files', folder, {subPath: 'b.txt'})])), /volume "files": there is no "b.txt" in it/);
});

test('no subPath leads out of a volume, by whatever its programs put there', t => {
	const {folder, scratch, plan, must} = worldOf(t);
	symlinkSync('/etc', path.join(scratch, 'out'));
	symlinkSync('.', path.join(scratch, 'here'));
	symlinkSync('/no/such', path.join(scratch, 'nowhere'));
	for (const subPath of ['out', 'out/passwd', '../x', '/etc', 'a/../../..', 'here/../out', 'nowhere/new'])
		t.regex(
			reasonOf(plan([mount('scratch', folder, {subPath})])),
			/leads out of the volume|must lead down|nowhere": it is not a directory/,
			subPath,
		);
	t.is(must([mount('scratch', folder, {subPath: 'here'})]).mounts[0]?.folder, scratch, 'a link that stays in it is followed');
	t.throws(() => statSync('/no/such'), {code: 'ENOENT'});
});

const refusals: readonly (readonly [string, string, RegExp])[] = [
	['the root', '/', /programs that start containers are there/],
	['the folder of programs', '/usr/bin', /programs that start containers are there/],
	['the folder of libraries', '/lib', /programs that start containers are there/],
	['a program that root runs', '/usr/bin/setpriv', /programs that start containers are there/],
	['a program where a shell looks first', '/usr/local/sbin/stty', /programs that start containers are there/],
	['a library', '/usr/lib/x86_64-linux-gnu/libc.so.6', /programs that start containers are there/],
	['the settings of the loader', '/etc/ld.so.preload', /go by is there/],
	['the folder of settings', '/etc', /go by is there/],
	['what the kernel shows', '/proc/new', /belongs to the kernel/],
	['below a file', '/etc/passwd/new', /ENOTDIR|not a folder|it is not a directory/],
	['a relative path', 'data', /must be an absolute path/],
];

for (const [title, where, reason] of refusals)
	test(`nothing is mounted at ${title}`, t => {
		t.regex(reasonOf(worldOf(t).plan([mount('scratch', where)])), reason);
	});

test('a folder is not mounted over a file, nor a file over a folder', t => {
	const {folder, plan} = worldOf(t);
	writeFileSync(path.join(folder, 'file'), '');
	t.regex(reasonOf(plan([mount('scratch', path.join(folder, 'file'))])), /a file is there, and it is a folder/);
	t.regex(reasonOf(plan([mount('files', folder, {subPath: 'a.txt'})])), /a folder is there, and it is a file/);
});

test('two volumes are not mounted at one place, by whatever names', t => {
	const {folder, plan} = worldOf(t);
	mkdirSync(path.join(folder, 'place'));
	symlinkSync('place', path.join(folder, 'link'));
	const mounts = [mount('scratch', path.join(folder, 'place')), mount('files', path.join(folder, 'link'))];
	t.regex(reasonOf(plan(mounts)), /volume "scratch" is there/);
});

test('a mount point in another volume is made there if that is scratch', t => {
	const {folder, scratch, files, plan, must} = worldOf(t);
	const outer = path.join(folder, 'new');
	const inner = must([mount('files', path.join(outer, 'a', 'b')), mount('scratch', outer)]).mounts[1];
	t.like(inner, {folder: files, target: path.join(outer, 'a', 'b')});
	t.true(statSync(path.join(scratch, 'a', 'b')).isDirectory());
	t.regex(reasonOf(plan([mount('files', outer), mount('scratch', path.join(outer, 'b'))])), /volume "files" has no such place/);
	symlinkSync('/etc', path.join(scratch, 'link'));
	t.regex(reasonOf(plan([mount('scratch', outer), mount('files', path.join(outer, 'link', 'x'))])), /a link in volume "scratch" is there/);
	t.regex(reasonOf(plan([mount('scratch', outer), mount('files', path.join(outer, 'link'))])), /a link in volume "scratch" is there/);
});

test('what a path or a number of mounts costs is bounded, and told', t => {
	const {scratch, plan} = worldOf(t);
	const deep = (names: number): MountSpec => mount('scratch', '/usr/share/doc', {subPath: 'a/'.repeat(names)});
	mkdirSync(path.join(scratch, 'a/'.repeat(150)), {recursive: true});
	const begunMs = performance.now();
	t.regex(reasonOf(plan([deep(5_000)])), /a path of \d+ characters is too long: at most 4095/);
	t.regex(reasonOf(plan([deep(1_000)])), /a path of \d+ names is too deep: at most 256/);
	t.is(reasonOf(plan([deep(240)])), 'it can be mounted');
	const many = Array.from({length: 5_000}, (_, index) => mount('scratch', `/mnt/m${index}`));
	t.is(reasonOf(plan(many)), 'it has 5000 mounts, at most 256 can be made');
	t.true(performance.now() - begunMs < 2_000);
});

test('of a folder that a program has filled no more is read than tells that it is too full', t => {
	const {folder, plan} = worldOf(t);
	const full = path.join(folder, 'full');
	mkdirSync(full);
	for (let count = 0; count < 3 * limits.privateRootEntries; count++) symlinkSync('x', path.join(full, String(count)));
	t.regex(
		reasonOf(plan([mount('scratch', path.join(full, 'new'))])),
		new RegExp(`has ${2 * limits.privateRootEntries + 1} or more entries`),
	);
});

test('nothing waits for a FIFO that a program has put into its volume', t => {
	const {scratch, must} = worldOf(t);
	makeFifos([path.join(scratch, 'fifo')]);
	t.like(must([mount('scratch', '/etc/hostname', {subPath: 'fifo'})]).mounts[0], {folder: scratch, file: 'fifo'});
	t.regex(findProgram(path.join(scratch, 'fifo'), '', '/', {user: {uid: 0, gid: 0}, isAgent: false}).ok ? '' : 'refused', /refused/);
});

test('a program is looked for in so many folders of a PATH', t => {
	const find = (folders: number): string => {
		const found = findProgram('sh', `${'/nowhere:'.repeat(folders)}/bin`, '/', {user: {uid: 0, gid: 0}, isAgent: false});
		return found.ok ? 'found' : found.reason;
	};
	t.is(find(limits.searchFolders - 1), 'found');
	t.is(find(100_000), `its PATH has more than ${limits.searchFolders} folders`);
});

test('a folder with too many entries is not covered', t => {
	const {folder, plan} = worldOf(t);
	const large = path.join(folder, 'large');
	mkdirSync(large);
	for (let count = 0; count <= limits.privateRootEntries; count++) mkdirSync(path.join(large, String(count)));
	t.regex(
		reasonOf(plan([mount('scratch', path.join(large, 'new'))])),
		/a mount point in ".*large" is not there, and that folder has 2001 or more entries/,
	);
});

test('the folders of the host that an operator did not name are refused, with the flag that names them', t => {
	const folder = folderOf(t);
	const {plan, must} = worldOf(t, {host: {type: 'hostPath', path: folder, check: ''}, below: {type: 'hostPath', path: folder, check: ''}});
	const none = {hostPaths: {allowed: [], never: []}};
	t.regex(
		reasonOf(plan([mount('host', folder)], none)),
		/volume "host": hostPath ".*" is not allowed on this node: none are allowed \(--host-paths\)/,
	);
	t.is(must([mount('host', folder)], {hostPaths: {allowed: [folder], never: []}}).mounts[0]?.isDeep, true);
	const own = path.join(folder, 'own');
	mkdirSync(own);
	const never = {hostPaths: {allowed: 'all', never: [own]} as const};
	t.regex(reasonOf(plan([mount('host', folder, {subPath: 'own'})], never)), /is in the folder of Troupe itself/);
});

test('a program sees its volumes where they are mounted, and the node elsewhere', t => {
	const {folder, scratch, must} = worldOf(t);
	const seen = seenBy(must([mount('scratch', path.join(folder, 'new', 'x'))]));
	t.deepEqual(seen(path.join(folder, 'new', 'x', 'y')), {file: path.join(scratch, 'y'), isInVolume: true});
	t.is(seen(path.join(folder, 'new')), 'new');
	t.deepEqual(seen('/usr/bin'), {file: '/usr/bin', isInVolume: false});
});

test('a table of mounts says every name', t => {
	t.is(
		mountTable(['a b', 'c\\d', 'e\tf\ng', '#x', 'ü'], '/to here'),
		[
			'./a\\040b /to\\040here/a\\040b none rbind 0 0\n',
			'./c\\134d /to\\040here/c\\134d none rbind 0 0\n',
			'./e\\011f\\012g /to\\040here/e\\011f\\012g none rbind 0 0\n',
			'./\\043x /to\\040here/\\043x none rbind 0 0\n',
			'./ü /to\\040here/ü none rbind 0 0\n',
		].join(''),
	);
});

test('a hidden folder is empty for a program, but for the folder of its pod', t => {
	const {folder, must, plan} = worldOf(t);
	const hidden = path.join(folder, 'home');
	const podHome = path.join(hidden, 'pods', 'own');
	mkdirSync(podHome, {recursive: true});
	writeFileSync(path.join(hidden, 'token'), '');
	const seen = seenBy(must([], {hidden: [hidden], podHome}));
	t.is(seen(path.join(hidden, 'token')), 'hidden');
	t.is(seen(path.dirname(podHome)), 'hidden');
	t.deepEqual(seen(path.join(podHome, 'x')), {file: path.join(podHome, 'x'), isInVolume: false});
	symlinkSync(hidden, path.join(folder, 'link'));
	t.is(seen(path.join(folder, 'link', 'token')), 'hidden');
	for (const place of ['home', 'home/pods/own', 'link/new'])
		t.regex(
			reasonOf(plan([mount('scratch', path.join(folder, place))], {hidden: [hidden], podHome})),
			/in the folder of Troupe itself/,
			place,
		);
});

test('a hidden folder is hidden in each folder of the host that has it, too, and not where something else is mounted over it', t => {
	const top = folderOf(t);
	const hidden = path.join(top, 'ada', 'home');
	mkdirSync(hidden, {recursive: true});
	const {folder, must, plan} = worldOf(t, {host: {type: 'hostPath', path: top, check: ''}});
	for (const name of ['a', 'b']) mkdirSync(path.join(folder, name));
	const [a, b] = [path.join(folder, 'a'), path.join(folder, 'b')];
	const wanted = {hidden: [hidden], podHome: undefined};
	const twice = must([mount('host', a), mount('host', b, {subPath: 'ada'})], wanted);
	t.deepEqual(twice.hidden, [hidden, path.join(a, 'ada', 'home'), path.join(b, 'home')]);
	t.is(twice.covers[0]?.folder, '/', 'what is mounted comes from the node, not from what was mounted before');
	t.deepEqual(must([mount('scratch', path.join(top, 'ada'))], wanted).hidden, []);
	t.regex(reasonOf(plan([mount('host', a), mount('scratch', path.join(a, 'ada', 'home'))], wanted)), /in the folder of Troupe itself/);
});

test('all that is hidden is one table, and the folder of the pod is entered before', t => {
	const {folder, must} = worldOf(t);
	const tools = Object.fromEntries(toolNames.map(name => [name, `/bin/${name}`])) as MountTools;
	const podHome = path.join(folder, 'own');
	const plan = must([], {hidden: [folder, '/srv/a b'], podHome});
	const {text, words} = mountScript(plan, tools, {memory: undefined, stateDescriptor: 3});
	t.is(text.match(/\/bin\/mount/g)?.length, 1);
	t.true(text.indexOf('cd -P') < text.indexOf('/bin/mount'));
	t.false(text.includes('umask'), 'a container that mounts nothing has the umask of its agent');
	t.is(
		words.find(word => word.includes('tmpfs')),
		[
			`troupe ${folder} tmpfs rw,mode=755,size=64k,nosuid,nodev,noexec 0 0\n`,
			`. ${podHome} none bind,X-mount.mkdir 0 0\n`,
			`none ${folder} none remount,bind,ro,nosuid,nodev,noexec 0 0\n`,
			'troupe /srv/a\\040b tmpfs ro,mode=755,size=64k,nosuid,nodev,noexec 0 0\n',
		].join(''),
	);
});

test('no name of a user is in the text that a shell parses', t => {
	const {folder, must} = worldOf(t);
	const evil = '$(touch evil)`;"\'\\';
	const tools = Object.fromEntries(toolNames.map(name => [name, `/bin/${name}`])) as MountTools;
	const plan = must([mount('scratch', path.join(folder, evil), {subPath: evil})], {readOnlyRoot: true});
	const {text, words} = mountScript(plan, tools, {memory: '/memory', stateDescriptor: 3});
	t.false(text.includes('evil'));
	t.true(words.some(word => word.includes(evil)));
});
