// A host behind NAT: it dials and nobody reaches it. Its pods serve all nodes, and reach the others', over its connection to the control plane.
// The host behind is in a namespace of its own, and a router before it masquerades, and lets nothing in.

import {execFileSync, spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import test, {type ExecutionContext} from 'ava';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {main} from '../../bench/rigs/main-file.js';
import {layNetwork, type Network} from '../../bench/rigs/fleet/network.js';
import type {Owner} from '../../bench/rigs/owner.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Service} from '../../api/kinds/service.js';
import {openHome, type Home, type Ran} from '../e2e/_rig.js';
import {localAddressOf} from '../../actors/node/network/local-address.js';
import {nft, untilAnswered} from '../../bench/rigs/fleet/routed-hosts.js';

type Host = {
	readonly name: string;
	readonly home: Home;
	readonly troupe: (args: readonly string[], input?: string) => Promise<Ran>;
	readonly fine: (...args: readonly string[]) => Promise<string>;
	readonly run: (program: string, ...args: readonly string[]) => string;
	readonly words: readonly string[];
};

const ip = (...words: readonly string[]): void => void execFileSync('ip', words, {stdio: ['ignore', 'ignore', 'pipe']});

/** Another namespace behind that of `router`, which masquerades for it. Its name. */
function layBehind(owner: Owner, prefix: string, router: string): string {
	const behind = `${prefix}behind`;
	ip('netns', 'add', behind);
	owner.teardown(() => ip('netns', 'delete', behind));
	ip('-n', behind, 'link', 'set', 'lo', 'up');
	ip('-n', prefix + router, 'link', 'add', 'inside', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', behind);
	ip('-n', prefix + router, 'address', 'add', '192.168.77.1/24', 'dev', 'inside');
	ip('-n', prefix + router, 'link', 'set', 'inside', 'up');
	ip('-n', behind, 'address', 'add', '192.168.77.2/24', 'dev', 'eth0');
	ip('-n', behind, 'link', 'set', 'eth0', 'up');
	ip('-n', behind, 'route', 'add', 'default', 'via', '192.168.77.1');
	const inRouter = (...words: readonly string[]): void =>
		void execFileSync('ip', ['netns', 'exec', prefix + router, ...words], {stdio: ['ignore', 'ignore', 'pipe']});
	inRouter('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
	inRouter(
		nft,
		'table ip nat { chain out { type nat hook postrouting priority 100; oifname "eth0" masquerade; }; chain through { type filter hook forward priority 0; policy drop; iifname "inside" accept; ct state established,related accept; }; }',
	);
	return behind;
}

function hostIn(owner: Owner, namespace: string, name: string): Host {
	const home = openHome(owner);
	const words = ['nsenter', `--net=/var/run/netns/${namespace}`];
	const [enter = '', ...rest] = words;
	const troupe = (args: readonly string[], input?: string): Promise<Ran> =>
		home.startProgram(enter, [...rest, process.execPath, main, ...args], {TROUPE_HOME: home.home, NO_COLOR: '1'}, input).ended;
	owner.teardown(async () => void (await troupe(['down', '--pods'])));
	return {
		name,
		home,
		troupe,
		words,
		async fine(...args) {
			const {code, out, err} = await troupe(args);
			if (code !== 0) throw new Error(`troupe ${args.join(' ')} on ${name} ended with ${code}: ${err}${out}`);
			return out;
		},
		run: (program, ...args) =>
			execFileSync(enter, [...rest, program, ...args], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 90_000}),
	};
}

/** Says who it is over HTTP; at the next port it answers with what it was sent, once that has ended. */
const program = `
require('http').createServer((asked, answer) => answer.end(process.env.POD_NAME)).listen(8000);
require('net').createServer({allowHalfOpen: true}, socket => {
	const parts = [];
	socket.on('error', () => undefined).on('data', part => parts.push(part)).on('end', () => socket.end(Buffer.concat(parts)));
}).listen(8001);`;

const pod = (name: string, node: string): object => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, labels: {app: 'web', on: node}},
	spec: {
		runtimeClassName: 'process',
		nodeName: node,
		terminationGracePeriodSeconds: 0,
		containers: [
			{
				name: 'c',
				image: 'node',
				command: [process.execPath, '-e', program],
				ports: [{containerPort: 8000}, {containerPort: 8001}],
				readinessProbe: {tcpSocket: {port: 8001}, periodSeconds: 1},
			},
		],
	},
});

const service = (name: string, selector: object): object => ({
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name},
	spec: {
		selector,
		ports: [
			{name: 'http', port: 8180, targetPort: 8000},
			{name: 'raw', port: 8181, targetPort: 8001},
			{name: 'udp', port: 8182, targetPort: 8002, protocol: 'UDP'},
		],
	},
});

/** Sends so many bytes, ends, and says how many came back, whether they are what was sent, and how long it took; with a pause it reads nothing first. */
const sending = `
const [host, size, pauseMs] = [process.argv[1], Number(process.argv[2]), Number(process.argv[3])];
const sent = Buffer.alloc(size); for (let i = 0; i < size; i++) sent[i] = (i * 31 + (i >> 8)) & 255;
const {createHash} = require('crypto');
const wanted = createHash('sha256').update(sent).digest('hex');
const had = createHash('sha256'); let count = 0; const from = Date.now();
const socket = require('net').connect({host, port: 8181, allowHalfOpen: true}, () => socket.end(sent));
socket.on('error', error => { console.log('broke ' + error.code); process.exit(); });
setTimeout(() => {
	socket.on('data', part => { had.update(part); count += part.length; });
	socket.on('end', () => { console.log(count, had.digest('hex') === wanted, Date.now() - from); process.exit(); });
}, pauseMs);`;

async function addressOf(first: Host, name: string): Promise<string> {
	const found = JSON.parse(await first.fine('get', 'service', name, '-o', 'json')) as Service;
	return localAddressOf(found.spec?.clusterIP ?? '') ?? '';
}

const nodeOf = async (first: Host, name: string): Promise<NodeObject> =>
	JSON.parse(await first.fine('get', 'node', name, '-o', 'json')) as NodeObject;

type World = {
	readonly network: Network;
	readonly first: Host;
	readonly near: Host;
	readonly behind: Host;
	readonly agent: readonly string[];
};

/** `first` has the control plane and a node, `near` an agent in the same network, `behind` one that is behind `router`. */
async function open(t: ExecutionContext): Promise<World> {
	const prefix = `tx${process.pid}`;
	const network = layNetwork(t, prefix, ['first', 'near', 'router']);
	const first = hostIn(t, `${prefix}first`, 'first');
	const near = hostIn(t, `${prefix}near`, 'near');
	const behind = hostIn(t, layBehind(t, prefix, 'router'), 'behind');
	const address = network.addressOf('first');
	const common = ['--detach', '--runtime=process'];
	await first.fine('up', ...common, '--node=first', `--api=${address}:6443`, '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0');
	const token = (await first.fine('token', 'create', '--join')).trim();
	const agent = ['agent', ...common];
	await near.fine(...agent, `--join=https://${address}:6443`, `--token=${token}`, '--node=near');
	await behind.fine(...agent, `--join=https://${address}:6443`, `--token=${token}`, '--node=behind', '--behind-nat');
	return {network, first, near, behind, agent: [...agent, '--behind-nat']};
}

test('pods of a host behind NAT serve all nodes, and reach the others', async t => {
	t.timeout(540_000, 'many steps, of which some wait for what is silent');
	const {network, first, near, behind, agent} = await open(t);
	const {code, err} = await first.troupe(
		['apply', '-f', '-'],
		[
			pod('inside', 'behind'),
			pod('outside', 'near'),
			service('inside', {on: 'behind'}),
			service('outside', {on: 'near'}),
			service('both', {app: 'web'}),
			{
				apiVersion: 'troupe.dev/v1',
				kind: 'Dns',
				metadata: {name: 'site'},
				spec: {host: 'site.test', paths: [{subPath: '/', svcName: 'inside', svcPort: 8180}]},
			},
		]
			.map(object => JSON.stringify(object))
			.join('\n---\n'),
	);
	t.is(code, 0, err);
	await first.fine('wait', 'pod/inside', 'pod/outside', '--for', 'condition=Ready', '--timeout', '60s');
	const inside = await addressOf(first, 'inside');
	const outside = await addressOf(first, 'outside');
	const both = await addressOf(first, 'both');
	const ask = (host: Host, address: string): string => {
		try {
			return host.run('curl', '--silent', '--max-time', '5', `http://${address}:8180/`).trim();
		} catch {
			return 'none';
		}
	};
	const from = (host: Host, address: string, wanted: RegExp): Promise<void> =>
		untilAnswered(`${host.name} reaches it`, () => Promise.resolve(ask(host, address)), wanted);
	/** What stands between agents and data planes, as the kernel has it. */
	const relayed = (host: Host): number =>
		host
			.run('ss', '-Hxn')
			.split('\n')
			.filter(line => line.includes('ESTAB') && line.includes(`${host.home.home}/`) && line.includes('/relay ')).length;

	// It says so.
	const node = await nodeOf(first, 'behind');
	t.is(node.status?.network?.reach, 'relayed');
	t.regex(node.status?.conditions?.find(({type}) => type === 'NetworkRelayed')?.message ?? '', /TCP of Services and routes.*UDP/);
	t.is((await nodeOf(first, 'near')).status?.network?.reach, undefined);
	t.throws(() => near.run('ip', 'route', 'get', '192.168.77.2'), undefined, 'no other host knows a way there');

	// From all sides.
	await from(near, inside, /^inside$/);
	await from(first, inside, /^inside$/);
	await from(behind, inside, /^inside$/);
	await from(behind, outside, /^outside$/);
	// A pod has a network of its own: its node leads from the Service's address to who asks the agents.
	t.is((await first.fine('exec', 'inside', '--', 'curl', '--silent', '--max-time', '5', 'http://outside:8180/')).trim(), 'outside');
	const answers = new Set(Array.from({length: 40}, () => ask(near, both)));
	t.deepEqual([...answers].sort(), ['inside', 'outside']);

	// A route, by the router of another node.
	const routed = (): string =>
		near.run('curl', '--silent', '--max-time', '5', '--header', 'Host: site.test', 'http://127.0.0.1:8080/').trim();
	await untilAnswered('the route leads there', () => Promise.resolve(routed()), /^inside$/);

	// Much, both ways, whole; also where it is not read for a while.
	const much = 10_000_000;
	for (const [host, address, pauseMs] of [
		[near, inside, 0],
		[behind, outside, 0],
		[near, inside, 3_000],
	] as const) {
		const said = host.run(process.execPath, '-e', sending, address, String(much), String(pauseMs)).trim();
		t.regex(said, new RegExp(`^${much} true `));
		t.log(`${host.name}, ${pauseMs} ms of pause: ${said}`);
	}

	// A connection that stands when the agent is killed ends, and new ones come back with it.
	const standing = spawn(near.words[0] ?? '', [
		...near.words.slice(1),
		process.execPath,
		'-e',
		`require('net').connect(8181, '${inside}', () => console.log('open')).on('error', () => undefined).on('close', () => console.log('over')).resume()`,
	]);
	t.teardown(() => void standing.kill('SIGKILL'));
	const lines: string[] = [];
	createInterface({input: standing.stdout}).on('line', line => lines.push(line));
	await eventually('it stands', () => lines.includes('open') && relayed(near) > 0);
	process.kill(behind.home.endpoints().pid, 'SIGKILL');
	await eventually(
		'it is over',
		() => lines.includes('over'),
		() => lines.join(),
		90_000,
	);
	t.deepEqual(new Set(Array.from({length: 10}, () => ask(near, both))), new Set(['outside']));
	t.is(ask(near, inside), 'none');
	await behind.fine(...agent);
	await from(near, inside, /^inside$/);

	// The control plane begins anew, and the link is cut and healed.
	await first.fine('down');
	await first.fine(
		'up',
		'--detach',
		'--runtime=process',
		'--node=first',
		`--api=${network.addressOf('first')}:6443`,
		'--web=127.0.0.1:0',
		'--mqtt=127.0.0.1:0',
	);
	await from(near, inside, /^inside$/);
	await from(behind, outside, /^outside$/);
	network.cut('router');
	await eventually('it is not reached', () => ask(near, inside) === 'none');
	network.heal('router');
	await from(near, inside, /^inside$/);

	// Nothing is left over: what an agent has open is told by the kernel.
	await eventually('all is closed', () => [near, behind, first].every(host => relayed(host) === 0), undefined, 60_000);
});
