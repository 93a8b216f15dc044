// The edge that reads sources follows the autoscalers there are, and answers what it is asked.

import http from 'node:http';
import type {AddressInfo} from 'node:net';
import test from 'ava';
import {autoscalersAddress} from '../../../actors/addresses.js';
import {wishKey, type MetricWish, type Readings, type ReadMetrics} from '../../../actors/control/autoscaling/autoscaling-message.js';
import {succeeded, type Outcome} from '../../../api/errors.js';
import type {ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import {limits} from '../../../api/limits.js';
import type {Metric, MetricStatus} from '../../../api/metric-texts.js';
import type {MetricSource} from '../../../api/metric-source.js';
import type {Message} from '../../../system/kernel/behavior.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createMetricSources} from '../../../server/autoscaling/metric-sources.js';
import {aClusterConfig} from '../../actors/_objects.js';
import {anHpa} from '../../actors/autoscaling/_autoscalers.js';
import {testCluster} from '../cluster.js';

const key = 'horizontalpodautoscalers/default/web';
const byTopic = (topic: string): MetricWish => ({isOfPods: false, source: {mqtt: {topic}}});
const metricOf = (source: MetricSource): Metric => ({
	type: 'External',
	external: {metric: {name: 'jobs'}, target: {type: 'Value', value: 1}, source},
});
const hpaWith = (generation: number, ...topics: readonly string[]) =>
	anHpa({metadata: {generation}, spec: {metrics: topics.map(topic => metricOf({mqtt: {topic}}))}});

function world() {
	const cluster = testCluster();
	const clock = new ManualClock();
	const listeners = new Map<string, (topic: string, payload: string) => void>();
	const told: Message[] = [];
	cluster.answers.set(autoscalersAddress, message => {
		told.push(message);
		return succeeded(null);
	});
	const sources = createMetricSources({
		control: cluster.control,
		clock,
		subscribe(filter, listener) {
			listeners.set(filter, listener);
			return () => void listeners.delete(filter);
		},
	});
	cluster.control.watches.watch(cluster.control.index.version, sources.hear);
	const asked = (...wishes: readonly MetricWish[]): Promise<Outcome<unknown>> => {
		const command: ReadMetrics = {type: 'readMetrics', hpa: key, wishes};
		return new Promise(resolve => sources.perform(command, resolve));
	};
	return {
		cluster,
		clock,
		sources,
		told,
		asked,
		filters: () => [...listeners.keys()].sort(),
		say: (topic: string, payload: string) => listeners.get(topic)?.(topic, payload),
		read: async (...wishes: readonly MetricWish[]): Promise<Readings> => {
			const outcome = await asked(...wishes);
			if (!outcome.ok) throw new Error(outcome.error.message);
			return outcome.value as Readings;
		},
	};
}

test('topics are those of the autoscalers there are, as these come, change and go', async t => {
	const {cluster, sources, clock, filters, say, told, read} = world();
	cluster.put(hpaWith(1, 'a'));
	t.deepEqual(filters(), ['a'], 'of one that comes');
	sources.begin();
	say('a', '5');
	clock.advance(limits.autoscaleNewsMs);
	t.deepEqual(told, [{type: 'valuesCame', hpas: [key]}]);
	t.deepEqual((await read(byTopic('a'), byTopic('b'))).get(wishKey(byTopic('a'))), {type: 'total', value: 5});
	const currentMetrics: readonly MetricStatus[] = [];
	cluster.put({...hpaWith(1, 'a'), status: {currentReplicas: 1, currentMetrics}});
	t.deepEqual((await read(byTopic('a'))).get(wishKey(byTopic('a'))), {type: 'total', value: 5}, 'its status is no news');
	cluster.put(hpaWith(2, 'b'));
	t.deepEqual(filters(), ['b']);
	cluster.drop(key);
	t.deepEqual(filters(), []);
	t.is((await read(byTopic('b'))).get(wishKey(byTopic('b')))?.type, 'unknown');
	t.deepEqual(filters(), [], 'one that is gone has nothing listened to');
});

test('autoscalers of one topic are told of together, and none of them after the term', t => {
	const {cluster, sources, clock, say, told} = world();
	const hpas = Array.from({length: 100}, (_, at) => `w${at}`);
	for (const name of hpas) cluster.put(anHpa({name, spec: {metrics: [metricOf({mqtt: {topic: 'a'}})]}}));
	say('a', '5');
	say('a', '6');
	clock.advance(limits.autoscaleNewsMs);
	t.deepEqual(told, [{type: 'valuesCame', hpas: hpas.map(name => `horizontalpodautoscalers/default/${name}`)}]);
	cluster.put(hpaWith(1, 'b'));
	say('b', '5');
	sources.close();
	clock.advance(limits.autoscaleNewsMs);
	t.is(told.length, 1);
});

test('it begins with the autoscalers that there are, and ends with the term', async t => {
	const {cluster, filters, sources, asked} = world();
	const before = testCluster();
	before.put(hpaWith(1, 'a'));
	const heard: string[] = [];
	const other = createMetricSources({
		control: before.control,
		clock: new ManualClock(),
		subscribe(filter) {
			heard.push(filter);
			return () => void heard.pop();
		},
	});
	t.deepEqual(heard, []);
	other.begin();
	t.deepEqual(heard, ['a']);
	other.close();
	t.deepEqual(heard, []);
	cluster.put(hpaWith(1, 'a'));
	sources.close();
	t.deepEqual(filters(), []);
	let isAnswered = false;
	void asked(byTopic('a')).then(() => (isAnswered = true));
	await new Promise(resolve => setImmediate(resolve));
	t.false(isAnswered);
});

test('a Prometheus is asked once the cluster lists it, and commands of others are not carried out', async t => {
	const {cluster, read, sources} = world();
	const server = http.createServer(
		(_, response) => void response.end('{"status":"success","data":{"resultType":"scalar","result":[1,"5"]}}'),
	);
	await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
	const wish = (query: string): MetricWish => ({isOfPods: false, source: {prometheus: {url: `http://${host}`, query}}});
	t.regex(JSON.stringify([...(await read(wish('a'))).values()]), /does not let autoscalers ask/);
	const config: ClusterConfig = {...aClusterConfig('least-pods'), spec: {autoscaling: {prometheusHosts: [host]}}};
	cluster.put(config);
	t.deepEqual([...(await read(wish('b'))).values()], [{type: 'total', value: 5}]);
	const refused = await new Promise<Outcome<unknown>>(resolve => sources.perform({type: 'callTask'}, resolve));
	t.false(refused.ok);
});
