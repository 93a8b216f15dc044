import {existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {explained} from '../../agent/os/explained.js';
import {hostPathOf, type HostPaths} from '../../agent/volumes/host-paths.js';

function folderOf(t: ExecutionContext): string {
	const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'troupe-host-')));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	return folder;
}

const everything: HostPaths = {allowed: 'all', never: []};

function outcomeOf(wanted: string, check = '', rule = everything): string {
	const found = hostPathOf(wanted, check, rule);
	return found.ok ? found.path : found.reason;
}

test('a path is allowed below a prefix, and nowhere beside it', t => {
	const folder = folderOf(t);
	for (const name of ['srv', 'srv/data', 'srv-2']) mkdirSync(path.join(folder, name));
	const rule = {allowed: [path.join(folder, 'srv')], never: []};
	t.is(outcomeOf(path.join(folder, 'srv'), '', rule), path.join(folder, 'srv'));
	t.is(outcomeOf(path.join(folder, 'srv/data/'), '', rule), path.join(folder, 'srv/data'));
	for (const wanted of ['srv-2', 'srv/../srv-2', ''])
		t.regex(outcomeOf(path.join(folder, wanted), '', rule), /is not allowed on this node: allowed are .*srv \(--host-paths\)/);
});

test('links are followed before a path is judged', t => {
	const folder = folderOf(t);
	mkdirSync(path.join(folder, 'srv'));
	symlinkSync('/etc', path.join(folder, 'srv', 'out'));
	symlinkSync('srv', path.join(folder, 'link'));
	const rule = {allowed: [path.join(folder, 'srv')], never: []};
	t.regex(outcomeOf(path.join(folder, 'srv/out'), '', rule), /which is "\/etc", is not allowed/);
	t.regex(outcomeOf(path.join(folder, 'srv/out/new'), 'DirectoryOrCreate', rule), /which is "\/etc\/new", is not allowed/);
	t.is(outcomeOf(path.join(folder, 'link'), '', rule), path.join(folder, 'srv'));
	t.is(outcomeOf(path.join(folder, 'srv'), '', {allowed: [path.join(folder, 'link')], never: []}), path.join(folder, 'srv'));
});

test('the folder of the agent is never lent, by whatever name', t => {
	const folder = folderOf(t);
	mkdirSync(path.join(folder, 'home', 'data'), {recursive: true});
	symlinkSync('home', path.join(folder, 'link'));
	const rule: HostPaths = {allowed: 'all', never: [path.join(folder, 'home')]};
	for (const wanted of ['home', 'home/data', 'link/data']) t.regex(outcomeOf(path.join(folder, wanted), '', rule), /of Troupe itself/);
	t.regex(outcomeOf(path.join(folder, 'home/new'), 'DirectoryOrCreate', rule), /of Troupe itself/);
	t.false(existsSync(path.join(folder, 'home/new')));
});

test('what belongs to the Engine is never lent, by whatever name; what is above it is', t => {
	const folder = folderOf(t);
	mkdirSync(path.join(folder, 'run', 'docker', 'netns'), {recursive: true});
	writeFileSync(path.join(folder, 'run', 'docker.sock'), '');
	symlinkSync('run', path.join(folder, 'var-run'));
	const ofEngine = () => ['run/docker', 'var-run/docker.sock'].map(name => path.join(folder, name));
	const rule: HostPaths = {allowed: 'all', never: [], ofEngine};
	for (const wanted of ['run/docker', 'run/docker/netns', 'run/docker.sock', 'var-run/docker.sock', 'var-run/docker/new'])
		t.regex(outcomeOf(path.join(folder, wanted), 'DirectoryOrCreate', rule), /belongs to the container engine of this node/, wanted);
	t.false(existsSync(path.join(folder, 'run/docker/new')));
	t.is(outcomeOf(path.join(folder, 'var-run'), '', rule), path.join(folder, 'run'));
});

test('what cannot be made or reached is told by the path that was asked for', t => {
	const folder = folderOf(t);
	writeFileSync(path.join(folder, 'file'), '');
	const wanted = path.join(folder, 'file', 'sub');
	const error = t.throws(() => outcomeOf(wanted, 'DirectoryOrCreate'), {code: 'ENOTDIR'});
	t.is((error as NodeJS.ErrnoException).path, wanted);
	t.notRegex(error?.message ?? '', /\/proc\//);
	t.is(explained(error), `"${wanted}": it is not a directory`);
});

test('a path has to be of its kind', async t => {
	const folder = folderOf(t);
	writeFileSync(path.join(folder, 'file'), '');
	const server = createServer().listen(path.join(folder, 'socket'));
	t.teardown(() => server.close());
	await new Promise(resolve => server.once('listening', resolve));
	const kinds = {Directory: '', File: 'file', Socket: 'socket'};
	for (const [check, own] of Object.entries(kinds)) {
		for (const name of Object.values(kinds)) {
			const outcome = outcomeOf(path.join(folder, name), check);
			if (name === own) t.is(outcome, path.join(folder, name));
			else t.regex(outcome, /is not a (folder|file|socket)$/, `${name} is no ${check}`);
		}
	}
	t.is(outcomeOf('/dev/null', 'CharDevice'), '/dev/null');
	t.regex(outcomeOf('/dev/null', 'BlockDevice'), /is not a block device/);
});

test('what is not there is made only where that is asked for', t => {
	const folder = folderOf(t);
	for (const check of ['', 'Directory', 'File', 'Socket'])
		t.regex(outcomeOf(path.join(folder, 'new'), check), /does not exist on this node/);
	t.is(outcomeOf(path.join(folder, 'a/b'), 'DirectoryOrCreate'), path.join(folder, 'a/b'));
	t.is(statSync(path.join(folder, 'a/b')).mode & 0o777, 0o755);
	t.is(outcomeOf(path.join(folder, 'a/f'), 'FileOrCreate'), path.join(folder, 'a/f'));
	t.true(statSync(path.join(folder, 'a/f')).isFile());
	t.regex(outcomeOf(path.join(folder, 'x/f'), 'FileOrCreate'), /does not exist/);
	t.regex(outcomeOf(path.join(folder, 'a/f'), 'DirectoryOrCreate'), /is not a folder/);
});
