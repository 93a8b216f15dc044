import test from 'ava';
import {succeeded} from '../../api/errors.js';
import {aReplicaSet} from '../server/cluster.js';
import type {ActorTree} from '../../api/inspect.js';
import {openCluster} from './_rig.js';
import {actorTree} from '../api/_actor-tree.js';

const scheduled = {
	spec: {nodeName: 'node-a', containers: [{name: 'main', image: 'none', command: ['sleep', '1000'], ports: [{containerPort: 8080}]}]},
};

const statusOf = (state: object) => ({
	phase: 'Running',
	podIP: '127.9.0.1',
	hostIP: '127.0.0.1',
	containerStatuses: [{name: 'main', ready: true, restartCount: 3, image: 'none', imageID: '', state}],
	conditions: [{type: 'Ready', status: 'True'}],
});

test('describe pod says how to reach it, how its containers are, and what happened', async t => {
	const {cluster, troupe} = await openCluster(t);
	const pod = cluster.pod('web', scheduled);
	cluster.put({
		...pod,
		status: statusOf({waiting: {reason: 'CrashLoopBackOff', retryAt: new Date(Date.now() + 60_000).toISOString()}}),
	});
	cluster.events.set('pods/default/web', [
		{type: 'Warning', reason: 'BackOff', message: 'restarting main', count: 4, firstAtMs: Date.now() - 60_000, lastAtMs: Date.now()},
	]);
	const {code, out} = await troupe(['describe', 'pod', 'web']);
	t.is(code, 0);
	t.regex(out, /^Name: +web$/m);
	t.regex(out, /^Node: +node-a\/127\.0\.0\.1$/m);
	t.regex(out, /^Reach it at: +127\.9\.0\.1:8080 {2}\(TCP, container main\)$/m);
	t.regex(out, /^ {4}State: +Waiting \(CrashLoopBackOff\)\n +next try \S+ \(in \d+s\)$/m);
	t.regex(out, /^ {4}Restart Count: +3$/m);
	t.regex(out, /^ {2}\d+s \(x4 over \d+[ms]\d*s?\) +Warning +BackOff +restarting main$/m);
});

test('describe pod says where variables come from, as kubectl does', async t => {
	const {cluster, troupe} = await openCluster(t);
	const env = [
		{name: 'PW', valueFrom: {secretKeyRef: {name: 'db', key: 'pw'}}},
		{name: 'HUE', valueFrom: {configMapKeyRef: {name: 'lamp', key: 'hue', optional: true}}},
	];
	cluster.pod('web', {spec: {containers: [{name: 'main', image: 'none', env}]}});
	const {out} = await troupe(['describe', 'pod', 'web']);
	t.regex(out, /PW: <set to the key 'pw' in secret 'db'>$/m);
	t.regex(out, /HUE: <set to the key 'hue' in config map 'lamp'> {2}\(optional\)$/m);
});

test('describe pod says which mounts cannot be written to: files of ConfigMaps and Secrets never', async t => {
	const {cluster, troupe} = await openCluster(t);
	const volumes = [
		{name: 'c', configMap: {name: 'conf'}},
		{name: 's', secret: {secretName: 'login'}},
		{name: 'e', emptyDir: {}},
	];
	const volumeMounts = [...volumes.map(({name}) => ({name, mountPath: `/in/${name}`})), {name: 'e', mountPath: '/in/r', readOnly: true}];
	cluster.pod('web', {spec: {volumes, containers: [{name: 'main', image: 'none', volumeMounts}]}});
	const {out} = await troupe(['describe', 'pod', 'web']);
	for (const line of ['/in/c from c (ro)', '/in/s from s (ro)', '/in/e from e (rw)', '/in/r from e (ro)']) t.true(out.includes(line), line);
});

test('describe shows several objects and tells which are missing', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('a');
	const {code, out, err} = await troupe(['describe', 'pods', 'a', 'nope']);
	t.is(code, 3);
	t.regex(out, /^Name: +a$/m);
	t.is(err, 'error: pods "nope" not found\n');
	t.regex((await troupe(['describe', 'ns'])).out, /^Name: +default$[\s\S]+^Name: +other$/m);
});

test('describe replicaset and node have pages of their own', async t => {
	const {cluster, troupe} = await openCluster(t);
	await troupe(['apply', '-f', '-'], {input: JSON.stringify(aReplicaSet('web', 3))});
	t.regex((await troupe(['describe', 'rs', 'web'])).out, /^Replicas: +0 current \/ 3 desired$/m);
	await troupe(['apply', '-f', '-'], {input: 'apiVersion: v1\nkind: Node\nmetadata: {name: node-a}\n'});
	cluster.pod('here', scheduled);
	cluster.pod('elsewhere');
	const {out} = await troupe(['describe', 'node', 'node-a']);
	t.regex(out, /^Pods:\n {2}NAMESPACE +NAME .*\n {2}default +here /m);
	t.notRegex(out, /elsewhere/);
});

test('logs pours what the container wrote, byte for byte', async t => {
	const {cluster, troupe} = await openCluster(t);
	const bytes = Buffer.from([0x61, 0xff, 0x00, 0x0a]);
	const pod = cluster.pod('web', scheduled);
	cluster.put({...pod, status: statusOf({running: {}})});
	cluster.onReadLog(() => succeeded({data: bytes.toString('base64'), nextOffset: 4, endOffset: 4, end: true, attempt: 0}));
	const {code, out} = await troupe(['logs', 'web']);
	t.deepEqual([code, out], [0, bytes.toString()]);
	for (const words of [['pod/web'], ['pod', 'web'], ['web', '-c', 'main', '--tail', '5']]) t.is((await troupe(['logs', ...words])).code, 0);
});

test('logs says what is wrong', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('web', scheduled);
	t.is((await troupe(['logs', 'nope'])).code, 3);
	t.regex((await troupe(['logs', 'web'])).err, /is waiting to start/);
	t.regex((await troupe(['logs'])).err, /which pod\?/);
	t.regex((await troupe(['logs', 'rs/web'])).err, /replicasets\.apps "web" not found/);
});

test('events are listed oldest first, of one namespace, of all, or about one object', async t => {
	const {cluster, troupe} = await openCluster(t);
	const nowMs = Date.now();
	const event = (reason: string, agoMs: number) => ({
		type: 'Normal' as const,
		reason,
		message: `it ${reason}`,
		count: 1,
		firstAtMs: nowMs - agoMs,
		lastAtMs: nowMs - agoMs,
	});
	cluster.pod('a');
	cluster.pod('b', {}, 'other');
	cluster.events.set('pods/default/a', [event('Second', 5_000), event('First', 18_000_000)]);
	cluster.events.set('pods/other/b', [event('Third', 1_000)]);
	const {out} = await troupe(['events']);
	t.regex(out, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n5h +Normal +First +pod\/a +it First\n\d+s +Normal +Second/);
	t.notRegex(out, /Third/);
	t.regex((await troupe(['events', '-A'])).out, /^NAMESPACE[\s\S]+^other +\d+s +Normal +Third/m);
	const about = (await troupe(['events', '--for', 'pod/b', '-n', 'other'])).out;
	t.regex(about, /Third/);
	t.deepEqual(await troupe(['events', '--for', 'pod/zzz']), {code: 0, out: '', err: 'No events found\n'});
});

const node = (name: string, more: Partial<ActorTree> = {}): ActorTree =>
	actorTree(`troupe://control/${name}`, {name, behavior: name, ...more});

test('tree draws the actors of every system, and exits with 5 when one is out of reach', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.trees.push({
		system: 'control',
		problem: undefined,
		tree: node('', {
			children: [
				node('pods', {
					children: [node('default.a', {about: 'Running'}), node('default.b', {state: 'parked', restarts: 3, failure: 'boom\u001b[2J'})],
				}),
				node('scheduler', {waiting: 2}),
			],
		}),
	});
	const drawn = [
		'control',
		'├─ pods',
		'│  ├─ default.b  PARKED  3 restarts  last crash: boom^[[2J',
		'│  └─ default.a  Running',
		'└─ scheduler  2 waiting',
		'',
	];
	t.deepEqual(await troupe(['tree']), {code: 0, out: drawn.join('\n'), err: ''});
	t.is((await troupe(['tree', 'control', '--depth', '1'])).out, 'control\n├─ pods  … 2 below\n└─ scheduler  2 waiting\n');
	t.regex((await troupe(['tree', 'controll'])).err, /no actor at "controll"; did you mean control\?/);
	cluster.trees.push({system: 'node-b', tree: undefined, problem: 'nobody answers'});
	const {code, out} = await troupe(['tree']);
	t.is(code, 5);
	t.regex(out, /\n\nnode-b {2}nobody answers\n$/);
});

test('why tells the story of an object, also of one that is gone', async t => {
	const {cluster, troupe} = await openCluster(t);
	const nowMs = cluster.control.nowMs();
	const pod = cluster.pod('web');
	cluster.put({
		...pod,
		status: {phase: 'Pending', conditions: [{type: 'ActorFailed', status: 'True', reason: 'Crashed', message: 'boom'}]},
	});
	cluster.journals.set('pods/default/web', [
		{version: 3, atMs: nowMs - 18_000_000, type: 'create', from: 'troupe://control/gateway', cause: 'http admin POST pods/default/web'},
	]);
	cluster.trees.push({
		system: 'control',
		problem: undefined,
		tree: node('', {children: [node('pods/default.web', {state: 'parked', restarts: 4, failure: 'boom'})]}),
	});
	const {code, out} = await troupe(['why', 'pod', 'web', '--commits']);
	t.is(code, 0);
	t.regex(out, /^Pod web is not looked after: its actor crashed too often and is parked: boom\.\nNext: it is tried again /);
	t.regex(out, /^Its actor troupe:\/\/control\/pods\/default\.web\n {2}parked, 4 restarts\n {2}last crash: boom$/m);
	t.regex(out, /^ {2}3 +5h ago +create +troupe:\/\/control\/gateway +http admin POST pods\/default\/web$/m);
	t.notRegex((await troupe(['why', 'pod', 'web'])).out, /BECAUSE OF/);
	t.notRegex(out, /began anew/);
	cluster.put({...pod, metadata: {...pod.metadata, creationTimestamp: '2020-01-01T00:00:00Z'}});
	const older = await troupe(['why', 'pod', 'web', '--commits']);
	t.regex(
		older.out,
		/\nWhat led here before that is not known: the journal is in memory and began anew when the control plane started, \d+s ago\.\n/,
	);
	cluster.drop('pods/default/web');
	t.regex((await troupe(['why', 'pod/web'])).out, /is gone; its story is kept for an hour/);
	t.is((await troupe(['why', 'pod/never'])).code, 3);
	t.is((await troupe(['why', 'pod'])).code, 2);
});

test('version tells both sides, and the client alone when no cluster answers', async t => {
	const {troupe, gateway} = await openCluster(t);
	t.regex((await troupe(['version'])).out, /^client: troupe \d+\.\d+\.\d+, Node \d+\S+\nserver: \S+\n$/);
	await gateway.close();
	const {code, out, err} = await troupe(['version']);
	t.is(code, 5);
	t.regex(out, /^client: troupe \S+, Node \S+\n$/);
	t.regex(err, /is not reachable \(nobody listens there\); is the cluster running\? start it with npm start or troupe up/);
	t.is((await troupe(['version', '--client'])).code, 0);
});
