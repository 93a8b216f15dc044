import {execFile} from 'node:child_process';
import {chmod, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {commands} from '../../cli/commands.js';
import {inputsOf} from '../../cli/completion/inputs.js';
import {placeOf, type Place} from '../../cli/completion/place.js';
import {scripts} from '../../cli/completion/scripts.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {folder, openCluster, openScript, run} from './_rig.js';

const at = (...typed: readonly string[]): Place => placeOf(typed, commands);
const words = (...typed: readonly string[]): readonly string[] => at(...typed).words.map(({word}) => word);

function asked(...typed: readonly string[]): string {
	const {asked: wanted, flags} = at(...typed);
	const where = flags['all-namespaces'] === 'true' ? ' everywhere' : flags['namespace'] === undefined ? '' : ` in ${flags['namespace']}`;
	if (wanted === undefined) return 'nothing';
	if (wanted.type === 'actors') return `${wanted.before}[below ${wanted.place}]${where}`;
	const what = wanted.type === 'names' ? wanted.kind.plural : wanted.type === 'containers' ? `containers of ${wanted.pod}` : 'fields';
	return `${wanted.before}[${what}]${wanted.after}${where}`;
}

/** Settings of `troupe config`. */
const settingWords = [
	'autoscaling.prometheusHosts',
	'nodes.grace',
	'runtime.default',
	'scheduler.strategy',
	'slurm.hosts',
	'workflows.httpHosts',
];

test('it is known of every command what stands behind it', t => {
	t.deepEqual(Object.keys(inputsOf).toSorted(), [...commands.map(({name}) => name), 'help'].toSorted());
});

test('commands, flags, kinds and the values of flags are known without a cluster', t => {
	t.true(['get', 'drain', 'help', 'up'].every(word => words('g').includes(word)));
	t.true(['--selector', '--watch', '--output'].every(word => words('get', 'pods', '-').includes(word)));
	t.true(['pods', 'nodes', 'replicasets'].every(word => words('get', '').includes(word)));
	t.true(words('get', 'pods,r').includes('pods,replicasets'));
	t.true(words('get', 'pod/a', '').includes('pods/'));
	t.false(words('scale', '').includes('pods'), 'they have no replicas');
	t.true(words('get', 'pods', '-o', '').includes('yaml'));
	t.true(words('get', 'pods', '--output=').includes('--output=yaml'));
	t.deepEqual(words('wait', 'pod/a', '--for', ''), ['delete', 'create', 'condition=', 'jsonpath=']);
	t.deepEqual(words('completion', ''), ['bash', 'zsh', 'fish']);
	t.deepEqual([words('get', '').includes('all'), words('edit', '').includes('all')], [true, false]);
	t.deepEqual(words('config', 'set', ''), settingWords);
	t.deepEqual(words('config', 'set', 'runtime.default', ''), ['process', 'docker']);
	t.true(words('config', 'set', 'scheduler.strategy', '').includes('least-cpu'));
	t.deepEqual([words('config', 'get', ''), words('config', 'get', 'scheduler.strategy', '')], [settingWords, []]);
	t.deepEqual([words('-n', 'shop', 'ge').includes('get'), words('-n', '').length], [true, 0]);
	t.deepEqual([words('nonsense', ''), words('up', ''), words('get', '--nonsense=')], [[], [], []]);
	t.deepEqual(
		[at('apply', '-f', ''), at('backup', ''), at('get', '--kubeconfig=')].map(({files}) => files),
		[true, true, true],
	);
});

test('names are those of the kind, in the namespace that the line names', t => {
	t.is(asked('get', 'pods', ''), '[pods]');
	t.is(asked('get', '-n', 'shop', 'po', 'web-1', 'w'), '[pods] in shop');
	t.is(asked('delete', '--namespace=shop', 'pod/w'), 'pod/[pods] in shop');
	t.is(asked('get', '-A', 'rs', ''), '[replicasets] everywhere');
	t.is(asked('-n', 'shop', 'get', 'po', ''), '[pods] in shop');
	t.is(asked('get', 'pods', '-n', ''), '[namespaces]');
	t.is(asked('get', 'pods', '--namespace='), '--namespace=[namespaces]');
	t.is(asked('logs', 'web', '-c', ''), '[containers of web]');
	t.is(asked('drain', ''), '[nodes]');
	t.is(asked('actor', 'state', 'co'), '[below ]');
	t.true(words('actor', 'state', 'p').includes('pod/'));
	t.is(asked('actor', 'state', '-n', 'shop', 'pod/w'), 'pod/[pods] in shop');
	t.is(asked('actor', 'links', 'hand/w'), 'hand/[pods]');
	t.is(asked('actor', 'state', 'control/pods/de'), 'control/pods/[below control/pods]');
	t.is(asked('tree', 'vm/'), 'vm/[below vm]');
	t.is(asked('taint', 'nodes', ''), '[nodes]');
	t.is(asked('node', 'confirm-lost', ''), '[nodes]');
	t.is(asked('top', 'functions', ''), '[functions]');
	t.is(asked('execute', ''), '[functions]');
	t.is(asked('logs', 'fn/h'), 'fn/[functions]');
	t.is(asked('cp', ''), '[pods]:');
	t.is(asked('explain', 'pod.sp'), '[fields]');
	t.deepEqual([asked('exec', 'web', ''), asked('exec', 'web', '--', ''), asked('get', 'nonsense', '')], ['nothing', 'nothing', 'nothing']);
});

/** A program in place of troupe: writes down what it is asked, and answers with these lines. */
async function stub(t: ExecutionContext, ...lines: readonly string[]) {
	const home = await folder(t);
	const [program, answers, heard] = ['troupe', 'answers', 'heard'].map(name => path.join(home, name)) as [string, string, string];
	await writeFile(answers, lines.map(line => `${line}\n`).join(''));
	await writeFile(program, `#!/bin/sh\nprintf '<%s>' "$@" >${heard}\ncat ${answers}\n`);
	await chmod(program, 0o755);
	return {home, heard: () => readFile(heard, 'utf8')};
}

/** What bash makes of this line, cut into words as bash itself cuts it. */
async function inBash(home: string, ...typed: readonly string[]): Promise<readonly string[]> {
	await writeFile(path.join(home, 'script'), scripts.bash);
	const program = `PATH=$1:$PATH; . "$1/script"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _troupe; printf '%s\\n' "\${COMPREPLY[@]}"`;
	const {stdout} = await promisify(execFile)('bash', ['--norc', '-c', program, 'bash', home, ...typed], {cwd: home});
	return stdout.split('\n').filter(line => line !== '');
}

test('bash gets the candidates, without what they are and without what is typed already', async t => {
	const {home, heard} = await stub(t, 'words', 'json\tabout', 'yaml');
	t.deepEqual(await inBash(home, 'troupe', 'get', 'pods', '-o', ''), ['json', 'yaml']);
	t.is(await heard(), '<__complete><--><get><pods><-o><>');
	const joined = await stub(t, 'words', '--output=json');
	t.deepEqual(await inBash(joined.home, 'troupe', 'get', '--output', '=', 'j'), ['json'], 'bash cuts words at =');
	t.is(await joined.heard(), '<__complete><--><get><--output=j>');
	const none = await stub(t, 'files');
	t.deepEqual(await inBash(none.home, 'troupe', 'apply', '-f', ''), []);
});

test('nothing that a person typed or a cluster answered is evaluated', async t => {
	const typed = ['$(touch typed)', '`touch typed`', '"; touch typed; "', '*', '~'];
	const {home, heard} = await stub(t, 'words', '$(touch answered)', '`touch answered`', '*');
	t.deepEqual(await inBash(home, 'troupe', 'get', ...typed), ['$(touch answered)', '`touch answered`', '*']);
	t.is(await heard(), `<__complete><--><get>${typed.map(word => `<${word}>`).join('')}`);
	for (const name of ['typed', 'answered']) await t.throwsAsync(readFile(path.join(home, name)), {code: 'ENOENT'});
});

test('live names come from the cluster; words that no shell should see are left out', async t => {
	const {troupe, cluster} = await openCluster(t);
	cluster.pod('web-1');
	cluster.pod('web-2');
	// It gives up after a second, which a busy machine may take: then it is asked again.
	const completed = (ask: typeof troupe, wanted: string, ...typed: readonly string[]): Promise<void> =>
		eventually(`${typed.join(' ')} is completed`, async () => {
			const {out} = await ask(['__complete', '--', ...typed]);
			return out.replaceAll(/\t.*$/gm, '') === wanted;
		});
	await completed(troupe, 'words\nweb-2\n', 'get', 'pods', 'web-1', 'we');
	await completed(troupe, 'words\nmain\n', 'logs', 'web-1', '-c', '');
	const table = {kind: 'Table', columnDefinitions: [{name: 'Name'}], rows: [{cells: ['$(reboot)']}, {cells: ['fine']}]};
	const odd = await openScript(t, (_seen, response) => response.end(JSON.stringify(table)));
	await completed(odd.troupe, 'words\nfine\n', 'get', 'pods', '');
	t.regex(odd.requests[0]?.url ?? '', /includeObject=None/);
});

test('a cluster that is not there, or does not answer, is met with silence', async t => {
	const home = await folder(t);
	t.deepEqual(await run(t, ['__complete', '--', 'get', 'pods', ''], {home}), {code: 0, out: 'words\n', err: ''});
	const silent = await openScript(t, () => undefined);
	t.deepEqual(await silent.troupe(['__complete', '--', 'get', 'pods', '']), {code: 0, out: 'words\n', err: ''});
});
