import test from 'ava';
import {aReplicaSet} from '../server/cluster.js';
import {openCluster} from './_rig.js';

const running = {
	phase: 'Running',
	podIP: '127.9.0.1',
	containerStatuses: [{name: 'main', ready: true, restartCount: 0, image: 'none', imageID: '', state: {running: {}}}],
};

test('get draws the server’s table', async t => {
	const {cluster, troupe} = await openCluster(t);
	const pod = cluster.pod('web');
	cluster.put({...pod, status: running});
	const {code, out, err} = await troupe(['get', 'pods']);
	t.deepEqual([code, err], [0, '']);
	t.regex(out, /^NAME {3}READY {3}STATUS {4}RESTARTS {3}AGE\nweb {4}1\/1 {5}Running {3}0 {10}\d+s\n$/);
});

test('get -o wide shows the columns of lower priority', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.put({...cluster.pod('web'), status: running});
	const {out} = await troupe(['get', 'po', '-owide']);
	t.regex(out, /IP +NODE/);
	t.regex(out, /127\.9\.0\.1/);
});

test('get -A puts the namespace in front', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('web');
	cluster.pod('api', {}, 'other');
	const {out} = await troupe(['get', 'pods', '-A']);
	const rows = out.split('\n').map(line => line.split(/ {3,}/).slice(0, 2));
	t.deepEqual(rows.slice(0, 3), [
		['NAMESPACE', 'NAME'],
		['default', 'web'],
		['other', 'api'],
	]);
});

test('get of several kinds puts the kind in front of names', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('web');
	await troupe(['apply', '-f', '-'], {input: JSON.stringify(aReplicaSet('set', 2))});
	const {out, code} = await troupe(['get', 'pods,rs']);
	t.is(code, 0);
	t.regex(out, /^pod\/web /m);
	t.regex(out, /\n\nNAME/);
	t.regex(out, /^replicaset\.apps\/set /m);
	const all = await troupe(['get', 'all']);
	t.regex(all.out, /^pod\/web /m);
});

test('get tells of missing names, shows the others, and exits with 3', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('web');
	const {code, out, err} = await troupe(['get', 'pods', 'web', 'nope', '-o', 'name']);
	t.deepEqual([code, out, err], [3, 'pod/web\n', 'error: pods "nope" not found\n']);
	const ignored = await troupe(['get', 'pod/nope', '--ignore-not-found']);
	t.deepEqual(ignored, {code: 0, out: '', err: ''});
});

test('get says on stderr that there is nothing', async t => {
	const {troupe} = await openCluster(t);
	t.deepEqual(await troupe(['get', 'pods']), {code: 0, out: '', err: 'No resources found in default namespace.\n'});
	t.deepEqual(await troupe(['get', 'nodes']), {code: 0, out: '', err: 'No resources found\n'});
	const {code, err} = await troupe(['get', 'pods', '-n', 'defualt']);
	t.is(code, 0);
	t.regex(err, /^No resources found in defualt namespace\.\nnote: namespaces "defualt" not found/);
});

test('get -o json gives one object as itself and several as a List', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('a');
	cluster.pod('b');
	const one = JSON.parse((await troupe(['get', 'pod', 'a', '-o', 'json'])).out) as {kind: string; metadata: {name: string}};
	t.deepEqual([one.kind, one.metadata.name], ['Pod', 'a']);
	const many = JSON.parse((await troupe(['get', 'pods', '-o', 'json'])).out) as {kind: string; items: {kind: string; apiVersion: string}[]};
	t.deepEqual(
		[many.kind, many.items.map(({kind, apiVersion}) => [apiVersion, kind])],
		[
			'List',
			[
				['v1', 'Pod'],
				['v1', 'Pod'],
			],
		],
	);
});

test('get -o yaml quotes what another YAML would read as something else', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('a', {metadata: {labels: {on: 'yes', code: '012'}}});
	const {out} = await troupe(['get', 'pod', 'a', '-o', 'yaml']);
	t.regex(out, /"on": "yes"/);
	t.regex(out, /code: "012"/);
});

test('get -l and --field-selector choose', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('a', {metadata: {labels: {app: 'x'}}});
	cluster.pod('b', {metadata: {labels: {app: 'y'}}});
	t.is((await troupe(['get', 'pods', '-l', 'app=x', '-o', 'name'])).out, 'pod/a\n');
	t.is((await troupe(['get', 'pods', '-l', 'app!=x', '-o', 'name'])).out, 'pod/b\n');
	t.is((await troupe(['get', 'pods', '--field-selector', 'metadata.name=b', '-o', 'name'])).out, 'pod/b\n');
});

test('get -w goes on with a row for each change until Ctrl-C, which exits with 130', async t => {
	const {cluster, start} = await openCluster(t);
	const pod = cluster.pod('web');
	const watching = start(['get', 'pods', '-w']);
	await watching.says('web ');
	cluster.put({...pod, status: running});
	await watching.says('Running');
	cluster.pod('later');
	await watching.says('later');
	watching.kill('SIGINT');
	const {code, err} = await watching.ended;
	t.deepEqual([code, err], [130, '']);
});

test('get -w -o name prints what comes', async t => {
	const {cluster, start} = await openCluster(t);
	cluster.pod('first');
	const watching = start(['get', 'pods', '-w', '-o', 'name']);
	await watching.says('pod/first\n');
	cluster.pod('second');
	await watching.says('pod/second\n');
	watching.kill('SIGINT');
	t.deepEqual(await watching.ended, {code: 130, out: 'pod/first\npod/second\n', err: ''});
});

test('a reader who has enough ends get quietly', async t => {
	const {cluster, start} = await openCluster(t);
	const pod = cluster.pod('web');
	const watching = start(['get', 'pods', '-w']);
	await watching.says('web ');
	watching.closeStdout();
	cluster.put({...pod, status: running});
	const {code, err} = await watching.ended;
	t.deepEqual([code, err], [0, '']);
});

test('what makes no sense is wrong usage and asks no server', async t => {
	const {troupe} = await openCluster(t);
	const wrong: readonly (readonly [readonly string[], RegExp])[] = [
		[['get'], /^error: no kind is given/],
		[['get', 'petsets'], /^error: unknown kind "petsets"/],
		[['get', 'podz'], /^error: unknown kind "podz"; did you mean "pods"\?\n$/],
		[['get', 'pods', '-o', 'yml'], /--output must be wide, json, yaml, name, got "yml"; did you mean "yaml"\?/],
		[['get', 'pods', 'web', '-l', 'a=b'], /a selector chooses among all objects of a kind/],
		[['get', 'pods,rs', 'web'], /are several kinds/],
		[['get', 'pods', '-A', 'web'], /give -n instead of -A/],
		[['get', 'pods,rs', '-w'], /-w watches one kind/],
		[['get', 'pods', '--namespac', 'x'], /unknown flag "--namespac"; did you mean "--namespace"\?/],
		[['get', 'pods', '-n'], /-n needs a value: -n NAME/],
		[['get', 'pods', '-n', 'a', '-n', 'b'], /--namespace can only be set once/],
	];
	for (const [args, expected] of wrong) {
		const {code, out, err} = await troupe(args);
		t.deepEqual([code, out], [2, ''], args.join(' '));
		t.regex(err, expected);
	}
});
