import test from 'ava';
import {failureOf, mayBeFailure} from '../../../agent/docker/exec/exec-failure.js';

const said = 'OCI runtime exec failed: exec failed: unable to start container process: ';
const old = 'OCI runtime exec failed: exec failed: container_linux.go:380: starting container process caused: ';

test('a program that an Engine cannot start is told as by every runtime', t => {
	for (const before of [said, old]) {
		const told = (text: string): unknown => failureOf(`${before}${text}: unknown\r\n`);
		t.deepEqual(told('exec: "no-such": executable file not found in $PATH'), {
			message: 'exec: "no-such": executable file not found in $PATH',
			exitCode: 127,
		});
		t.deepEqual(told('exec: "/no/such": stat /no/such: no such file or directory'), {
			message: 'exec: "/no/such": no such file or directory',
			exitCode: 127,
		});
		t.deepEqual(told('exec: "/etc/passwd": permission denied'), {message: 'exec: "/etc/passwd": permission denied', exitCode: 126});
		t.deepEqual(told('chdir to cwd ("/nope") set in config.json failed: no such file or directory'), {
			message: 'exec: chdir to cwd ("/nope") set in config.json failed: no such file or directory',
			exitCode: 126,
		});
	}
	t.true(mayBeFailure(Buffer.from(said)));
	t.false(mayBeFailure(Buffer.from('OCI')));
	t.false(mayBeFailure(Buffer.from('hello')));
});
