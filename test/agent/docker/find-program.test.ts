import {chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {findProgram} from '../../../agent/docker/gates/find-program.js';

function aRoot(t: ExecutionContext): string {
	const root = mkdtempSync(path.join(tmpdir(), 'troupe-root-'));
	t.teardown(() => rmSync(root, {recursive: true}));
	for (const folder of ['bin', 'usr/bin', 'srv']) mkdirSync(path.join(root, folder), {recursive: true});
	writeFileSync(path.join(root, 'usr/bin/tool'), '', {mode: 0o755});
	writeFileSync(path.join(root, 'srv/script'), '', {mode: 0o755});
	writeFileSync(path.join(root, 'bin/plain'), '');
	chmodSync(path.join(root, 'bin/plain'), 0o644);
	symlinkSync('/usr/bin/tool', path.join(root, 'bin/absolute'));
	symlinkSync('../../../../../usr/bin/tool', path.join(root, 'bin/relative'));
	symlinkSync('usr/bin', path.join(root, 'linked'));
	symlinkSync('loop', path.join(root, 'bin/loop'));
	symlinkSync('/etc/passwd', path.join(root, 'bin/outside'));
	return root;
}

const searched = {path: '/bin:/usr/bin', workingDir: '/srv'};

test('a program is looked up as runc does: in PATH, from the working directory, or where it is said to be', t => {
	const root = aRoot(t);
	for (const [word, file] of [
		['tool', '/usr/bin/tool'],
		['absolute', '/bin/absolute'],
		['relative', '/bin/relative'],
		['/linked/tool', '/linked/tool'],
		['./script', '/srv/script'],
		['../usr/bin/tool', '/usr/bin/tool'],
	] as const)
		t.is(findProgram(root, {...searched, word}), file);
	t.is(findProgram(root, {path: ':/bin', workingDir: '/srv', word: 'script'}), '/srv/script');
	t.is(findProgram(root, {path: 'bin', workingDir: '/usr', word: 'tool'}), '/usr/bin/tool');
});

test('what cannot be executed is refused in the words of runc, and no link leads out of the root', t => {
	const root = aRoot(t);
	for (const [word, message] of [
		['plain', 'exec: "plain": executable file not found in $PATH'],
		['nothing', 'exec: "nothing": executable file not found in $PATH'],
		['', 'exec: "": executable file not found in $PATH'],
		['loop', 'exec: "loop": executable file not found in $PATH'],
		['outside', 'exec: "outside": executable file not found in $PATH'],
		['/bin/outside', 'exec: "/bin/outside": stat /bin/outside: no such file or directory'],
		['/bin/plain', 'exec: "/bin/plain": permission denied'],
		['/bin', 'exec: "/bin": is a directory'],
		['/', 'exec: "/": is a directory'],
		['./nothing', 'exec: "./nothing": stat ./nothing: no such file or directory'],
	] as const)
		t.throws(() => findProgram(root, {...searched, word}), {message}, word);
});
