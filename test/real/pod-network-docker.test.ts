// Containers of Docker in the network of pods, beside pods that are processes: one subnet, one way to Services, and addresses that outlive a sandbox.

import {readdirSync} from 'node:fs';
import test from 'ava';
import {dockerCluster, dockerPod, shell, waits} from './_docker-cluster.js';
import {sharedDockerd} from './_dockerd.js';
import {asking, clusterIPOf, nft, podOf, untilAnswered} from '../../bench/rigs/fleet/routed-hosts.js';

const dockerd = sharedDockerd(test);

const {home, fine, apply, up, says, leavesNothing} = dockerCluster(test, dockerd);

const ready = (pod: string): Promise<string> => fine('wait', `pod/${pod}`, '--for', 'condition=Ready', '--timeout', '30s');
const podIP = async (pod: string): Promise<string> => (await podOf({fine}, pod)).status?.podIP ?? '';

/** What is answered to a process. */
const fromP = async (url: string): Promise<string> => (await fine('exec', 'p', '--', process.execPath, '-e', asking, url)).trim();

const serves = (name: string, rest: object = {}): object =>
	shell('web', `mkdir -p /tmp/w; echo ${name} >/tmp/w/index.html; httpd -p 8000 -h /tmp/w; ${waits(name)}`, {
		ports: [{containerPort: 8000, ...rest}],
	});

const service = (name: string): object => ({
	apiVersion: 'v1',
	kind: 'Service',
	metadata: {name},
	spec: {selector: {app: name}, ports: [{port: 80, targetPort: 8000}]},
});

test.serial('containers and processes have addresses of one subnet, reach each other and Services', async t => {
	t.timeout(120_000);
	await up('--network=routed', '--allow-privileged');
	await apply(
		service('d'),
		dockerPod('d', {containers: [serves('d', {hostPort: 18_081})]}, {labels: {app: 'd'}}),
		dockerPod('p', {runtimeClassName: 'process', containers: [{name: 'c', image: 'none', command: ['sleep', 'infinity']}]}),
	);
	await ready('d');
	await ready('p');
	const [ofD, ofP] = [await podIP('d'), await podIP('p')];
	t.regex(ofD, /^10\.244\./);
	// The Engine's own bridge has 10.244.1.0/24 here.
	t.notRegex(ofD, /^10\.244\.1\./);
	t.is(ofD.replace(/\.\d+$/, ''), ofP.replace(/\.\d+$/, ''));
	t.is(await fromP(`http://${ofD}:8000/`), 'd');
	const clusterIP = await clusterIPOf({fine}, 'd');
	await untilAnswered('the Service answers', () => fromP(`http://${clusterIP}/`), /^d$/);
	const request = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 4 ${clusterIP} 80`;
	t.regex(await fine('exec', 'd', '--', 'sh', '-c', request), /200 OK[^]*d\n$/, 'led back to itself');
	t.is(await fromP('http://d/'), 'd', 'by its name');
	t.regex(await fine('exec', 'd', '--', 'cat', '/etc/resolv.conf'), /nameserver 169\.254\.1\.1[^]*ndots:5/);
	t.regex(await fine('exec', 'd', '--', 'nslookup', 'd.default.svc.cluster.local'), new RegExp(clusterIP.replaceAll('.', '\\.')));
	// Refused where there is a way to other networks; here is none.
	t.regex(await fromP(`http://${clusterIP}:81/`), /^none: E(CONNREFUSED|NETUNREACH)$/);
	t.is(await dockerd().inNamespace(process.execPath, '-e', asking, 'http://127.0.0.1:18081/'), 'd\n\n');
	t.is(await fine('exec', 'd', '--', 'hostname', '-i'), `${ofD}\n`);
	t.regex(await fine('exec', 'd', '--', 'env'), new RegExp(`D_SERVICE_HOST=${clusterIP.replaceAll('.', '\\.')}\n`));
});

test.serial('a sandbox that dies is made anew with the address that its pod has', async t => {
	t.timeout(120_000);
	const before = await podIP('d');
	const [infra = ''] = (await dockerd().docker('ps', '-q', '--filter', 'label=troupe.dev/container=_infra', '--filter', 'name=_d_')).split(
		'\n',
	);
	t.not(infra, '', await dockerd().docker('ps', '--format', '{{.Names}} {{.Labels}}'));
	await dockerd().docker('kill', infra);
	await says(/"restartCount": 1/, 'get', 'pod', 'd', '-o', 'json');
	await ready('d');
	t.is(await podIP('d'), before);
	t.is(await fromP(`http://${before}:8000/`), 'd');
});

test.serial('whom a container asks for names is what its pod says, also in the network of the host', async t => {
	t.timeout(120_000);
	const sleeps = {containers: [shell('c', 'sleep 1000000')]};
	await apply(
		dockerPod('h', {hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet', ...sleeps}),
		dockerPod('o', {hostNetwork: true, ...sleeps}),
		dockerPod('n', {dnsPolicy: 'None', dnsConfig: {nameservers: ['169.254.1.1'], searches: ['svc.cluster.local']}, ...sleeps}),
	);
	for (const pod of ['h', 'o', 'n']) await ready(pod);
	const {status} = await podOf({fine}, 'h');
	t.is(status?.podIP, status?.hostIP);
	const resolvConf = (pod: string): Promise<string> => fine('exec', pod, '--', 'cat', '/etc/resolv.conf');
	t.regex(await resolvConf('h'), /^nameserver 127\.(?:3[2-9]|[45]\d|6[0-3])\.\d+\.\d+$/m);
	t.regex(await resolvConf('h'), /^search default\.svc\.cluster\.local [^]*ndots:5/m);
	t.notRegex(await resolvConf('o'), /127\.(?:3[2-9]|[45]\d|6[0-3])\.|cluster\.local/);
	t.regex(await resolvConf('n'), /^nameserver 169\.254\.1\.1$/m);
	t.regex(await resolvConf('n'), /^search svc\.cluster\.local$/m);
	t.regex(await fine('exec', 'n', '--', 'nslookup', 'd.default.svc.cluster.local'), /10\.\d+\.\d+\.\d+/);
	// Programs of the host find Services at addresses of loopback.
	t.regex(await fine('exec', 'h', '--', 'nslookup', 'd.default.svc.cluster.local'), /Address[^]*Address.*127\.\d+\./);
	await fine('delete', 'pod', 'h', 'o', 'n', '--grace-period', '1');
});

test.serial('the agent dies, and nothing is another; at the end nothing is left', async t => {
	t.timeout(120_000);
	const addresses = [await podIP('d'), await podIP('p')];
	process.kill(home.endpoints().pid, 'SIGKILL');
	await up('--network=routed', '--allow-privileged');
	await ready('d');
	t.deepEqual([await podIP('d'), await podIP('p')], addresses);
	t.is(await fromP(`http://${addresses[0] ?? ''}:8000/`), 'd');
	const uids = (await Promise.all(['d', 'p'].map(pod => podOf({fine}, pod)))).map(({metadata}) => metadata.uid);
	await leavesNothing(t);
	t.notRegex(await dockerd().inNamespace('ip', '-brief', 'link'), /^troupe/m);
	t.notRegex(await dockerd().inNamespace(nft, 'list', 'tables'), /troupe-pods/);
	t.notRegex(await dockerd().inNamespace('iptables', '-S'), /TROUPE/);
	t.deepEqual(
		readdirSync('/run/netns').filter(name => uids.some(uid => name.endsWith(`-${uid}`))),
		[],
	);
});
