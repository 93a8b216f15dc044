// `troupe exec -it` and `attach -it` as a person has them: a real terminal, keys, sizes, and the terminal as it was afterwards.

import test, {type ExecutionContext} from 'ava';
import {pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {podOf} from '../../../bench/rigs/cluster/manifests.js';
import {openHome, type Home} from '../../e2e/_rig.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openTerminal, type Terminal} from '../_terminal.js';

/** Unlike bash, sh does not put a terminal right that a program left as it should not. */
const look = {shell: 'sh', columns: 100, rows: 30, prompt: 'host> '} as const;

async function withTerminal(t: ExecutionContext): Promise<{readonly cluster: Home; readonly terminal: Terminal}> {
	const cluster = openHome(t);
	await cluster.up();
	const shell = podOf('shell', ['sh']);
	const [container] = shell.spec.containers;
	await cluster.apply(podOf('web', ['sleep', '100000']), {
		...shell,
		spec: {...shell.spec, containers: [{...container, tty: true, stdin: true}]},
	});
	await pidsWhenRunning(await cluster.client(), 'web', 'shell');
	return {cluster, terminal: await openTerminal(t, cluster.home, look)};
}

/** Lines are taken whole and echoed: nobody reads key by key any more. */
async function isAsBefore({type, shows}: Terminal, code: number): Promise<void> {
	await shows(/host>$/);
	type('echo "code $?"; stty -a | grep -o "[-]*icanon"; stty -a | grep -ow "[-]*echo"\n');
	await shows(new RegExp(`^code ${code}\\nicanon\\necho$`, 'm'));
}

test('a shell in a pod has a prompt, the size of the terminal as it changes, and its own Ctrl-C', async t => {
	const {terminal} = await withTerminal(t);
	const {type, key, resize, shows} = terminal;
	type('troupe exec -it web -- sh\n');
	await shows(/^\$$/m);
	type('stty size\n');
	await shows(/^30 100$/m);
	resize(120, 40);
	type('sleep 0.5; stty size\n');
	await shows(/^40 120$/m);
	type('echo be"gun"; sleep 1000\n');
	await shows(/^begun$/m);
	key('C-c');
	// What is typed before the prompt is back is shown where the cursor stands.
	await shows(/^\^C\n\$$/m);
	type('echo still "here"; exit 9\n');
	await shows(/^still here$/m);
	await t.notThrowsAsync(isAsBefore(terminal, 9));
});

test('the terminal is given back when the client is told to end, and when the cluster dies', async t => {
	const {cluster, terminal} = await withTerminal(t);
	const {type, shows, children} = terminal;
	type('clear; troupe exec -it web -- sh\n');
	await shows(/^\$$/m);
	for (const pid of children()) process.kill(pid, 'SIGTERM');
	await isAsBefore(terminal, 143);
	type('clear; troupe exec -it web -- sh\n');
	await shows(/^\$$/m);
	await cluster.killCluster();
	await shows(/error: the connection was cut before the program ended/);
	await t.notThrowsAsync(isAsBefore(terminal, 5));
});

test('a container with a terminal of its own is typed to', async t => {
	const {terminal} = await withTerminal(t);
	const {type, key, lines, shows, children} = terminal;
	type('troupe attach -it shell\n');
	// What is typed before it is attached would be the host's.
	await eventually('the client to take the keys', () => children().length > 0);
	await eventually('the shell to answer', () => {
		key('Enter');
		return lines().includes('$');
	});
	type('echo typed "here"\n');
	// A prompt that answers one Enter more may come after what was typed is shown.
	await shows(/^(\$ )*typed here$/m);
	type('exit\n');
	await t.notThrowsAsync(isAsBefore(terminal, 0));
});
