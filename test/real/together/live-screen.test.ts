// The command line as a person sees it: tables that change in place, progress, and completion in three shells.

import test from 'ava';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import {podOf, setOf} from '../../../bench/rigs/cluster/manifests.js';
import {openFileHome} from '../../e2e/_rig.js';
import {until} from '../../../bench/rigs/cluster/waiting.js';
import {openTerminal} from '../_terminal.js';

const {cluster, client} = openFileHome(test, '--simulated-nodes=2');

const onNode = (name: string) => ({nodeSelector: {'kubernetes.io/hostname': name}});
const isGone = (name: string) => until(client(), 'pods', `${name} gone`, pods => !pods.has(name));

test.serial('a live table changes in place, counts down, fits the window, and stays when it is left', async t => {
	const terminal = await openTerminal(t, cluster.home);
	terminal.type('troupe get pods -w\n');
	await terminal.until('nothing yet', screen => screen[1] === 'No resources found in default namespace.');
	await cluster.apply(podOf('crash', ['sh', '-c', 'exit 3'], onNode('vm')), podOf('other', ['sleep', '1000'], onNode('sim-1')));
	const rows = await terminal.until('a countdown', screen => screen.some(line => /^crash +0\/1 +retry \d+ in \d+ s: exit 3 /.test(line)));
	t.regex(rows[1] ?? '', /^NAME +READY +STATUS +RESTARTS +AGE$/);
	t.is(rows.length, 4, 'each pod has one row');
	const left = (screen: readonly string[]) => Number(/retry \d+ in (\d+) s/.exec(screen.find(line => line.startsWith('crash')) ?? '')?.[1]);
	const long = await terminal.until('a long countdown', screen => left(screen) >= 3);
	await terminal.until('less than that', screen => left(screen) < left(long));

	await cluster.fine('delete', 'pod', 'other', '--now');
	await terminal.until('the deleted pod says so', screen => screen.some(line => /^other +\S+ +Deleted/.test(line)));
	await terminal.until('then it goes', screen => !screen.some(line => line.startsWith('other')));

	terminal.resize(30, 12);
	const narrow = await terminal.until('cut lines', screen => screen.some(line => /^crash/.test(line) && line.length <= 29));
	t.is(narrow.filter(line => line.startsWith('NAME')).length, 1, 'nothing of the wide table is left');
	terminal.resize(80, 12);
	await cluster.apply(setOf('many', 20));
	const many = await terminal.until('more than fit', screen => screen.some(line => /^… \d+ more/.test(line)));
	t.is(many.length, 11, 'the window is full but for the last line');
	// A table that is drawn while its window gets lower may be pushed out of it. When all are ready only ages change, once a second: the
	// window gets lower just after they have.
	await until(client(), 'replicasets', 'all are ready', sets => (sets.get('many') as ReplicaSet | undefined)?.status?.readyReplicas === 20);
	const settled = await terminal.until(
		'all shown are ready',
		screen => screen.filter(line => /^many-\S+ +1\/1 +Running/.test(line)).length >= 8,
	);
	const ageOf = (screen: readonly string[]) => /\d+s$/.exec(screen.find(line => line.startsWith('many')) ?? '')?.[0];
	await terminal.until('ages go on', screen => ageOf(screen) !== ageOf(settled));
	terminal.resize(50, 6);
	await terminal.until('fewer', screen => screen.length <= 6 && /^… \d+ more/.test(screen.at(-1) ?? ''));
	terminal.resize(100, 24);
	const wide = await terminal.until('all of them', screen => screen.filter(line => line.startsWith('many')).length === 20);
	t.is(wide.filter(line => line.startsWith('NAME')).length, 1, 'what the low window pushed out is not left above');
	t.is(wide.filter(line => line.startsWith('crash')).length, 1);
	terminal.resize(80, 12);
	await cluster.fine('delete', 'rs', 'many', '--wait=false');
	await terminal.until('all of them gone', screen => !screen.some(line => line.startsWith('many')));

	terminal.key('C-c');
	const end = await terminal.until('the prompt', screen => screen.at(-1) === '$');
	t.true(
		end.some(line => line.startsWith('crash')),
		'the last state stays',
	);
	terminal.type('echo code $?\n');
	await terminal.until('as a shell tells Ctrl-C', screen => screen.includes('code 130'));
	await cluster.fine('delete', 'pod', 'crash', '--now');
	await isGone('crash');
});

test.serial('progress changes in place under whole lines of output, and Ctrl-C leaves nothing of it', async t => {
	const terminal = await openTerminal(t, cluster.home);
	const deaf = (name: string) =>
		podOf(name, ['sh', '-c', `trap '' TERM; while :; do sleep 0.1; done`], {...onNode('vm'), terminationGracePeriodSeconds: 600});
	await cluster.apply(deaf('deaf-1'), deaf('deaf-2'));
	await cluster.fine('wait', 'pod/deaf-1', 'pod/deaf-2', '--for', 'condition=Ready');
	terminal.type('troupe drain vm --force\n');
	const waiting = await terminal.until('progress with the time', screen =>
		/^\S draining node vm: evicted 0\/2 \(\d+ s\)$/.test(screen.at(-2) ?? ''),
	);
	t.deepEqual([waiting[1], waiting.at(-1), waiting.length], ['node/vm cordoned', '  waiting for default/deaf-1, default/deaf-2', 4]);
	await cluster.fine('delete', 'pod', 'deaf-1', '--now');
	const one = await terminal.until('one is gone', screen => screen.some(line => line.includes('evicted 1/2')));
	t.deepEqual([one[2], one.at(-1)], ['pod/deaf-1 evicted', '  waiting for default/deaf-2']);
	terminal.key('C-c');
	const end = await terminal.until('the prompt', screen => screen.at(-1) === '$');
	const text = end.join('\n');
	t.regex(text, /interrupted: 1 of 2 pods are gone; node "vm" stays cordoned/);
	t.notRegex(text, /draining|waiting for/);
	await terminal.clear();
	terminal.type('troupe drain vm --force 2>/dev/null | cat\n');
	await terminal.until('only output', screen => screen.includes('node/vm already cordoned'));
	await cluster.fine('delete', 'pod', 'deaf-2', '--now');
	const piped = await terminal.until('its end', screen => screen.at(-1) === '$');
	t.deepEqual(piped.slice(1, -1), ['node/vm already cordoned', 'pod/deaf-2 evicted', 'node/vm drained']);
	await cluster.fine('uncordon', 'vm');
});

const load = {
	bash: ['source <(troupe completion bash)'],
	zsh: [`PS1='$ '`, 'autoload -Uz compinit && compinit -u', 'source <(troupe completion zsh)'],
	fish: ['function fish_prompt; echo "\\$ "; end', 'function fish_greeting; end', 'troupe completion fish | source'],
};

for (const shell of ['bash', 'zsh', 'fish'] as const)
	test.serial(`${shell} completes commands, flags, kinds and live names`, async t => {
		const [pod, namespace] = [`only-${shell}`, `space-${shell}`];
		await cluster.apply(
			{apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}},
			podOf(pod, ['sleep', '1000'], {...onNode('sim-1'), namespace}),
		);
		const terminal = await openTerminal(t, cluster.home, {shell, setup: load[shell]});
		const shows = (line: string) => terminal.until(line, screen => screen.some(each => each.trimEnd() === `$ ${line}`));
		terminal.type('troupe desc');
		terminal.key('Tab');
		await shows('troupe describe');
		terminal.type('pods');
		terminal.key('Tab');
		await shows('troupe describe pods');
		terminal.type(`-n space-${shell.slice(0, 2)}`);
		terminal.key('Tab');
		await shows(`troupe describe pods -n ${namespace}`);
		terminal.type('on');
		terminal.key('Tab');
		await shows(`troupe describe pods -n ${namespace} ${pod}`);
		terminal.type('\n');
		await terminal.until('what was completed works', screen => screen.some(line => /^(Events|Conditions|Status|Containers):/.test(line)));
		await terminal.clear();
		terminal.type('troupe get depl');
		terminal.key('Tab');
		await shows('troupe get deployments');
		terminal.type('--outp');
		terminal.key('Tab');
		await shows('troupe get deployments --output');
		t.false(terminal.lines().some(line => line.includes('not found')));
	});
