// People who expose sets as Services; and what serves traffic on each node, as far as it is told of their endpoints.

import {serviceNameLabel} from '../../api/endpoint-labels.js';
import {isConditionTrue} from '../../api/conditions.js';
import {objectKey} from '../../api/keys.js';
import {failed, succeeded} from '../../api/errors.js';
import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {NetworkObject} from '../../actors/protocol/network-object.js';
import type {Network, NetworkCommand} from '../../actors/node/runtime/network-port.js';
import type {SimulatedCluster, SimulatedNode} from './cluster.js';
import type {Deed} from './plan.js';

/** What serves traffic on a node knows this; it outlives the agent, and is told all by the next one. */
export type ToldOfNetwork = Map<string, NetworkObject>;

/** What becomes of a command: undefined is an answer that never comes. */
export type NetworkTreatment = () => {readonly afterMs: number; readonly fails: boolean} | undefined;

/** What serves traffic, which answers when it has taken a change. Rules of the kernel are of the rig's hosts. */
export function networkOf(told: ToldOfNetwork, treat: NetworkTreatment, after: (ms: number, act: () => void) => void): Network {
	const take = (command: NetworkCommand): void => {
		if (command.type !== 'network.replace' && command.type !== 'network.change') return;
		if (command.type === 'network.replace') told.clear();
		for (const {key, object} of command.changes)
			if (object === undefined) told.delete(key);
			else told.set(key, object);
	};
	return {
		info: () => ({pods: 'shared', services: 'proxy'}),
		run(command, done) {
			const treatment = treat();
			if (treatment === undefined) return;
			after(treatment.afterMs, () => {
				if (treatment.fails) return done(failed('ERR_RUNTIME', {message: 'the world wants it'}));
				take(command);
				done(succeeded(null));
			});
		},
		checkWay: (_request, done) => done(failed('ERR_RUNTIME', {message: 'nobody asks here'})),
		onStatus: () => undefined,
		close: () => Promise.resolve(),
	};
}

export class ServiceClients {
	/** Whether it is there, as was acknowledged; `asked` where nobody knows. */
	readonly #services = new Map<string, 'there' | 'gone' | 'asked'>();
	readonly #cluster: SimulatedCluster;

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	expose({set: name}: Extract<Deed, {type: 'expose'}>): void {
		this.#services.set(name, 'asked');
		const spec = {selector: {set: name}, ports: [{port: 80, targetPort: 8080}]};
		this.#cluster.create('services', {apiVersion: 'v1', kind: 'Service', metadata: {name, namespace: 'default'}, spec}, outcome => {
			this.#cluster.note(`create service ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.message}`);
			if (outcome.ok && this.#services.get(name) === 'asked') this.#services.set(name, 'there');
		});
	}

	delete(share: number): void {
		const there = [...this.#services].filter(([, state]) => state === 'there');
		const [name] = there[Math.floor(share * there.length)] ?? [];
		if (name === undefined) return;
		this.#services.set(name, 'asked');
		this.#cluster.askRecord(objectKey('services', 'default', name), {type: 'delete'}, outcome => {
			this.#cluster.note(`delete service ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.message}`);
			if (outcome.ok) this.#services.set(name, 'gone');
		});
	}

	/** I2 and I5: the endpoints of each Service are its ready pods, in the control plane and on all nodes, and nothing is left of others. */
	unsettled(): string[] {
		const {nodes} = this.#cluster;
		const there = new Set(this.#cluster.objects('services').map(({metadata}) => metadata.name));
		const found = [...this.#services].flatMap(([name, state]) => {
			if (state !== 'asked' && there.has(name) !== (state === 'there'))
				return [`I2: service ${name}: ${state} was acknowledged, and it is ${there.has(name) ? 'there' : 'gone'}`];
			const wanted = there.has(name) ? this.#ready(name) : [];
			const slices = (this.#cluster.objects('endpointslices') as EndpointSlice[]).filter(
				({metadata}) => metadata.labels?.[serviceNameLabel] === name,
			);
			return [
				...different(`service ${name}`, wanted, readyIn(slices)),
				...nodes.flatMap(node => different(`service ${name} on ${node.name}`, wanted, readyIn(toldOf(node, name)))),
			];
		});
		const strange = nodes.flatMap(({name: node, told}) =>
			[...told.values()].flatMap(object =>
				object.type === 'service' && !there.has(object.name) ? [`I5: ${node} still serves the service ${object.name}`] : [],
			),
		);
		return [...found, ...strange];
	}

	#ready(set: string): readonly string[] {
		return this.#cluster
			.pods()
			.filter(({metadata}) => metadata.labels?.['set'] === set && metadata.deletionTimestamp === undefined)
			.filter(({status}) => isConditionTrue(status?.conditions, 'Ready'))
			.map(({status}) => status?.podIP ?? 'none');
	}
}

const toldOf = ({told}: SimulatedNode, service: string) =>
	[...told.values()].flatMap(object => (object.type === 'endpoints' && object.service === service ? [object] : []));

const readyIn = (slices: readonly Pick<EndpointSlice, 'endpoints'>[]): readonly string[] =>
	slices.flatMap(({endpoints}) => endpoints.filter(({conditions}) => conditions?.ready !== false).flatMap(({addresses}) => addresses));

function different(what: string, wanted: readonly string[], found: readonly string[]): string[] {
	const [ready, told] = [wanted, found].map(addresses => addresses.toSorted().join(', '));
	return ready === told ? [] : [`I5: ${what}: ready pods are at [${ready}], its endpoints at [${told}]`];
}
