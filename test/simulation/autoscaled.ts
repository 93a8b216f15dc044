// Autoscalers of Deployments: what people ask for, and what must hold of each once all is quiet. I20 says it in words.

import type {Deployment} from '../../api/kinds/deployment.js';
import type {Hpa} from '../../api/kinds/horizontalpodautoscaler.js';
import {wishKey, type MetricWish, type Reading} from '../../actors/control/autoscaling/autoscaling-message.js';
import {succeeded} from '../../api/errors.js';
import {objectKey} from '../../api/keys.js';
import type {Metric} from '../../api/metric-texts.js';
import {isReadMetrics} from '../../server/autoscaling/metric-sources.js';
import {nothingPerforms, type Perform} from '../../system/kernel/performs.js';
import type {WorldProcess} from '../../system/world/process.js';
import type {SimulatedCluster} from './cluster.js';
import type {Deed} from './plan.js';

type Autoscale = Extract<Deed, {type: 'autoscale'}>;

/** Each simulated container uses 16Mi: a part of that makes more of them, a multiple fewer. */
const wantedMemory = {more: '8Mi', fewer: '64Mi'} as const;

/** Of each pod there is to be one: of a queue there are many, or nothing. */
const queueTopics = {more: 'queues/long', fewer: 'queues/empty'} as const;

function metricOf({load, by}: Autoscale): Metric {
	switch (by) {
		case 'memory':
			return {type: 'Resource', resource: {name: 'memory', target: {type: 'AverageValue', averageValue: wantedMemory[load]}}};
		case 'queue': {
			const source = {mqtt: {topic: queueTopics[load]}};
			return {type: 'External', external: {metric: {name: 'waiting'}, target: {type: 'AverageValue', averageValue: 1}, source}};
		}
	}
}

const readingOf = ({source}: MetricWish): Reading => ({type: 'total', value: source.mqtt?.topic === queueTopics.more ? 1_000 : 0});

const unknown: Reading = {type: 'unknown', why: 'nothing came'};

export class Autoscaled {
	readonly #cluster: SimulatedCluster;
	readonly #asked = new Map<string, Autoscale>();
	/** Whether anybody ever asked for one: what nodes do not tell is waited for. */
	isAsked = false;
	/** Sources answer. */
	isQuiet = false;

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	create(deed: Autoscale): void {
		const {deployment: name, min, max} = deed;
		this.isAsked = true;
		const policies = [{type: 'Pods', value: 3, periodSeconds: 1}];
		const draft = {
			apiVersion: 'autoscaling/v2',
			kind: 'HorizontalPodAutoscaler',
			metadata: {name, namespace: 'default'},
			spec: {
				scaleTargetRef: {apiVersion: 'apps/v1', kind: 'Deployment', name},
				minReplicas: min,
				maxReplicas: max,
				metrics: [metricOf(deed)],
				behavior: {scaleUp: {policies}, scaleDown: {stabilizationWindowSeconds: 2, policies}},
			},
		};
		this.#cluster.create('horizontalpodautoscalers', draft, outcome => {
			this.#cluster.note(`create autoscaler ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`);
			if (outcome.ok) this.#asked.set(name, deed);
		});
	}

	/** What reads the sources of metrics in a server: until all is quiet it may be late, know nothing, or never answer. */
	performFor({clock, random}: WorldProcess): Perform {
		return (command, done) => {
			if (!isReadMetrics(command)) return nothingPerforms(command, done);
			const luck = this.isQuiet ? 1 : random.next();
			if (luck < 0.1) return;
			const readings = new Map(command.wishes.map(wish => [wishKey(wish), luck < 0.3 ? unknown : readingOf(wish)]));
			clock.after(this.isQuiet ? 5 : 1 + Math.floor(luck * 3_000), () => done(succeeded(readings)));
		};
	}

	/** I20: an autoscaler has what it scales where the load asks for it, within its bounds, and says so; what has no replicas it leaves alone. */
	unsettled(): string[] {
		return [...this.#asked].flatMap(([name, {min, max, load}]) => {
			const hpa = this.#cluster.invariants.truth(objectKey('horizontalpodautoscalers', 'default', name)) as Hpa | undefined;
			if (hpa === undefined) return [`I2: autoscaler ${name} was acknowledged and is gone`];
			const deployment = this.#cluster.invariants.truth(objectKey('deployments', 'default', name)) as Deployment | undefined;
			const replicas = deployment?.spec?.replicas;
			if (replicas === undefined) return [];
			const wanted = replicas === 0 && min > 0 ? 0 : load === 'more' ? max : min;
			const {desiredReplicas, currentReplicas} = hpa.status ?? {};
			if (replicas === wanted && desiredReplicas === wanted && currentReplicas === wanted) return [];
			return [
				`I20: autoscaler ${name} should have ${wanted}: there are to be ${replicas}, its status says ${currentReplicas} of ${desiredReplicas}: ${JSON.stringify(hpa.status?.conditions)}`,
			];
		});
	}
}
