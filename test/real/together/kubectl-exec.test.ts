// The real kubectl 1.32 runs programs in pods, attaches, copies and follows logs, without a flag of its own.

import {mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {containerOf, pidsWhenRunning} from '../../../bench/rigs/cluster/pods.js';
import {podOf} from '../../../bench/rigs/cluster/manifests.js';
import {until} from '../../../bench/rigs/cluster/waiting.js';
import {real, withKubectl} from '../_kubectl.js';
import {openTerminal} from '../_terminal.js';

const shell = (text: string): readonly string[] => ['sh', '-c', text];

real('exec: input, outputs, exit codes and refusals are as kubectl expects them', async t => {
	const {cluster, startWith, kubectl} = await withKubectl(t);
	const client = await cluster.client();
	await cluster.apply(podOf('web', ['sleep', '100000']), podOf('done', ['true'], {restartPolicy: 'Never'}));
	await pidsWhenRunning(client, 'web');
	const ran = await kubectl('exec', 'web', '--', ...shell('echo out; echo err >&2; exit 7'));
	t.deepEqual([ran.code, ran.out, ran.err], [7, 'out\n', 'err\ncommand terminated with exit code 7\n']);
	t.deepEqual(await kubectl('exec', 'web', '--', 'true'), {code: 0, out: '', err: ''});
	const text = 'x'.repeat(500_000);
	t.is((await startWith(text, 'exec', '-i', 'web', '--', 'cat').ended).out, text);
	t.regex((await kubectl('exec', 'nobody', '--', 'ls')).err, /pods "nobody" not found/);
	t.regex((await kubectl('exec', 'web', '-c', 'nobody', '--', 'ls')).err, /container (not found|nobody is not valid)/i);
	const {out} = await cluster.start(['token', 'create', 'looker', '--role', 'view']).ended;
	const token = out.trim().split(/\s+/).at(-1) ?? '';
	const refused = await kubectl('--token', token, 'exec', 'web', '--', 'ls');
	t.regex(refused.err, /pods "web" is forbidden: User "looker" cannot create resource "pods\/exec"/);
});

real('cp: folders and odd names go both ways', async t => {
	const {cluster, kubectl} = await withKubectl(t);
	const client = await cluster.client();
	await cluster.apply(podOf('web', ['sleep', '100000']));
	await pidsWhenRunning(client, 'web');
	const inPod = (await kubectl('exec', 'web', '--', 'mktemp', '-d')).out.trim();
	t.teardown(() => rmSync(inPod, {recursive: true, force: true}));
	const [from, back] = [path.join(cluster.folder, 'from'), path.join(cluster.folder, 'back')];
	mkdirSync(path.join(from, 'empty'), {recursive: true});
	writeFileSync(path.join(from, 'two words'), 'text');
	t.is((await kubectl('cp', from, `web:${inPod}/made`)).code, 0);
	t.is((await kubectl('cp', `web:${inPod}/made`, back)).code, 0);
	t.deepEqual(readdirSync(back).sort(), ['empty', 'two words']);
	t.is(readFileSync(path.join(back, 'two words'), 'utf8'), 'text');
});

real('logs: followed, from when on, with times, of the run before; attach shows what comes', async t => {
	const {cluster, start, kubectl} = await withKubectl(t);
	const client = await cluster.client();
	await cluster.apply(podOf('web', shell('trap "echo bye; exit 3" USR1; echo begun; while :; do echo tick; sleep 0.2; done')));
	const [pid = 0] = await pidsWhenRunning(client, 'web');
	const [following, attached] = [start('logs', '-f', 'web'), start('attach', 'web')];
	await following.says(/^begun\ntick\n/);
	await attached.says(/tick\n/);
	const timed = (await kubectl('logs', 'web', '--timestamps', '--tail', '1')).out;
	t.regex(timed, /^\d{4}-\d\d-\d\dT[\d:.]+Z (tick|begun)\n$/);
	t.regex((await kubectl('logs', 'web', '--since', '1h')).out, /^begun\n/);
	t.notRegex((await kubectl('logs', 'web', '--since-time', '2100-01-01T00:00:00Z')).out, /tick/);
	process.kill(pid, 'SIGUSR1');
	for (const each of [following, attached]) {
		const {code, out} = await each.ended;
		t.deepEqual([code, out.endsWith('bye\n')], [0, true]);
	}
	await until(client, 'pods', 'the next run', pods => containerOf(pods.get('web'))?.restartCount === 1);
	t.regex((await kubectl('logs', 'web', '--previous')).out, /^begun\n[^]*bye\n$/);
});

real('exec -it: a prompt, the size of the terminal, and the exit code', async t => {
	const {cluster} = await withKubectl(t);
	const client = await cluster.client();
	await cluster.apply(podOf('web', ['sleep', '100000']));
	await pidsWhenRunning(client, 'web');
	const {type, resize, shows} = await openTerminal(t, cluster.home, {columns: 100, rows: 30, prompt: 'host> '});
	type('kubectl exec -it web -- sh\n');
	await shows(/^\$$/m);
	resize(110, 35);
	type('sleep 0.5; stty size; exit 4\n');
	await shows(/^35 110$/m);
	const screen = await shows(/command terminated with exit code 4/);
	t.notRegex(screen, /Unhandled|error/i);
});
